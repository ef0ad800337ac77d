"""Exchange: files that other programs read and write."""
