"""Groups: how many sets a person usually has, told by how far mutual neighbours are transitive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.triangles import count_triangles

# Sizes that are tried.
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# Groups are taken to be no smaller: with fewer neighbours there are hardly any triangles.
SMALLEST = 3
# Neighbours within groups close so many times more triangles than neighbours at large (chosen with labels).
CLEARLY = 1.15


def group_size(lists: NDArray[np.int64]) -> int:
    """The number of mutual neighbours that is most transitive, if that stands out; else the smallest.

    While a list holds a person's own sets, neighbours of neighbours are neighbours; further down they are
    whoever came next. Every set counts the same, so that a few copied many times do not decide.

    Parameters
    ----------
    lists : array (n, k)
        Neighbours of each set, nearest first.
    """
    total, width = lists.shape
    sizes = [size for size in SIZES if size <= width and size < total // 2]
    if not sizes:
        return SMALLEST
    shares = np.empty(len(sizes))
    for place, size in enumerate(sizes):
        closed, met = count_triangles(lists[:, :size])
        shares[place] = (closed / np.maximum(met, 1)).mean()
    best = int(shares.argmax())
    stands_out = shares[best] > CLEARLY * max(shares[-1], 1e-9)
    return max(sizes[best], SMALLEST) if stands_out else SMALLEST
