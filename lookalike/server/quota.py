"""Quota: how much may wait to be looked through, so that uploads cannot fill the disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lookalike.errors import Conflict
from lookalike.room import Need, check, in_words

# Uploads that lie on the disk at a time, waiting to be looked through, and how large they are together.
MOST_WAITING: Final = 8
MOST_BYTES: Final = 4 * 2**30


class Quota:
    """Counts what lies on the disk.

    Parameters
    ----------
    waiting, size : int
        How many uploads, of how many bytes together.
    """

    def __init__(self, waiting: int = MOST_WAITING, size: int = MOST_BYTES) -> None:
        self.waiting, self.size = waiting, size
        self._lock = threading.Lock()
        self._taken: dict[str, int] = {}
        self._unread: set[str] = set()

    @contextmanager
    def reading(self, key: str, size: int, folder: Path) -> Iterator[None]:
        """Make room for an upload before it is read; it is given back after the block, unless it was taken.

        Parameters
        ----------
        key : str
            What the upload will be called.
        size : int
            How many bytes it says it has; 0 if it does not say.
        folder : Path
            Where it will lie.

        Raises
        ------
        Conflict
            If too much waits already.
        StorageFailed
            If the disk of the folder is too full.
        """
        self._hold(key, size, folder)
        try:
            yield
        finally:
            with self._lock:
                if key in self._unread:
                    self._give_back(key)

    def grow(self, key: str, size: int, folder: Path) -> None:
        """Make room for an upload of which so many bytes have come by now; raises as `reading`."""
        if size > self._taken[key]:
            self._hold(key, size, folder)

    @contextmanager
    def taking(self, key: str, size: int, folder: Path) -> Iterator[None]:
        """Make room for an upload that was read, or raise as `reading`; given back if the block fails."""
        self._hold(key, size, folder)
        with self._lock:
            self._unread.discard(key)
        try:
            yield
        except BaseException:
            self.give_back(key)
            raise

    def give_back(self, key: str) -> None:
        """Forget an upload whose files are deleted."""
        with self._lock:
            self._give_back(key)

    def _hold(self, key: str, size: int, folder: Path) -> None:
        with self._lock:
            others = [held for other, held in self._taken.items() if other != key]
            if len(others) >= self.waiting or (others and sum(others) + size > self.size):
                size_of = in_words(sum(others))
                waiting = f"{len(others)} uploads of {size_of} wait to be looked through: wait until they are"
                if len(others) == 1:
                    waiting = f"an upload of {size_of} waits to be looked through: wait until it is"
                raise Conflict(f"{waiting} done, or stop {'it' if len(others) == 1 else 'one of them'}")
            check("looking through this upload", Need(0, size), folder)
            if key not in self._taken:
                self._unread.add(key)
            self._taken[key] = size

    def _give_back(self, key: str) -> None:
        self._taken.pop(key, None)
        self._unread.discard(key)
