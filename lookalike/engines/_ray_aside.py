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
    """Does one thing after the other, in a thread that ends with the process."""

    def __init__(self) -> None:
        # Of all queues the one that may be put into in the midst of itself.
        self._left: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Have the thread there; `leave` cannot start it, since it may be called in the midst of that too."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="lookalike-aside", daemon=True)
            self._thread.start()

    def leave(self, work: Callable[[], None]) -> None:
        """Leave something to be done; whatever it raises is of interest to nobody any more."""
        self._left.put(work)

    def wait(self) -> None:
        """Wait until all is done that was left so far."""
        if self._thread is not None:
            is_done = threading.Event()
            self._left.put(is_done.set)
            is_done.wait()

    def _work(self) -> None:
        while True:
            work = self._left.get()
            with suppress(Exception):
                work()
            del work  # what it holds is let go now, not when the next comes
