"""Evaluation: the ranks of the matches of every query, by method, and which queries are harmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.evaluation.measures import (
    Ranks,
    Sureness,
    found_within,
    mean_summary,
    per_query,
    summary,
    with_query_counted,
)


class Told(NamedTuple):
    """What was known of the queries of an evaluation that used it, one entry for each query and set."""

    queries: int  # of which anything was known
    confirmed: int  # sets that were known to show the query's person
    rejected: int  # sets that were known to show somebody else
    contradicted: int  # those of both of which the labels say otherwise


@dataclass(frozen=True)
class Evaluation:
    """Ranks of the matches of every query, by reranker.

    Attributes
    ----------
    queries : list of str
        Ids of the sets that were queries.
    people : list of str
        Who is on each query.
    sets : int
        Sets of the gallery.
    distractors : int
        Gallery sets that match no query: nobody else on them, or not asked for.
    ranked : int
        Sets ranked for each query.
    runs : mapping of reranker to list of lists of arrays
        For each seed (one if the method does not depend on it) and each query, the ranks of its matches;
        1 is best.
    by_proxies : mapping of int to list of arrays
        The same for the first seed of one method if only the first 1, 2, ... proxies speak, where this was
        asked for.
    passed_over : int
        Queries from outside that were not asked, because the gallery does not show their person.
    sureness : mapping of reranker to list of Sureness
        For each seed, how sure it was of its first answers, where this was asked for.
    query_counted : bool
        Whether measures count the query as its own match, found first. Ranks, matches available and sureness
        are about the other sets either way.
    known : Told or None
        What was known of the queries, if the evaluation used decisions and who was seen side by side: sets
        that were known to match have the first ranks, those that were known not to the last.
    """

    queries: list[str]
    people: list[str]
    sets: int
    distractors: int
    ranked: int
    runs: dict[str, list[list[Ranks]]]
    by_proxies: dict[int, list[Ranks]] = field(default_factory=dict)
    passed_over: int = 0
    sureness: dict[str, list[Sureness]] = field(default_factory=dict)
    query_counted: bool = False
    known: Told | None = None

    def available(self) -> NDArray[np.int64]:
        """How many matches each query has."""
        first = next(iter(self.runs.values()))[0]
        return np.array([len(ranks) for ranks in first])

    def with_one_match(self) -> tuple[int, int]:
        """How many queries, and how many people, have a single match: two counts easily confused."""
        single = self.available() == 1
        return int(single.sum()), len({who for who, one in zip(self.people, single, strict=True) if one})

    def values(self, method: str) -> dict[str, NDArray[np.float64]]:
        """Each measure of each query, averaged over the seeds."""
        runs = [per_query(*self._counted(ranks)) for ranks in self.runs[method]]
        return {name: _mean([run[name] for run in runs]) for name in runs[0]}

    def of_all_seeds(self, method: str, measure: str) -> NDArray[np.float64]:
        """One measure of each query by each seed, one after the other: for distributions."""
        return np.concatenate([per_query(*self._counted(ranks))[measure] for ranks in self.runs[method]])

    def summaries(self, method: str) -> list[dict[str, float]]:
        """Measures of each seed."""
        return [summary(*self._counted(ranks)) for ranks in self.runs[method]]

    def summary(self, method: str) -> dict[str, float]:
        """Measures, averaged over the seeds."""
        seeds = self.summaries(method)
        return {name: float(_mean([np.array(seed[name]) for seed in seeds])) for name in seeds[0]}

    def found_within(self, method: str, depth: int) -> NDArray[np.int64]:
        """How many matches of each query are among the first sets, by the first seed."""
        return np.array([found_within(ranks, depth) for ranks in self.runs[method][0]])

    def calibration(self) -> dict[str, dict[str, float | None]]:
        """How far the probabilities of each method may be believed, averaged over the seeds."""
        return {name: mean_summary(seeds) for name, seeds in self.sureness.items()}

    def only(self, places: Sequence[int]) -> Evaluation:
        """What was found for some of the queries, by their places: they were asked in the same gallery."""
        return replace(
            self,
            queries=[self.queries[place] for place in places],
            people=[self.people[place] for place in places],
            runs={
                name: [[ranks[place] for place in places] for ranks in seeds]
                for name, seeds in self.runs.items()
            },
            by_proxies={
                count: [ranks[place] for place in places] for count, ranks in self.by_proxies.items()
            },
            sureness={
                name: [
                    Sureness(seed.probabilities[places], seed.worth[places], [seed.ranks[p] for p in places])
                    for seed in seeds
                ]
                for name, seeds in self.sureness.items()
            },
        )

    def to_dict(self) -> dict[str, object]:
        """Counts and measures, as ``evaluate --json`` prints them."""
        # Said only where it holds: nobody who reads the measures may miss it, and others need not know of it.
        counted = {"query_counted": True} if self.query_counted else {}
        known = {} if self.known is None else {"decisions": self.known._asdict()}
        return {
            **counted,
            **known,
            "queries": len(self.queries),
            "sets": self.sets,
            "distractors": self.distractors,
            "rerankers": {name: self.summary(name) for name in self.runs},
            "calibration": self.calibration(),
        }

    def _counted(self, ranks: list[Ranks]) -> tuple[list[Ranks], int]:
        """Ranks and number of ranked sets that the measures are taken of."""
        return with_query_counted(ranks, self.ranked) if self.query_counted else (ranks, self.ranked)


def _mean(runs: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Mean over the seeds; equal ones keep every bit, where a sum of them would be rounded."""
    first = runs[0]
    mean: NDArray[np.float64] = first + np.mean([run - first for run in runs], axis=0)
    return mean


def joined(parts: list[Evaluation]) -> Evaluation:
    """One evaluation of several that asked the same methods on galleries of one size, for instance splits."""
    first = parts[0]
    runs = {name: [[ranks for part in parts for ranks in part.runs[name][0]]] for name in first.runs}
    return Evaluation(
        [query for part in parts for query in part.queries],
        [who for part in parts for who in part.people],
        first.sets,
        round(float(np.mean([part.distractors for part in parts]))),
        first.ranked,
        runs,
        {count: [ranks for part in parts for ranks in part.by_proxies[count]] for count in first.by_proxies},
        sureness={name: [_joined([part.sureness[name][0] for part in parts])] for name in first.sureness},
    )


def _joined(parts: list[Sureness]) -> Sureness:
    return Sureness(
        np.concatenate([part.probabilities for part in parts]),
        np.concatenate([part.worth for part in parts]),
        [ranks for part in parts for ranks in part.ranks],
    )


# Harm: which queries a method serves worse than the baseline does.


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
