"""Cumulative distribution: the share of values that are at most so large."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput

Floats = NDArray[np.float64]

# Steps drawn at most: a tenth of a millimetre in print cannot be seen, and files stay small.
MOST_STEPS = 500


def checked(values: NDArray[Any], what: str) -> Floats:
    """Return the values as one row of floats.

    Raises
    ------
    BadInput
        If there is none, or one is not finite.
    """
    row = np.asarray(values, dtype=np.float64).ravel()
    if not len(row) or not np.isfinite(row).all():
        state = "holds NaN or infinite numbers" if len(row) else "is empty"
        raise BadInput(f"{what} {state}: a figure needs at least one number, and finite ones")
    return row


def cdf(values: Floats) -> tuple[Floats, Floats]:
    """Distinct values in order, and for each the share of values that are not larger; (m,), (m,)."""
    points, counts = np.unique(values, return_counts=True)
    return points, np.cumsum(counts) / len(values)


def outline(values: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Corners of the staircase from (low, 0) to (high, 1), for ``drawstyle="steps-post"``."""
    points, shares = cdf(values)
    if len(points) > MOST_STEPS:
        kept = np.unique(np.searchsorted(shares, np.linspace(0, 1, MOST_STEPS)))
        kept = kept[kept < len(points)]
        points, shares = points[kept], shares[kept]
    return np.r_[low, points, high], np.r_[0.0, shares, 1.0]
