"""Isotonic regression: the nearest sequence that never decreases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def never_decreasing(values: Floats, weights: Floats) -> Floats:
    """Pool neighbours that are in the wrong order until none are: least weighted squares [1]_.

    Parameters
    ----------
    values, weights : array (n,)
        Weights are positive.

    References
    ----------
    .. [1] M. Ayer et al., "An empirical distribution function for sampling with incomplete information",
       Annals of Mathematical Statistics 26, 1955.
    """
    means: list[float] = []
    masses: list[float] = []
    counts: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, mass, count = value, weight, 1
        while means and means[-1] >= mean:
            earlier, before = means.pop(), masses.pop()
            mean = (mean * mass + earlier * before) / (mass + before)
            mass, count = mass + before, count + counts.pop()
        means.append(mean)
        masses.append(mass)
        counts.append(count)
    return np.repeat(np.array(means, dtype=np.float64), counts)
