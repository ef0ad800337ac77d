"""Ordering: names in the order that people expect."""

from __future__ import annotations

import re


def natural_order(name: str) -> tuple[list[str | int], str]:
    """Return a sort key that compares the numbers in a name as numbers: ``#2`` comes before ``#10``."""
    pieces: list[str | int] = [*re.split(r"(\d+)", name)]
    pieces[1::2] = [int(piece) for piece in pieces[1::2]]
    # The name itself decides between 1 and 01.
    return pieces, name
