"""Local: everything in this process."""

from __future__ import annotations

import os
import socket
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from lookalike import resources
from lookalike.engines.contract import (
    Answers,
    Engine,
    Label,
    Resident,
    Residents,
    State,
    Work,
    checked_slices,
)
from lookalike.kernels.threads import thread_count


class Local(Engine):
    """Slices are opened here when they are first asked; the work itself uses all processors.

    Parameters
    ----------
    slices : int
        Into how many slices a gallery is cut; 0 leaves it in one piece, which is quicker.
    """

    stored_name = "local"
    is_here = True

    def __init__(self, slices: int = 0) -> None:
        self.slices = checked_slices(slices)
        self._held: weakref.WeakSet[_Here] = weakref.WeakSet()

    @property
    def workers(self) -> int:
        """As many as processors: the work itself uses them."""
        return thread_count()

    @property
    def slice_count(self) -> int:
        """As many as were asked for."""
        return self.slices

    def hold(
        self, opening: Work, given: Sequence[tuple[Any, ...]], labels: Sequence[Label] = ()
    ) -> Residents:
        """Remember how each is opened."""
        held = _Here(opening, given, labels)
        self._held.add(held)
        return held

    def map(self, work: Work, items: Iterable[Any], tries: int | None = None) -> Iterator[Any]:
        """One after the other."""
        return map(work, items)

    def state(self, whole: str) -> State:
        """What this engine has open in this process; others cannot be seen."""
        own = (label for held in self._held for label in held.labels_open() if label.whole == whole)
        here, me = socket.gethostname(), os.getpid()
        memory = resources.own_memory()
        return State(
            residents=tuple(Resident(label.part, label, here, me, here, me, memory) for label in own),
        )


class _Here(Residents):
    def __init__(self, opening: Work, given: Sequence[tuple[Any, ...]], labels: Sequence[Label]) -> None:
        super().__init__()
        self._open = [cache(partial(_opened, opening, given, number)) for number in range(len(given))]
        self._labels = labels

    def __len__(self) -> int:
        return len(self._open)

    def put(self, work: Work, given: Mapping[int, tuple[Any, ...]]) -> Answers:
        return lambda: {number: work(self._open[number](), *some) for number, some in given.items()}

    def share(self, value: Any) -> Any:
        return value

    def labels_open(self) -> list[Label]:
        """Of the slices that were asked something."""
        both = zip(self._labels, self._open, strict=False)
        return [label for label, one in both if one.cache_info().currsize]

    def close(self) -> None:
        for opened in self._open:
            opened.cache_clear()


def _opened(opening: Work, given: Sequence[tuple[Any, ...]], number: int) -> Any:
    return opening(*given[number])
