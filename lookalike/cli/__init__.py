"""The command line."""

from lookalike.cli.app import main

__all__ = ["main"]
