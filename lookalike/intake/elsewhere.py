"""Elsewhere: films and photos that the workers of an engine look at and describe, each of them whole.

Who asks decides which files are wanted, and gets what they show in the order of the files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from lookalike.descriptors.contract import Descriptor
from lookalike.engines.contract import Engine, Lost
from lookalike.errors import BadInput, LookalikeError
from lookalike.intake.asked import Asked, library_versions, look_at
from lookalike.intake.files import MediaPath
from lookalike.intake.gathering import Gathered
from lookalike.intake.paths import readable
from lookalike.intake.seen import Settings

# A file during which so many workers were lost, one after the other, is given up: it may be what ends them.
TRIES: Final = 4


def gather_elsewhere(
    engine: Engine,
    settings: Settings,
    files: Sequence[MediaPath],
    part: Descriptor,
    is_wanted: Callable[[int], bool],
    content_of: Callable[[int], str],
) -> Iterator[tuple[int, Gathered]]:
    """Have files looked at and their faces described by the workers of an engine.

    Parameters
    ----------
    engine : Engine
    settings : Settings
        How to look.
    files : sequence of MediaPath
    part : Descriptor
        What describes the faces.
    is_wanted : callable
        Asked with the number of a file before it is sent to a worker.
    content_of : callable
        Gives the SHA-256 of a file by its number.

    Yields
    ------
    tuple of int and Gathered
        Number of the file, from 0 and rising, and all that it shows. A file is not sent while another of the
        same content is with a worker, but when that has been yielded and is still wanted.

    Raises
    ------
    LookalikeError
        If a worker cannot look at any file, for instance because a library is missing there.
    """
    under_way: dict[int, str] = {}
    copies: set[int] = set()
    refused: dict[int, LookalikeError] = {}
    how = settings, part.identity, part.model_file, library_versions()

    def ask(number: int) -> Asked | None:
        """What a worker is asked; nothing if it need not look at this file, or not now."""
        try:
            if not is_wanted(number):
                return None
        except LookalikeError as reason:
            refused[number] = reason
            return None
        content = content_of(number)
        if content in under_way.values():
            copies.add(number)
            return None
        under_way[number] = content
        file = replace(files[number], path=Path(os.path.abspath(files[number].path)))
        return Asked(file, content, *how)

    for number, told in enumerate(engine.map(look_at, map(ask, range(len(files))), TRIES)):
        found = next(engine.map(look_at, [ask(number)], TRIES)) if number in copies else told
        yield number, _here(files[number], found, refused.pop(number, None))
        under_way.pop(number, None)
        copies.discard(number)


def _here(file: MediaPath, told: Gathered | Lost, refused: LookalikeError | None) -> Gathered:
    """What is known of a file, which is named as it was given here."""
    shown = repr(readable(file.path))
    if refused is not None:
        return Gathered(reason=refused)
    if isinstance(told, Lost):
        how = f"{told.tries} workers were lost, one after the other, while they looked at it"
        return Gathered(reason=BadInput(f"{shown} was given up: {how}; copy it again or leave it out"))
    if told.reason is not None:
        there = repr(readable(os.path.abspath(file.path)))
        return Gathered(reason=type(told.reason)(str(told.reason).replace(there, shown, 1)))
    return told
