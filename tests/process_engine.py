"""An engine whose work is done in other processes, as that of a cluster is, and notes what it was given."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lookalike.engines.contract import Engine, Label, Residents, Work
from lookalike.engines.local import Local


class Processes(Engine):
    """Maps in processes that are started for it; holds slices in this one.

    Parameters
    ----------
    count : int
        How many; twice as many items are under way.
    modules : Path, optional
        A folder where they and their children look for modules first.
    """

    def __init__(self, count: int = 2, modules: Path | None = None) -> None:
        self.count = count
        self.given: list[Any] = []
        self.most_waiting = 0
        self._pool = ProcessPoolExecutor(count, get_context("spawn"), _begin, (modules,))

    @property
    def workers(self) -> int:
        return self.count

    def hold(
        self, opening: Work, given: Sequence[tuple[Any, ...]], labels: Sequence[Label] = ()
    ) -> Residents:
        return Local().hold(opening, given, labels)

    def map(self, work: Work, items: Iterable[Any], tries: int | None = None) -> Iterator[Any]:
        waiting: deque[Future[Any]] = deque()
        for item in items:
            self.given.append(item)
            waiting.append(self._pool.submit(work, item))
            self.most_waiting = max(self.most_waiting, len(waiting))
            if len(waiting) >= 2 * self.count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def _begin(modules: Path | None) -> None:
    if modules is not None:
        sys.path.insert(0, str(modules))
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(modules), before)))
