"""What a person sees who reads the first answers only, by the number of matches there are to find."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lookalike.reporting.against_matches import Counts, Kind, against_matches
from lookalike.reporting.figure import Figure
from lookalike.reporting.uncertainty import around_mean, wilson


def match_probability(available: Counts, found: Mapping[str, Counts], depth: int = 100) -> Figure:
    """Share of queries with at least one match among the first answers.

    Parameters
    ----------
    available : array (queries,)
        Matches that the gallery holds for each query.
    found : mapping of method to array (queries,)
        How many of them are among the first ``depth`` answers.
    depth : int
        How many answers a person reads; choose it well below the size of the gallery.
    """

    def measure(counts: Counts) -> tuple[float, float, float]:
        hits = int((counts > 0).sum())
        return (hits / len(counts), *wilson(hits, len(counts)))

    kind = Kind(
        "match_probability",
        f"Chance of a match in the first {depth} answers",
        f"Share of queries with at least one match among the first {depth} answers, with 95 % Wilson "
        "intervals. ",
        "1 − (1 − p)^k for k matches",
        "p",
        "share of queries",
        measure,
        lambda share, fewest, k: 1 - (1 - share) ** (k / fewest),
    )
    return against_matches(kind, available, found)


def matches_found(available: Counts, found: Mapping[str, Counts], depth: int = 100) -> Figure:
    """Mean number of matches among the first answers; parameters as for `match_probability`."""

    def measure(counts: Counts) -> tuple[float, float, float]:
        low, high = around_mean(counts)
        return float(np.mean(counts)), max(0.0, low) if low == low else low, high

    kind = Kind(
        "matches_found",
        f"Matches in the first {depth} answers",
        f"Mean number of matches among the first {depth} answers, with 95 % intervals (1.96 standard errors; "
        "none for a single query). ",
        "k n for k matches",
        "n",
        "matches found, mean",
        measure,
        lambda mean, fewest, k: k * mean / fewest,
    )
    return against_matches(kind, available, found)
