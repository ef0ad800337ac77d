"""Triangles: how transitive the graph of mutual neighbours is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled

Ints = NDArray[np.int64]


def count_triangles(lists: Ints) -> tuple[int, int]:
    """Closed triangles, and pairs of edges that meet, in the graph of sets that are in each other's list.

    Parameters
    ----------
    lists : array (n, k)
        Neighbours of each set.
    """
    closed, met = _count(np.ascontiguousarray(lists), np.sort(lists, axis=1))
    return int(closed), int(met)


@compiled
def _count(lists: Ints, ordered: Ints) -> tuple[int, int]:
    total, width = lists.shape
    friends = np.empty((total, width), np.int64)
    counts = np.zeros(total, np.int64)
    for i in range(total):
        for j in ordered[i]:
            at = np.searchsorted(ordered[j], i)
            if at < width and ordered[j, at] == i:
                friends[i, counts[i]] = j
                counts[i] += 1
    closed, met = 0, 0
    for i in range(total):
        met += counts[i] * (counts[i] - 1) // 2
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
                    closed += 1
                    x += 1
                    y += 1
    return closed, met
