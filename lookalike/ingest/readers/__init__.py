"""Sources of ready-made faces, one reader for each kind of file."""
