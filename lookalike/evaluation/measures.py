"""Measures of a ranking, from the ranks of its matches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.int64]


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


def precision_at(ranks: Ranks, depth: int, total: int) -> float:
    """Share of matches among the first sets; a list shorter than the depth is taken as it is."""
    return float((ranks <= depth).sum() / min(depth, total))


def found_within(ranks: Ranks, depth: int) -> int:
    """How many matches are among the first sets."""
    return int((ranks <= depth).sum())


def cumulative_match(all_ranks: Sequence[Ranks], deepest: int) -> NDArray[np.float64]:
    """CMC: share of queries whose first match is at rank 1, at rank 2 or better, and so on; (deepest,)."""
    firsts = np.array([ranks.min() for ranks in all_ranks])
    return np.array([(firsts <= depth).mean() for depth in range(1, deepest + 1)])


def summary(all_ranks: Sequence[Ranks], total: int) -> dict[str, float]:
    """Summarise a method over all queries, under the names that ``evaluate --json`` prints."""
    anr = np.array([average_normalised_rank(ranks, total) for ranks in all_ranks])
    first = np.array([ranks.min() for ranks in all_ranks])
    return {
        "mean_anr": float(anr.mean()),
        "anr_below_0.3": float((anr < 0.3).mean()),
        "anr_q98": float(np.quantile(anr, 0.98)),
        "map": float(np.mean([average_precision(ranks) for ranks in all_ranks])),
        "rank1": float((first == 1).mean()),
        "match_in_100": float((first <= 100).mean()),
    }
