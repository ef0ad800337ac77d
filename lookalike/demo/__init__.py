"""Drawn people who never existed, for the demo and the tests."""
