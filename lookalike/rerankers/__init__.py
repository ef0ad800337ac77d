"""Choices of re-ranker, one file each."""
