"""The gallery: what is true, in one SQLite file."""
