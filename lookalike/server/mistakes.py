"""Mistakes of ours: where one happened, without what it was about."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[1]
# Enough to find the place: the callers of a request are the same each time.
MOST_PLACES: Final = 8


def where(mistake: BaseException) -> str:
    """The kind of a mistake and the lines that led to it, innermost first.

    What it says of itself is left out: it may quote a name, an id or a path, which no log shall hold.
    """
    frames = traceback.extract_tb(mistake.__traceback__)[-MOST_PLACES:]
    places = [f"{_shown(one.filename)}:{one.lineno} {one.name}" for one in reversed(frames)]
    return f"{type(mistake).__name__} in {' < '.join(places)}"


def _shown(file: str) -> str:
    """A file of ours by its place in the package, any other by its name."""
    path = Path(file)
    return path.relative_to(PACKAGE.parent).as_posix() if path.is_relative_to(PACKAGE) else path.name
