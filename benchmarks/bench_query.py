"""Query: time of a whole learnt ranking, against its baseline row alone."""

from __future__ import annotations

from benchmarks.worlds import seconds, vector_sets
from lookalike import open_search


def run(toy: bool) -> dict[str, float]:
    count = 30 if toy else 1000
    search = open_search(vector_sets(count))
    query = search.tables.ids[0]
    row = seconds(lambda: list(search.rows([query])), 5)
    whole = seconds(lambda: search.find(query), 5)
    return {
        "sets": count,
        "seconds": round(whole, 4),
        "baseline_row_seconds": round(row, 4),
        "ratio_to_baseline_row": round(whole / row, 3),
    }
