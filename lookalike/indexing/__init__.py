"""What is derived from a gallery and may be made again."""
