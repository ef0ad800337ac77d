"""Choices of second stage, one file each."""
