"""Aside: a thread that does what was left to do when Python let an object go.

That may happen in any thread, Ray's own among them: one of these that asked Ray for something would wait for
itself to do it, and with it whoever waits for an answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue


class Aside:
    """Does one thing after the other, until it is closed; then it may be opened again."""

    def __init__(self) -> None:
        # Of all queues the one that may be put into in the midst of itself.
        self._left: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Have the thread there; `leave` cannot start it, since it may be called in the midst of that too."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="lookalike-aside", daemon=True)
            self._thread.start()

    def leave(self, work: Callable[[], None]) -> None:
        """Leave something to be done, unless it is closed; what it raises is of interest to nobody."""
        if self._thread is not None:
            self._left.put(work)

    def close(self) -> None:
        """Do what was left, and end the thread."""
        if self._thread is not None:
            self._left.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while (work := self._left.get()) is not None:
            with suppress(Exception):
                work()
            del work  # what it holds is let go now, not when the next comes
