"""Triangles: how transitive the graph of mutual neighbours is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled

Ints = NDArray[np.int64]


def count_triangles(lists: Ints) -> tuple[Ints, Ints]:
    """Closed triangles at each set, and pairs of its edges, in the graph of sets that list each other.

    Parameters
    ----------
    lists : array (n, k)
        Neighbours of each set.

    Returns
    -------
    closed, met : arrays (n,)
        A triangle counts at each of its corners.
    """
    return _count(np.sort(lists, axis=1))


@compiled
def _count(ordered: Ints) -> tuple[Ints, Ints]:
    total, width = ordered.shape
    friends = np.empty((total, width), np.int64)
    counts = np.zeros(total, np.int64)
    for i in range(total):
        for j in ordered[i]:
            at = np.searchsorted(ordered[j], i)
            if at < width and ordered[j, at] == i:
                friends[i, counts[i]] = j
                counts[i] += 1
    closed = np.zeros(total, np.int64)
    for i in range(total):
        for a in range(counts[i]):
            j = friends[i, a]
            if j <= i:
                continue
            # Common friends beyond j: every triangle is met once, at its lowest corner.
            x, y = a + 1, 0
            while x < counts[i] and y < counts[j]:
                if friends[i, x] < friends[j, y]:
                    x += 1
                elif friends[i, x] > friends[j, y]:
                    y += 1
                else:
                    closed[i] += 1
                    closed[j] += 1
                    closed[friends[i, x]] += 1
                    x += 1
                    y += 1
    return closed, counts * (counts - 1) // 2
