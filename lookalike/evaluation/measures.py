"""Measures of a ranking, from the ranks of its matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

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
