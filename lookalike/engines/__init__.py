"""Choices of where the heavy loops run, one file each."""
