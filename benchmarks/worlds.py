"""Worlds of a chosen size for the benchmarks, and a stopwatch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import FaceSet
from lookalike.demo.vectors import vector_world
from lookalike.kernels.threads import blocks, in_order
from lookalike.similarities.contract import PreparedSets, SetSimilarity

# Sets of the YouTube Faces Database: 10 faces of 1,770 numbers each stand for a video.
YOUTUBE_FACES = 3425


def vector_sets(count: int) -> list[FaceSet]:
    """The first sets of a world of YouTube Faces shape; larger counts go on with further people."""
    return list(_sets(count))


def _sets(count: int) -> Iterator[FaceSet]:
    for world in range(1 + (count - 1) // YOUTUBE_FACES):
        for faceset, _ in islice(vector_world(seed=world), count - world * YOUTUBE_FACES):
            yield FaceSet(f"{world}-{faceset.id}", faceset.faces)


def prepared(similarity: SetSimilarity, count: int) -> PreparedSets:
    """Sets of that world, prepared for a similarity."""
    return PreparedSets.join([similarity.prepare(one.faces) for one in _sets(count)])


def multiply_upper_half(rows: NDArray[np.floating[Any]]) -> None:
    """The bare multiplications of an index: every block of rows with itself and all later ones."""
    runs = blocks(len(rows), 2048)
    work = [(a, b) for i, a in enumerate(runs) for b in runs[i:]]
    for _ in in_order(lambda pair: rows[pair[0]] @ rows[pair[1]].T, work):
        pass


def seconds(
    work: Callable[[], object], repeats: int = 1, clock: Callable[[], float] = time.process_time
) -> float:
    """Best time of a few runs: on a noisy machine the least disturbed one.

    By default of the processor, of all threads of this process, which others disturb least.
    """

    def once() -> float:
        start = clock()
        work()
        return clock() - start

    return min(once() for _ in range(repeats))
