"""Readers of ready-made data, one file for each kind."""
