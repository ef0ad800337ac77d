"""The arithmetic of `adaptive` with all pairs in one square: the readable twin of what works on lists."""

from __future__ import annotations

import numpy as np

from lookalike.transitivity.known import Known
from lookalike.transitivity.tables import Lists, Row


def square(count: int, seed: int = 0, dimension: int = 8) -> np.ndarray:
    """Similarities of sets of a few people, in a few kinds of light."""
    rng = np.random.default_rng(seed)
    vectors = (
        rng.normal(size=(count // 3 + 1, dimension))[np.arange(count) // 3]
        + rng.normal(size=(4, dimension))[np.arange(count) % 4]
        + 0.5 * rng.normal(size=(count, dimension))
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def order_of(scores: np.ndarray) -> np.ndarray:
    """Every set's others, nearest first; (n, n - 1)."""
    ranked = scores.copy()
    np.fill_diagonal(ranked, -np.inf)
    return np.argsort(-ranked, axis=1, kind="stable")[:, :-1]


def lists_of(scores: np.ndarray, width: int) -> Lists:
    order = order_of(scores)[:, :width]
    return Lists(order, np.take_along_axis(scores, order, axis=1))


def row_of(scores: np.ndarray, query: int) -> Row:
    """A member's row; no faces exist here."""
    return Row(scores[query], np.empty(0), np.empty(0), query)


def filled(known: Known) -> np.ndarray:
    """Similarities of all pairs as `Known` has them; (n, n)."""
    whole = known.level + known.levels[:, None] + known.levels
    whole[known.owners, known.sets] += known.residuals
    return whole


def spread(known: Known, values: np.ndarray, empty: float = 0.0) -> np.ndarray:
    """Values of known pairs in a square."""
    whole = np.full((len(known.levels), len(known.levels)), empty)
    whole[known.owners, known.sets] = values
    return whole
