"""Worlds of a chosen size for the benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice

from lookalike import FaceSet
from lookalike.worlds.vectors import vector_world


def vector_sets(count: int) -> list[FaceSet]:
    """The first sets of a world of YouTube Faces shape: 10 faces of 1,770 numbers each."""
    return [faceset for faceset, _ in islice(vector_world(), count)]


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """Best time of a few runs: on a noisy machine the least disturbed one."""

    def once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))
