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

    @contextmanager
    def taking(self, key: str, size: int, folder: Path) -> Iterator[None]:
        """Make room for an upload; if the block fails, it is given back.

        Raises
        ------
        Conflict
            If too much waits already.
        StorageFailed
            If the disk of the folder is too full.
        """
        with self._lock:
            total = sum(self._taken.values())
            if len(self._taken) >= self.waiting or (self._taken and total + size > self.size):
                raise Conflict(
                    f"{len(self._taken)} uploads of {in_words(total)} wait to be looked through: wait until "
                    f"they are done, or stop one of them"
                )
            check("looking through this upload", Need(0, size), folder)
            self._taken[key] = size
        try:
            yield
        except BaseException:
            self.give_back(key)
            raise

    def give_back(self, key: str) -> None:
        """Forget an upload whose files are deleted."""
        with self._lock:
            self._taken.pop(key, None)
