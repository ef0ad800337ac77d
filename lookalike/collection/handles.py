"""Handles: which gallery files this process has open, so that nothing else in it opens and closes them.

On POSIX systems closing any handle of a file drops every lock that the process holds on it, those of SQLite
too. Another process would then take itself for the last one, fold the journal into the file and delete it,
and what we write afterwards would be lost (https://www.sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

Identity = tuple[int, int]

_GUARD = threading.Lock()
_HELD: Counter[Identity] = Counter()


def hold(path: Path) -> Identity:
    """Count a file as open, before SQLite opens it; return what `release` is to be told."""
    with _GUARD:
        identity = identity_of(path)
        _HELD[identity] += 1
        return identity


def release(identity: Identity) -> None:
    """Count a file as closed once, after SQLite has closed it."""
    with _GUARD:
        _HELD[identity] -= 1
        if not _HELD[identity]:
            del _HELD[identity]


def header_of(path: Path, length: int) -> bytes | None:
    """The first bytes of a file; None of one that this process has open, which was looked at before.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    with _GUARD:
        if identity_of(path) in _HELD:
            return None
        with path.open("rb") as file:
            return file.read(length)


def identity_of(path: Path) -> Identity:
    """What tells a file from any other, whatever it is called."""
    found = path.stat()
    return found.st_dev, found.st_ino
