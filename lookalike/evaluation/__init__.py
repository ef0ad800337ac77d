"""The only place where people have names to score against."""
