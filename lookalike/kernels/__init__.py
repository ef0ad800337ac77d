"""Arithmetic: arrays in, arrays out, no domain classes, no files."""
