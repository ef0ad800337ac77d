"""Adaptive: its fit against the index, its query against the row, and how what is learnt grows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.entries import entry
from benchmarks.worlds import YOUTUBE_FACES, prepared, seconds
from lookalike import registry
from lookalike.indexing.build import NEIGHBOURS_KEPT
from lookalike.method.proxies import find_neighbours
from lookalike.method.tables import Tables, rows
from lookalike.rerankers.adaptive import Adaptive


def run(toy: bool) -> list[dict[str, Any]]:
    count = 120 if toy else YOUTUBE_FACES
    similarity = registry.build("similarities", "max_max")
    sets = prepared(similarity, count)

    def tables(total: int) -> Tables:
        some = sets[:total]
        ids = tuple(f"{number:05d}" for number in range(total))
        return Tables(ids, 0, similarity, some, find_neighbours(similarity, some, NEIGHBOURS_KEPT))

    def fitted(given: Tables) -> Adaptive:
        return Adaptive().fit(given, np.random.default_rng(0))

    quarter = tables(count // 4)
    learnt = [sum(array.nbytes for array in fitted(quarter).to_arrays().values())]  # compiles
    whole = tables(count)
    indexing = seconds(lambda: find_neighbours(similarity, sets, NEIGHBOURS_KEPT), 1)
    fitting = seconds(lambda: fitted(whole), 2)
    part = fitted(whole)
    learnt.append(sum(array.nbytes for array in part.to_arrays().values()))
    [asked] = rows(whole, sets[3:4], [3])
    row = seconds(lambda: list(rows(whole, sets[3:4], [3])), 7)
    scoring = seconds(lambda: part.score(asked, whole), 7)
    return [
        entry("adaptive fit to its index", fitting / indexing, 1.0, sets=count, seconds=fitting),
        entry("adaptive query to baseline row", 1 + scoring / row, 1.3, seconds=scoring, row_seconds=row),
        entry(
            "growth of what adaptive learns, by sets",
            float(np.log(learnt[1] / learnt[0]) / np.log(count / (count // 4))),
            1.05,
            bytes_of_a_set=learnt[1] / count,
        ),
    ]
