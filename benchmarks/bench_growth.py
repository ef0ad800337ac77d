"""Growth: how the times of a query, an index and one more set grow with the collection."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.entries import entry
from benchmarks.worlds import seconds, vector_sets
from lookalike import Search, index, train
from lookalike.indexing.build import NEIGHBOURS_KEPT
from lookalike.method.proxies import find_neighbours, update_neighbours
from lookalike.similarities.contract import PreparedSets


def run(toy: bool) -> list[dict[str, Any]]:
    sizes = [20, 40] if toy else [500, 1000, 2000, 4000, 8000]
    everything = vector_sets(sizes[-1])
    times: dict[str, list[float]] = {"query": [], "adaptive query": [], "index": [], "one more set": []}
    part = None
    for size in sizes:
        tables = index(everything[:size])
        part = part or train(tables, "learnt")  # the same regressor at every size
        for what, fitted in (("query", part), ("adaptive query", train(tables, "adaptive"))):
            search = Search(tables, fitted)
            search.find(tables.ids[0], 10)
            times[what].append(seconds(lambda s=search, t=tables: s.find(t.ids[0], 10), 7))  # type: ignore[misc]
        similarity, sets = tables.similarity, tables.sets
        times["index"].append(seconds(lambda: find_neighbours(similarity, sets, NEIGHBOURS_KEPT)))  # noqa: B023
        fewer = PreparedSets.join([sets[number] for number in range(size - 1)])
        near = find_neighbours(similarity, fewer, NEIGHBOURS_KEPT)
        places = np.arange(size - 1)
        times["one more set"].append(
            seconds(lambda: update_neighbours(similarity, sets, near, places, NEIGHBOURS_KEPT), 3)  # noqa: B023
        )
    targets = {"query": 1.05, "adaptive query": 1.05, "index": 2.05, "one more set": 1.05}
    return [
        entry(
            f"exponent of {what}",
            float(np.polyfit(np.log(sizes), np.log(measured), 1)[0]),
            targets[what],
            sizes=sizes,
            seconds=[round(value, 5) for value in measured],
        )
        for what, measured in times.items()
    ]
