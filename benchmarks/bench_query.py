"""Query: a learnt ranking against its row, the row against reading the gallery, all regressions."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.entries import entry
from benchmarks.worlds import YOUTUBE_FACES, multiply_upper_half, seconds, vector_sets
from lookalike import open_search
from lookalike.kernels.threads import in_order
from lookalike.method.tables import compare, rows
from lookalike.similarities.contract import PreparedSets


def run(toy: bool) -> list[dict[str, Any]]:
    count = 30 if toy else YOUTUBE_FACES
    sets = vector_sets(count + 1)
    search = open_search(sets[:-1], reranker="learnt")
    tables, query = search.tables, sets[-1]
    assert isinstance(tables.sets, PreparedSets)
    faces = np.asarray(tables.sets.arrays["faces"])
    asked = PreparedSets.join([tables.similarity.prepare(query.faces)])
    search.find(query)  # compiles
    reading = seconds(lambda: faces.max(), 7)
    row = seconds(lambda: compare(tables.similarity, asked, tables.sets), 7)
    whole = seconds(lambda: search.find(query, 10), 7)
    bare = seconds(lambda: multiply_upper_half(faces), 1)
    some = list(rows(tables, tables.sets[:40], list(range(40))))

    def reranking() -> None:
        for _ in in_order(lambda row: search.reranker.score(row, tables), some):
            pass

    second = seconds(reranking, 3) / len(some) * count
    return [
        entry("learnt query to baseline row", whole / row, 1.3, sets=count, seconds=whole, row_seconds=row),
        entry(
            "baseline row to reading the faces once",
            row / reading,
            1.2,
            reading_seconds=reading,
            gigaflops=2.0 * faces.size * len(asked.arrays["faces"]) / row / 1e9,
        ),
        entry(
            "re-ranker of all queries to bare multiplications of the index",
            second / bare,
            1.0,
            seconds=second,
            bare_seconds=bare,
            million_regressions=count * (count - 1) * 10 / 1e6,
        ),
    ]
