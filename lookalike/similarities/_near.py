"""Near: which pairs of sets may enter a list of neighbours, told from their scores or bounds of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def wanted(
    scores: NDArray[Any],
    floors_a: NDArray[np.float64],
    floors_b: NDArray[np.float64],
    count: int,
    upper: bool,
    margin: float = 0.0,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs that reach the floor of one of their sets and are among its best here, within a margin."""
    return reaching(scores, scores, floors_a, floors_b, count, upper, margin)


def reaching(
    scores: NDArray[Any],
    known: NDArray[Any],
    floors_a: NDArray[np.float64],
    floors_b: NDArray[np.float64],
    count: int,
    upper: bool,
    margin: float = 0.0,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs whose score, or a bound of it, reaches the floors and the ``count`` best of what is known.

    Parameters
    ----------
    scores, known : arrays (n_a, n_b)
        ``known`` is minus infinity where nothing is.
    floors_a, floors_b, count, upper
        As for `SetSimilarity.match_near`.
    margin : float
        How far scores and floors may be off together.
    """
    scores, known = (_upper_half(array) if upper else array for array in (scores, known))
    # In the upper half a set meets the others in its row and in its column.
    by_a = np.maximum(floors_a, _kth_largest(np.maximum(known, known.T) if upper else known, count, 1))
    by_b = by_a if upper else np.maximum(floors_b, _kth_largest(known, count, 0))
    near = (scores >= by_a[:, None] - margin) | (scores >= by_b - margin)
    # Where a list is still empty everything reaches its floor, but a set is not its own neighbour.
    found_a, found_b = np.nonzero(near & (scores > -np.inf))
    return found_a, found_b


def _upper_half(scores: NDArray[Any]) -> NDArray[Any]:
    return np.where(np.triu(np.ones(scores.shape, dtype=bool), 1), scores, -np.inf)


def _kth_largest(scores: NDArray[Any], count: int, axis: int) -> NDArray[np.float64]:
    """The value that ``count`` entries reach along an axis; minus infinity if there are fewer."""
    size = scores.shape[axis]
    if not 0 < count <= size:
        return np.full(scores.shape[1 - axis], -np.inf if count else np.inf)
    return np.asarray(
        np.partition(scores, size - count, axis=axis).take(size - count, axis=axis), dtype=float
    )
