"""Chance: how far a difference between two methods could be luck of the queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 10_000
# All patterns of signs of so few people are tried; of more, RESAMPLES random ones.
MOST_EXACT: Final = 12
# Resamples in one block: its weights take at most 8 MB for every 1,000 people.
BLOCK: Final = 1000


class Interval(NamedTuple):
    """A mean and the range that holds it in 95 of 100 collections drawn like this one."""

    mean: float
    low: float
    high: float


class Contrast(NamedTuple):
    """What one method gains over another, query by query."""

    difference: Interval
    p: float  # of a difference at least as large if the two were exchangeable


def interval(values: NDArray[np.float64], people: Sequence[str], seed: int = 0) -> Interval:
    """Mean over queries with its 95 % interval, by a bootstrap over people.

    Queries of one person are alike, so whole people are drawn, not queries: an interval that took queries
    for independent would be too narrow.

    Parameters
    ----------
    values : array (queries,)
        One measure of each query, or the paired difference of two methods.
    people : sequence of str
        Who is on each query.
    """
    sums, counts = _by_person(values, people)
    rng = np.random.default_rng(seed)
    equal = np.full(len(sums), 1 / len(sums))
    means = []
    for size in _blocks(RESAMPLES):
        weights = rng.multinomial(len(sums), equal, size).astype(float)
        means.append((weights @ sums) / (weights @ counts))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return Interval(float(np.mean(values)), float(low), float(high))


def contrast(
    values: NDArray[np.float64], baseline: NDArray[np.float64], people: Sequence[str], seed: int = 0
) -> Contrast:
    """Paired difference between two methods on the same queries, with a test of its sign.

    The test flips the signs of the differences of whole people: if the methods were exchangeable, every
    pattern of signs would be as likely as the one seen. With few people all patterns are tried.
    """
    gains = values - baseline
    sums, _ = _by_person(gains, people)
    seen = abs(sums.sum())
    # Sums of the same numbers in another order differ in the last bits.
    tolerance = 1e-12 * max(1.0, float(np.abs(sums).sum()))
    if len(sums) <= MOST_EXACT:
        patterns = 1 - 2.0 * ((np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1)
        p = float((np.abs(patterns @ sums) >= seen - tolerance).mean())
    else:
        rng = np.random.default_rng(seed)
        reached = 0
        for size in _blocks(RESAMPLES):
            signs = 1 - 2.0 * rng.integers(0, 2, (size, len(sums)))
            reached += int((np.abs(signs @ sums) >= seen - tolerance).sum())
        p = (reached + 1) / (RESAMPLES + 1)
    return Contrast(interval(gains, people, seed), p)


def holm(p: Sequence[float]) -> list[float]:
    """Raise the p of several tests so that one in twenty collections, not tests, finds a false winner.

    Holm's step-down rule: the smallest of m is multiplied by m, the next by m - 1, and so on.
    """
    order = np.argsort(p, kind="stable")
    raised = np.asarray(p, dtype=float)[order] * np.arange(len(p), 0, -1)
    found = np.empty(len(p))
    found[order] = np.minimum(1.0, np.maximum.accumulate(raised)) if len(p) else []
    return found.tolist()


def _by_person(
    values: NDArray[np.float64], people: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum of the values of each person, and how many there are."""
    _, who = np.unique(np.asarray(people), return_inverse=True)
    sums: NDArray[np.float64] = np.bincount(who, weights=values).astype(float)
    return sums, np.bincount(who).astype(float)


def _blocks(total: int) -> Iterator[int]:
    for start in range(0, total, BLOCK):
        yield min(BLOCK, total - start)
