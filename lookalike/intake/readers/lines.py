"""Lines: the lines of a list, none of which may fill the memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, TextIO

from lookalike.errors import BadInput
from lookalike.intake.paths import readable

# No list of faces has a line as long as this, names and all.
MOST_CHARACTERS: Final = 100_000


def short_lines(path: Path, file: TextIO) -> Iterator[str]:
    """The lines of a file, each with its end.

    Raises
    ------
    BadInput
        If a line is too long to be one of a list.
    """
    number = 0
    while line := file.readline(MOST_CHARACTERS + 1):
        number += 1
        if len(line) > MOST_CHARACTERS:
            raise BadInput(
                f"{readable(path)!r} has more than {MOST_CHARACTERS:,} characters in line {number}: "
                f"write one line for each face"
            )
        yield line
