"""Choices of set-to-set baseline, one file each."""
