"""Chance: how far a difference between two methods could be luck of the queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 10_000
# All patterns of signs of so few people are tried; of more, so many random ones: p is then known to 0.001.
FLIPS: Final = 100_000
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


def intervals(values: NDArray[np.float64], people: Sequence[str], seed: int = 0) -> list[Interval]:
    """Means over queries with their 95 % intervals, by a bootstrap over people.

    Queries of one person are alike, so whole people are drawn, not queries: an interval that took queries
    for independent would be too narrow.

    Parameters
    ----------
    values : array (queries, m)
        Measures of each query, or paired differences of two methods; all m see the same draws.
    people : sequence of str
        Who is on each query.
    """
    sums, counts = _by_person(values, people)
    rng = np.random.default_rng(seed)
    equal = np.full(len(sums), 1 / len(sums))
    means = []
    for size in _blocks(RESAMPLES):
        weights = rng.multinomial(len(sums), equal, size).astype(float)
        means.append((weights @ sums) / (weights @ counts)[:, None])
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975], axis=0)
    return [
        Interval(float(mean), float(least), float(most))
        for mean, least, most in zip(values.mean(axis=0), low, high, strict=True)
    ]


def contrasts(gains: NDArray[np.float64], people: Sequence[str], seed: int = 0) -> list[Contrast]:
    """Paired differences between methods on the same queries, each with a test of its sign.

    The test flips the signs of the differences of whole people: if two methods were exchangeable, every
    pattern of signs would be as likely as the one seen. With few people all patterns are tried.

    Parameters
    ----------
    gains : array (queries, m)
        Differences, query by query.
    people : sequence of str
        Who is on each query.
    """
    sums, _ = _by_person(gains, people)
    # Sums of the same numbers in another order differ in the last bits.
    seen = np.abs(sums.sum(axis=0)) - 1e-12 * np.maximum(1.0, np.abs(sums).sum(axis=0))
    if len(sums) <= MOST_EXACT:
        patterns = 1 - 2.0 * ((np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1)
        p = (np.abs(patterns @ sums) >= seen).mean(axis=0)
    else:
        rng = np.random.default_rng(seed)
        reached = np.zeros(sums.shape[1])
        for size in _blocks(FLIPS):
            signs = 1 - 2.0 * rng.integers(0, 2, (size, len(sums)), dtype=np.int8)
            reached += (np.abs(signs @ sums) >= seen).sum(axis=0)
        p = (reached + 1) / (FLIPS + 1)
    found = intervals(gains, people, seed)
    return [Contrast(one, float(chance)) for one, chance in zip(found, p, strict=True)]


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
    """Sums of the values of each person, and how many queries there are of each."""
    _, who, counts = np.unique(np.asarray(people), return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), values.shape[1]))
    np.add.at(sums, who, values)
    return sums, counts.astype(float)


def _blocks(total: int) -> Iterator[int]:
    for start in range(0, total, BLOCK):
        yield min(BLOCK, total - start)
