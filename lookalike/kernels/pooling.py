"""Pooling: the pairs of a set and its kin with another and its kin, of those pairs that are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.cohorts import residual_of
from lookalike.kernels.compiled import compiled

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


@compiled
def pool_known(
    starts: Ints,
    sets: Ints,
    values: Doubles,
    kin: Ints,
    chances: Doubles,
    first: int,
    last: int,
    found: Doubles,
) -> None:
    """Pool the known pairs of the sets first..last; others count 0, which is an ordinary pair's value.

    Parameters
    ----------
    starts, sets
        As in `Known`.
    values : array (m,)
        Of each pair; of a set with itself, what it counts for its kin.
    kin, chances : arrays (n, k)
        Those that may be kin of each set, and the chance that they are.
    found : array (m,)
        Written: the mean over both and their kin, in which neither is kin of the other.
    """
    total = len(kin)
    evidence = np.zeros(total)
    for i in range(first, last):
        own = 1.0
        for at in range(starts[i], starts[i + 1]):
            evidence[sets[at]] += values[at]
        for j in range(kin.shape[1]):
            r, chance = kin[i, j], chances[i, j]
            own += chance
            for at in range(starts[r], starts[r + 1]):
                evidence[sets[at]] += chance * values[at]
        for at in range(starts[i], starts[i + 1]):
            t = sets[at]
            pooled, weight, whole = evidence[t], 1.0, own
            as_kin = 0.0
            for j in range(kin.shape[1]):
                if kin[i, j] == t:
                    as_kin = chances[i, j]
            whole -= as_kin
            if as_kin > 0:
                pooled -= as_kin * residual_of(starts, sets, values, t, t)
            for j in range(kin.shape[1]):
                p = kin[t, j]
                if p == i:
                    continue
                weight += chances[t, j]
                pooled += chances[t, j] * evidence[p]
                if as_kin > 0:
                    pooled -= chances[t, j] * as_kin * residual_of(starts, sets, values, t, p)
            found[at] = pooled / (weight * whole)
        for at in range(starts[i], starts[i + 1]):
            evidence[sets[at]] = 0.0
        for j in range(kin.shape[1]):
            r = kin[i, j]
            for at in range(starts[r], starts[r + 1]):
                evidence[sets[at]] = 0.0
