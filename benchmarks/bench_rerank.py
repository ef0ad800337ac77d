"""Rerank: the learnt re-ranker against every rival, given the same similarities and modes."""

from __future__ import annotations

from typing import Any

from benchmarks.entries import entry
from benchmarks.worlds import YOUTUBE_FACES, seconds, vector_sets
from lookalike import index, registry, train
from lookalike.method.tables import rows

RIVALS = ("csls", "as_norm", "k_reciprocal", "cprr", "rl_sim", "diffusion", "query_expansion")


def run(toy: bool) -> list[dict[str, Any]]:
    count = 30 if toy else YOUTUBE_FACES
    tables = index(vector_sets(count))
    some = list(rows(tables, tables.sets[:20], list(range(20))))

    def of(name: str) -> float:
        part = train(tables, registry.build("rerankers", name))
        part.score(some[0], tables)  # compiles, and encodes what a rival encodes once
        return seconds(lambda: [part.score(row, tables) for row in some], 3) / len(some)

    ours = of("learnt")
    return [
        entry(
            f"learnt to {name}",
            ours / theirs,
            1.0,
            sets=count,
            query_seconds=ours,
            rival_query_seconds=theirs,
        )
        for name in RIVALS
        for theirs in [of(name)]
    ]
