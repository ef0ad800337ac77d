"""From files to sets."""
