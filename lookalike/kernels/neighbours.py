"""Lists of neighbours: how transitive their graph is, and how far two of them name the same sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import CALL, compiled, is_worthwhile

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


# Agreement: which sets the lists of a set and of its nearest name, and how far two such vectors coincide.


Doubles = NDArray[np.float64]

# Stands for a set that is not in the list: further down than any place.
ABSENT = 255


@compiled
def places_in_return(lists: Ints, first: int, last: int, found: NDArray[np.uint8]) -> None:
    """Where each set stands in the list of those whom it lists, for the sets first..last.

    Parameters
    ----------
    lists : array (n, at most 254)
        Neighbours of each set, nearest first.
    found : array of uint8, as lists
        Written; `ABSENT` where it is not listed in return. So i and its j-th are mutual k-neighbours if j < k
        and ``found[i, j] < k``.
    """
    width = lists.shape[1]
    for i in range(first, last):
        for j in range(width):
            other = lists[i, j]
            found[i, j] = ABSENT
            for place in range(width):
                if lists[other, place] == i:
                    found[i, j] = place
                    break


@compiled
def vectors_of(
    lists: Ints,
    back: NDArray[np.uint8],
    trusts: Doubles,
    lengths: Ints,
    first: int,
    last: int,
    columns: NDArray[np.int32],
    weights: NDArray[np.float32],
    counts: Ints,
) -> None:
    """One vector for each of the sets first..last: whom the lists of the set and of its nearest name.

    For each length k it is the mean, over the set and its k / 2 - 1 nearest, of the uniform vector on each
    one's mutual k-neighbours and itself; lengths are added up as far as they are trusted.

    Parameters
    ----------
    lists, back
        As for `places_in_return`.
    trusts : array (n, lengths)
        Of each length around each set.
    columns, weights : arrays (n, most)
        Written: the largest entries, in the order of their columns; they sum to 1.
    counts : array (n,)
        Written: how many there are.
    """
    total, most = len(lists), columns.shape[1]
    sums = np.zeros(total)
    touched = np.empty(total, np.int64)
    for i in range(first, last):
        met = 0
        for at in range(len(lengths)):
            k = lengths[at]
            half = max(0, k // 2 - 1)
            for place in range(-1, half):
                r = i if place < 0 else lists[i, place]
                size = 1
                for j in range(k):
                    size += back[r, j] < k
                share = trusts[i, at] / (half + 1) / size
                for j in range(-1, k):
                    if j >= 0 and back[r, j] >= k:
                        continue
                    x = r if j < 0 else lists[r, j]
                    if sums[x] == 0.0:
                        touched[met] = x
                        met += 1
                    sums[x] += share
        names = np.sort(touched[:met])
        values = sums[names]
        kept = min(met, most)
        if met > most:
            order = np.argsort(-values, kind="mergesort")[:most]
            names = np.sort(names[order])
            values = sums[names]
        whole = values.sum()
        for j in range(kept):
            columns[i, j] = names[j]
            weights[i, j] = values[j] / whole
        counts[i] = kept
        for j in range(met):
            sums[touched[j]] = 0.0


@compiled
def vector_of_query(
    lists: Ints,
    back: NDArray[np.uint8],
    floors: Doubles,
    closures: Doubles,
    lengths: Ints,
    counted: Doubles,
    smooth: int,
    least: float,
    near: Ints,
    values: Doubles,
    sums: Doubles,
    trusts: Doubles,
) -> float:
    """The same for a query from outside; returns what its own column has.

    Parameters
    ----------
    floors : array (n, lengths)
        What one must exceed to be among the first so many of each set.
    closures : array (n, lengths)
        Of each set alone, which are averaged over the query and its first ``smooth``.
    counted, least : array (lengths,), float
        How much of the average each length counts; no trust is less than ``least``.
    near, values : arrays (at least the longest length,)
        The sets nearest to the query, nearest first.
    sums : array (n,)
        Written; all zero before. It is not made to sum to 1: with what is returned it sums to that of trusts.
    trusts : array (lengths,)
        Written: of each length.
    """
    total = len(lists)
    marked = np.zeros(total, np.uint8)
    own = 0.0
    for at in range(len(lengths)):
        k = lengths[at]
        count, inside = 0, 0
        for j in range(k):
            marked[near[j]] = values[j] > floors[near[j], at]
            count += marked[near[j]]
        for j in range(k):
            if marked[near[j]]:
                for m in range(k):
                    inside += back[near[j], m] < k and marked[lists[near[j], m]]
        share = inside / max(count * (count - 1), 1)
        closure = (share - k / total) / (1 - k / total)
        for j in range(smooth):
            closure += closures[near[j], at]
        trusts[at] = max(counted[at] * closure / (smooth + 1), least)
        half = max(0, k // 2 - 1)
        part = trusts[at] / (half + 1)
        own += part / (count + 1)
        for j in range(k):
            if marked[near[j]]:
                sums[near[j]] += part / (count + 1)
        for place in range(half):
            r = near[place]
            size = 1 + marked[r]
            for j in range(k):
                size += back[r, j] < k
            own += part / size * marked[r]
            sums[r] += part / size
            for j in range(k):
                if back[r, j] < k:
                    sums[lists[r, j]] += part / size
        for j in range(k):
            marked[near[j]] = 0
    return own


@compiled
def shares_of_query(
    lists: Ints,
    back: NDArray[np.uint8],
    trusts: Doubles,
    lengths: Ints,
    near: Ints,
    values: Doubles,
    floors: Doubles,
    sets: Ints,
    found: Doubles,
) -> None:
    """What the query's column gets in the vectors of some sets, now that it is somebody's neighbour.

    Parameters
    ----------
    trusts : array (n, at least lengths)
        Of each length around each set; vectors have those too that are too long for the query.
    near, values, floors
        As for `vector_of_query`.
    sets : array (m,)
    found : array (n,)
        Added to, at these sets.
    """
    total = len(lists)
    share = np.zeros(total)
    for at in range(len(lengths)):
        k = lengths[at]
        for j in range(k):
            r = near[j]
            if values[j] > floors[r, at]:
                size = 2
                for m in range(k):
                    size += back[r, m] < k
                share[r] = 1.0 / size
        half = max(0, k // 2 - 1)
        for t in sets:
            whole = 0.0
            for other in range(trusts.shape[1]):
                whole += trusts[t, other]
            named = share[t]
            for j in range(half):
                named += share[lists[t, j]]
            found[t] += trusts[t, at] / whole * named / (half + 1)
        for j in range(k):
            share[near[j]] = 0.0


def shared_of(
    starts: NDArray[Any],
    rows: NDArray[np.int32],
    weights: NDArray[np.float32],
    columns: Ints,
    entries: Doubles,
    shrunk: Doubles,
    found: Doubles,
) -> None:
    """Sum of the lesser of two entries, over the columns of one vector, for all sets that have one of them.

    Parameters
    ----------
    starts, rows, weights
        Vectors of all sets, column by column.
    columns, entries : arrays (m,)
        The one vector.
    shrunk : array (n,)
        By how much the entries of each set are divided.
    found : array (n,)
        Added to.
    """
    if not is_worthwhile(CALL * len(columns)):
        # No column names a set twice: its sum grows in the order of the columns, as in the loop.
        for column, entry in zip(columns, entries, strict=True):
            place = slice(starts[column], starts[column + 1])
            t = rows[place]
            found[t] += np.minimum(entry, weights[place] / shrunk[t])
        return
    _shared_of(starts, rows, weights, columns, entries, shrunk, found)


@compiled
def _shared_of(
    starts: NDArray[Any],
    rows: NDArray[np.int32],
    weights: NDArray[np.float32],
    columns: Ints,
    entries: Doubles,
    shrunk: Doubles,
    found: Doubles,
) -> None:
    for at in range(len(columns)):
        entry = entries[at]
        for place in range(starts[columns[at]], starts[columns[at] + 1]):
            t = rows[place]
            found[t] += min(entry, weights[place] / shrunk[t])
