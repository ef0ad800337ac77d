"""Choices of face description: an aligned crop becomes a vector, one file each."""
