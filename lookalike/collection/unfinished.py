"""Unfinished: how far long work has come, kept so that it goes on after an interruption."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from numpy.typing import NDArray

from lookalike.collection.tables import TableStore

Arrays = Mapping[str, NDArray[Any]]

# How much work a power cut may cost; any other end of the process costs one step.
SECONDS_BETWEEN_KEEPING: Final = 60.0


class Unfinished:
    """One piece of long work in the store of a gallery.

    Parameters
    ----------
    store : TableStore
    kind : str
        What the work is, for instance ``unfinished max_max:samples=10``.
    origin : str
        Fingerprint of everything that shapes its result: earlier work on anything else is not taken up.
    seconds : float
        How often the state is kept while the work goes on.
    """

    def __init__(
        self, store: TableStore, kind: str, origin: str, seconds: float = SECONDS_BETWEEN_KEEPING
    ) -> None:
        self.store = store
        self.kind = kind
        self.origin = origin
        self.seconds = seconds
        self._done = 0
        self._kept_at = time.monotonic()

    def take_up(self) -> tuple[int, Arrays] | None:
        """How many steps are done already, and the state after them; None if there are none."""
        earlier = self.store.latest(self.kind)
        if earlier is None or earlier.facts.get("for") != self.origin:
            return None
        self._done = int(earlier.facts["done"])
        return self._done, earlier.arrays

    def step(self, done: int, state: Callable[[], Arrays]) -> None:
        """Tell that a step is done; the state is asked for only when it is time to keep it."""
        if time.monotonic() - self._kept_at > self.seconds:
            self.keep(done, state)

    def keep(self, done: int, state: Callable[[], Arrays]) -> None:
        """Keep the state now, if there is anything new."""
        if done > self._done:
            name = f"{self.origin}-{done}"
            self.store.save(self.kind, name, state(), {"for": self.origin, "done": done})
            self.store.keep_only(self.kind, name)
            self._done = done
        self._kept_at = time.monotonic()

    @contextmanager
    def kept_at_the_end(self, done: Callable[[], int], state: Callable[[], Arrays]) -> Iterator[None]:
        """Keep the state if the block is left by an error, an interruption among them."""
        try:
            yield
        except BaseException:
            self.keep(done(), state)
            raise

    def drop(self) -> None:
        """The work is finished: nothing is left to go on from."""
        self.store.drop(self.kind)
