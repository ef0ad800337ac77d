"""Measures of a ranking, and the ranks of the matches of every query that they are taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.int64]

# Measures by their name in JSON: how people call them, and whether larger is better.
MEASURES: Final = {
    "mean_anr": ("mean ANR", False),
    "anr_below_0.3": ("ANR < 0.3", True),
    "anr_q98": ("ANR q98", False),
    "map": ("mAP", True),
    "rank1": ("rank-1", True),
    "match_in_100": ("match in 100", True),
}


def average_normalised_rank(ranks: Ranks, total: int) -> float:
    """ANR = (sum of ranks - m) / (M - m): 0 if all matches come first, 1 if all come last (section 3.2).

    m = c (c + 1) / 2 and M = c (2 n - c + 1) / 2 are the least and greatest possible sums of the ranks (c,)
    of the matches, of which 1 is best, among n = `total` sets, without the query.
    """
    count = len(ranks)
    least = count * (count + 1) / 2
    greatest = count * (2 * total - count + 1) / 2
    # Nothing but matches: every order is perfect.
    return float((ranks.sum() - least) / (greatest - least)) if greatest > least else 0.0


def average_precision(ranks: Ranks) -> float:
    """Mean, over the matches, of the precision at the rank of each."""
    ordered = np.sort(ranks)
    return float(np.mean(np.arange(1, len(ordered) + 1) / ordered))


def found_within(ranks: Ranks, depth: int) -> int:
    """How many matches are among the first sets."""
    return int((ranks <= depth).sum())


def per_query(all_ranks: Sequence[Ranks], total: int) -> dict[str, NDArray[np.float64]]:
    """One number for each query and measure; the mean over queries is the measure of the method."""
    anr = np.array([average_normalised_rank(ranks, total) for ranks in all_ranks])
    first = np.array([ranks.min() for ranks in all_ranks])
    return {
        "mean_anr": anr,
        "anr_below_0.3": (anr < 0.3).astype(float),
        "map": np.array([average_precision(ranks) for ranks in all_ranks]),
        "rank1": (first == 1).astype(float),
        "match_in_100": (first <= 100).astype(float),
    }


def with_query_counted(all_ranks: Sequence[Ranks], total: int) -> tuple[list[Ranks], int]:
    """Ranks and number of ranked sets if each query stays in the gallery and is found first, as a match.

    One match more, at rank 1; every other set is one rank further down. The sum of ranks grows by as much as
    the least possible sum does, and M - m grows from c (n - c) to (c + 1) (n - c): an ANR becomes c / (c +
    1) of itself. With one match it cannot exceed 0.5.
    """
    return [np.concatenate([[1], ranks + 1]) for ranks in all_ranks], total + 1


def summary(all_ranks: Sequence[Ranks], total: int) -> dict[str, float]:
    """Summarise a method over all queries, under the names that ``evaluate --json`` prints."""
    values = per_query(all_ranks, total)
    found = {name: float(value.mean()) for name, value in values.items()}
    found["anr_q98"] = float(np.quantile(values["mean_anr"], 0.98))
    return {name: found[name] for name in MEASURES}


# Reliability: whether answers of which we are so sure are right so often.


Floats = NDArray[np.float64]

# People read the first answers. Over all pairs the error is near 0 even for who says no to everything: nearly
# all of them are strangers.
DEPTH: Final = 20
BINS: Final = 10
# Probabilities that are further off than this are not to be relied on.
TOLERATED: Final = 0.08
# Measures by their name in JSON, and how people call them.
SURENESS: Final = {
    "error": "calibration error",
    "error_first": "of the first answer",
    "kept": "worth reading",
    "precision": "right of these",
    "found": "of all matches",
}


class Bin(NamedTuple):
    """Answers with about one probability."""

    answers: int
    said: float  # mean probability
    right: int


@dataclass(frozen=True)
class Sureness:
    """What one re-ranker said about its first answers."""

    # (queries, DEPTH) of the first answers; NaN where there was none, or nothing could be said
    probabilities: Floats
    # (queries,) how many answers were said to be worth reading; -1 where nothing could be said
    worth: NDArray[np.int64]
    ranks: Sequence[Ranks]  # those of the matches of each query

    def bins(self, depth: int = DEPTH) -> list[Bin]:
        """The first answers by their probability, in ten bins of equal width; empty ones are left out."""
        said = self.probabilities[:, :depth]
        hits = np.array([np.isin(np.arange(1, said.shape[1] + 1), ranks) for ranks in self.ranks])
        known = ~np.isnan(said)
        said, hits = said[known], hits.reshape(known.shape)[known]
        where = np.minimum((said * BINS).astype(int), BINS - 1)
        return [
            Bin(int(own.sum()), float(said[own].mean()), int(hits[own].sum()))
            for number in range(BINS)
            if (own := where == number).any()
        ]

    def summary(self) -> dict[str, float | None]:
        """The measures, by the names that ``evaluate --json`` prints; None where there is nothing to count.

        Kept, precision and found are those of all queries together: a query of which nothing is worth
        reading counts, with nothing kept.
        """
        asked = self.worth >= 0
        kept = self.worth[asked]
        ranks = [one for one, counts in zip(self.ranks, asked.tolist(), strict=True) if counts]
        right = sum(int((one <= cut).sum()) for one, cut in zip(ranks, kept.tolist(), strict=True))
        matches = sum(len(places) for places in ranks)
        return {
            "error": calibration_error(self.bins()),
            "error_first": calibration_error(self.bins(1)),
            "kept": float(kept.mean()) if len(kept) else None,
            "precision": right / int(kept.sum()) if kept.sum() else None,
            "found": right / matches if matches else None,
        }


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """Expected calibration error: mean distance of what was said and what was right, over all answers [1]_.

    References
    ----------
    .. [1] M. P. Naeini, G. F. Cooper, M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian
       binning", AAAI 2015.
    """
    total = sum(bin.answers for bin in bins)
    if not total:
        return None
    return sum(abs(bin.said * bin.answers - bin.right) for bin in bins) / total


def mean_summary(seeds: Sequence[Sureness]) -> dict[str, float | None]:
    """Measures averaged over the seeds; None where none of them has one."""
    found = [seed.summary() for seed in seeds]
    known = {name: [value for summary in found if (value := summary[name]) is not None] for name in found[0]}
    return {name: float(np.mean(values)) if values else None for name, values in known.items()}


def words(method: str, measured: dict[str, float | None]) -> str:
    """Whether the probabilities of a method may be believed, in a sentence."""
    error = measured["error"]
    if error is None:
        return f"There are too few sets to estimate probabilities for {method}."
    said = (
        f"The probabilities that {method} gives its first {DEPTH} answers are off by {error:.3f} on average "
        f"(expected calibration error), those of the very first answer by {measured['error_first']:.3f}"
    )
    said += f": more than {TOLERATED}, so do not rely on them." if error > TOLERATED else "."
    if measured["precision"] is None:
        return f"{said} It suggests to read no answer at all."
    return (
        f"{said} It suggests to read {measured['kept']:.1f} answers a query; {measured['precision']:.0%} of "
        f"these are right, and {measured['found']:.0%} of all matches are among them."
    )


class Told(NamedTuple):
    """What was known of the queries of an evaluation that used it, one entry for each query and set."""

    queries: int  # of which anything was known
    confirmed: int  # sets that were known to show the query's person
    rejected: int  # sets that were known to show somebody else
    contradicted: int  # those of both of which the labels say otherwise


@dataclass(frozen=True)
class Evaluation:
    """Ranks of the matches of every query, by reranker."""

    queries: list[str]  # ids of the sets that were queries
    people: list[str]  # who is on each query
    sets: int  # how many the gallery has
    distractors: int  # gallery sets that match no query: nobody else on them, or not asked for
    ranked: int  # how many sets were ranked for each query
    # By reranker, for each seed (one if it does not depend on it) and query: ranks of matches, 1 is best.
    runs: dict[str, list[list[Ranks]]]
    # The same for the first seed of one method if only the first 1, 2, ... proxies speak, if asked for.
    by_proxies: dict[int, list[Ranks]] = field(default_factory=dict)
    # Queries from outside that were not asked, since the gallery does not show their person.
    passed_over: int = 0
    # By reranker, for each seed: how sure it was of its first answers, if asked for.
    sureness: dict[str, list[Sureness]] = field(default_factory=dict)
    # Whether measures (not ranks, sureness) count the query as its own match, found first.
    query_counted: bool = False
    # If decisions counted: sets known to match have the first ranks, those known not to the last.
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
