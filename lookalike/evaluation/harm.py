"""Harm: which queries a method serves worse than the baseline does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.evaluation.results import Evaluation

ROUNDING = 1e-9


class Group(NamedTuple):
    """Queries of one kind, and what became of their average precision."""

    name: str
    queries: int
    before: float
    after: float
    better: int
    worse: int


class Query(NamedTuple):
    """One query and its average precision with and without the method."""

    id: str
    before: float
    after: float


class Harm(NamedTuple):
    """What a method did to the queries of an evaluation."""

    overall: Group
    groups: list[Group]  # by how good the baseline was, then by how many matches there are
    hardest_hit: list[Query]


def harm(evaluation: Evaluation, method: str, baseline: str, shown: int = 5) -> Harm:
    """Compare the average precision of each query by the method with that by the baseline."""
    before, after = evaluation.values(baseline)["map"], evaluation.values(method)["map"]
    available = evaluation.available()

    def group(name: str, chosen: NDArray[np.bool_]) -> Group:
        was, now = before[chosen], after[chosen]
        # Averages over seeds differ in their last bits where nothing else does.
        better, worse = int((now - was > ROUNDING).sum()), int((was - now > ROUNDING).sum())
        return Group(name, int(chosen.sum()), float(was.mean()), float(now.mean()), better, worse)

    low, high = np.quantile(before, [1 / 3, 2 / 3])
    thirds = {
        "baseline poor (lowest third of average precision)": before <= low,
        "baseline middling": (before > low) & (before < high),
        "baseline good (highest third)": before >= high,
    }
    # Where most queries are equally good there are no thirds.
    kinds = (thirds if low < high else {}) | {
        "1 match in the gallery": available == 1,
        "2 or 3 matches": (available == 2) | (available == 3),
        "4 matches or more": available >= 4,
    }
    groups = [group(name, chosen) for name, chosen in kinds.items() if chosen.any()]
    hit = np.argsort(after - before, kind="stable")[:shown]
    hardest = [
        Query(evaluation.queries[place], float(before[place]), float(after[place]))
        for place in hit
        if before[place] - after[place] > ROUNDING
    ]
    return Harm(group("all queries", np.ones(len(before), dtype=bool)), groups, hardest)
