"""Measures of a ranking, from the ranks of its matches; and how often probabilities are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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

    Parameters
    ----------
    ranks : array (c,)
        Ranks of the matches, 1 is best.
    total : int
        Number of sets ranked, n (the query is not one of them).

    Notes
    -----
    m = c (c + 1) / 2 and M = c (2 n - c + 1) / 2 are the least and greatest possible sums.
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

    Notes
    -----
    One match more, at rank 1; every other set is one rank further down. The sum of ranks grows by as much as
    the least possible sum does, and M - m grows from c (n - c) to (c + 1) (n - c): an ANR becomes c / (c + 1)
    of itself. With one match it cannot exceed 0.5.
    """
    return [np.concatenate([[1], ranks + 1]) for ranks in all_ranks], total + 1


def summary(all_ranks: Sequence[Ranks], total: int) -> dict[str, float]:
    """Summarise a method over all queries, under the names that ``evaluate --json`` prints."""
    values = per_query(all_ranks, total)
    found = {name: float(value.mean()) for name, value in values.items()}
    return {name: found[name] if name in found else _quantile(values["mean_anr"]) for name in MEASURES}


def _quantile(anr: NDArray[np.float64]) -> float:
    return float(np.quantile(anr, 0.98))


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
    """What one re-ranker said about its first answers.

    Attributes
    ----------
    probabilities : array (queries, DEPTH)
        Of the first answers; NaN where there was none, or nothing could be said.
    worth : array (queries,)
        How many answers were said to be worth reading; -1 where nothing could be said.
    ranks : sequence of arrays
        Ranks of the matches of each query.
    """

    probabilities: Floats
    worth: NDArray[np.int64]
    ranks: Sequence[Ranks]

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

        Notes
        -----
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
