"""Index: time to compare all pairs of sets, against the bare multiplications it needs."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.embeddings import draw_faces, draw_people
from benchmarks.entries import entry
from benchmarks.worlds import YOUTUBE_FACES, multiply_upper_half, prepared, seconds
from lookalike import registry
from lookalike.indexing.build import NEIGHBOURS_KEPT
from lookalike.method.proxies import find_neighbours
from lookalike.similarities.contract import PreparedSets
from lookalike.similarities.max_max import MaxMax

# Part, the array whose rows are multiplied (single precision for faces, double for directions), and the aim.
CASES = (("max_max", "faces", 1.15), ("max_correlation", "directions", 3.0), ("dffs", "directions", 3.0))


def run(toy: bool) -> list[dict[str, Any]]:
    count = 40 if toy else YOUTUBE_FACES
    found = []
    for name, array, target in CASES:
        similarity = registry.build("similarities", name)
        sets = prepared(similarity, count)
        find_neighbours(similarity, sets[:12], NEIGHBOURS_KEPT)  # compiles
        rows = sets.arrays[array]
        bare = seconds(lambda rows=rows: multiply_upper_half(rows), 2)  # type: ignore[misc]
        whole = seconds(lambda s=similarity, p=sets: find_neighbours(s, p, NEIGHBOURS_KEPT), 2)  # type: ignore[misc]
        flops = float(len(rows)) ** 2 * rows.shape[1]
        found.append(
            entry(
                f"{name} index to bare multiplications",
                whole / bare,
                target,
                sets=count,
                seconds=whole,
                bare_seconds=bare,
                gigaflops=flops / bare / 1e9,
            )
        )
    return [*found, _all_pairs(200 if toy else 20_000)]


def _all_pairs(count: int) -> dict[str, Any]:
    """An index of short descriptors that leaves out no pair; by processor time, of all threads."""
    similarity = MaxMax(exact=True)
    drawn = draw_faces(draw_people(count), 5, 128)
    sets = PreparedSets.join(similarity.prepare(faces) for faces in drawn)
    find_neighbours(similarity, sets[:2_500], NEIGHBOURS_KEPT)  # compiles
    times = []
    for work in (
        lambda: multiply_upper_half(sets.arrays["faces"]),
        lambda: find_neighbours(similarity, sets, NEIGHBOURS_KEPT),
    ):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    bare, whole = times
    return entry(
        "index of all pairs of 5 x 128 to bare multiplications",
        whole / bare,
        0.7,
        sets=count,
        seconds=whole,
        bare_seconds=bare,
    )
