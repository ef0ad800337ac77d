"""Joining: groups of sets grow pair by pair, the best pair first, and never across what holds two apart."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]

# Agreement beyond these is no surer, and groups larger than this know no more of themselves.
LEAST_AGREED, MOST_AGREED, MOST_SETS = 0.01, 0.99, 64
# So that sets which are alike by chance only divide by something.
TINY = 1e-6


@compiled
def agreements(
    lists: Ints,
    starts: Ints,
    columns: NDArray[Any],
    weights: NDArray[Any],
    first: int,
    last: int,
    found: Doubles,
) -> None:
    """Jaccard similarity of the vectors of some sets with those of the sets that they list.

    Parameters
    ----------
    lists : array (n, k)
        Neighbours of each set.
    starts, columns, weights : arrays (n + 1,), (m,), (m,)
        Vectors that add up to 1, row by row, columns in increasing order.
    first, last : int
        The sets that are looked at.
    found : array (n, k)
        Filled for these.
    """
    for i in range(first, last):
        for place in range(lists.shape[1]):
            j = lists[i, place]
            x, y, shared = starts[i], starts[j], 0.0
            while x < starts[i + 1] and y < starts[j + 1]:
                if columns[x] < columns[y]:
                    x += 1
                elif columns[x] > columns[y]:
                    y += 1
                else:
                    shared += min(weights[x], weights[y])
                    x += 1
                    y += 1
            found[i, place] = shared / (2 - shared)


@compiled
def join_groups(
    leaders: Ints,
    names: Ints,
    starts: Ints,
    links: Ints,
    agreed: Doubles,
    apart_starts: Ints,
    apart: Ints,
    barred_starts: Ints,
    barred: Ints,
    sums: Doubles,
    strangers: float,
    trusts: Doubles,
    weights: Doubles,
    doubt: float,
) -> tuple[Ints, Doubles, Ints, Doubles]:
    """Join groups while the score of the best pair is above 0; see `lookalike.method.groups.propose`.

    A pair in the queue lapses when one of its groups grows: each group counts how often it did. Links of a
    group are renamed when it grows next, not when others do. So nothing is larger than the links of all sets.

    Parameters
    ----------
    leaders : array (n,)
        The lowest set of the group that each set begins in.
    names : array (n,)
        Groups with different names are never joined; -1 has none. Changed.
    starts, links, agreed : arrays (n + 1,), (m,), (m,)
        Row by row, the sets that each is linked with, both ways, and their agreement.
    apart_starts, apart : arrays (n + 1,), (p,)
        The same of sets that are held apart, both ways.
    barred_starts, barred : arrays (n + 1,), (q,)
        Numbers of what was rejected, of each set: groups that share one are never joined.
    sums : array (n, d)
        One vector a set. Changed.
    strangers : float
        How alike vectors of strangers are.
    trusts : array (n,)
        How far lists around each set are believed. Changed.
    weights : array (6,)
        Those of the score.
    doubt : float
        Pairs that are not joined are told down to this score.

    Returns
    -------
    owners : array (n,)
        The lowest set of the group that each set ends in.
    weakest : array (n,)
        At that set, the least score at which the group was joined; infinite if it never was.
    pairs : array (p, 2)
        Groups that were not joined, by their lowest sets, though nothing holds them apart.
    scores : array (p,)
        Of these pairs.
    """
    total = len(leaders)
    parents, sizes, grown = np.arange(total), np.ones(total, np.int64), np.zeros(total, np.int64)
    weakest, own = np.full(total, np.inf), np.empty(total)
    near = [links[starts[i] : starts[i + 1]] for i in range(total)]
    said = [agreed[starts[i] : starts[i + 1]] for i in range(total)]
    others = [apart[apart_starts[i] : apart_starts[i + 1]] for i in range(total)]
    bars = [barred[barred_starts[i] : barred_starts[i + 1]] for i in range(total)]
    places = np.zeros(total, np.int64)
    for i in range(total):
        if leaders[i] < i:
            _merge(parents, sizes, names, trusts, sums, near, said, others, bars, places, leaders[i], i)
    queue = [(0.0, 0, 0, 0, 0) for _ in range(0)]
    for a in range(total):
        if parents[a] == a:
            own[a] = _own(sums, sizes, strangers, a)
            _gather(parents, near, said, places, a)
    for a in range(total):
        for place in range(len(near[a]) if parents[a] == a else 0):
            b = near[a][place]
            if b > a:
                score = _score(sums, own, sizes, trusts, strangers, weights, a, b, said[a][place], 0.0)
                if score > 0:
                    heappush(queue, (-score, a, b, 0, 0))
    while len(queue):
        lacking, a, b, grown_a, grown_b = heappop(queue)
        if parents[a] != a or parents[b] != b or grown[a] != grown_a or grown[b] != grown_b:
            continue
        if _are_apart(parents, others, bars, names, a, b):
            continue
        _merge(parents, sizes, names, trusts, sums, near, said, others, bars, places, a, b)
        own[a] = _own(sums, sizes, strangers, a)
        grown[a] += 1
        weakest[a] = min(weakest[a], weakest[b], -lacking)
        for place in range(len(near[a])):
            b = near[a][place]
            score = _score(sums, own, sizes, trusts, strangers, weights, a, b, said[a][place], 0.0)
            if score > 0:
                heappush(queue, (-score, min(a, b), max(a, b), grown[min(a, b)], grown[max(a, b)]))
    firsts, seconds, scores = [0 for _ in range(0)], [0 for _ in range(0)], [0.0 for _ in range(0)]
    for a in range(total):
        if parents[a] == a:
            _gather(parents, near, said, places, a)
            for place in range(len(near[a])):
                b = near[a][place]
                if b > a:
                    score = _score(sums, own, sizes, trusts, strangers, weights, a, b, said[a][place], doubt)
                    if score > doubt and not _are_apart(parents, others, bars, names, a, b):
                        firsts.append(a)
                        seconds.append(b)
                        scores.append(score)
    pairs = np.empty((len(firsts), 2), np.int64)
    values = np.empty(len(firsts))
    for place in range(len(firsts)):
        pairs[place, 0], pairs[place, 1], values[place] = firsts[place], seconds[place], scores[place]
    owners = np.empty(total, np.int64)
    for i in range(total):
        owners[i] = _root(parents, i)
    return owners, weakest, pairs, values


@compiled
def _root(parents: Ints, one: int) -> int:
    while parents[one] != one:
        parents[one] = parents[parents[one]]
        one = parents[one]
    return one


@compiled
def _own(sums: Doubles, sizes: Ints, strangers: float, a: int) -> float:
    """The square of a group's sum, beyond what as many strangers would have."""
    square = 0.0
    for place in range(sums.shape[1]):
        square += sums[a, place] * sums[a, place]
    return max(square - strangers * sizes[a] * sizes[a], TINY)


@compiled
def _score(
    sums: Doubles,
    own: Doubles,
    sizes: Ints,
    trusts: Doubles,
    strangers: float,
    weights: Doubles,
    a: int,
    b: int,
    agreed: float,
    least: float,
) -> float:
    """The score of two groups; minus infinity if it cannot be more than the least."""
    mean = min(max(agreed / (sizes[a] * sizes[b]), LEAST_AGREED), MOST_AGREED)
    larger, smaller = max(sizes[a], sizes[b]), min(sizes[a], sizes[b])
    found = weights[1] * min(trusts[a] / sizes[a], trusts[b] / sizes[b]) + weights[5]
    found += weights[2] * np.log(mean / (1 - mean))
    found += weights[3] * np.log(min(larger, MOST_SETS)) + weights[4] * np.log(smaller)
    if found + weights[0] <= least:  # vectors cannot be more alike than that
        return -np.inf
    product = 0.0
    for place in range(sums.shape[1]):
        product += sums[a, place] * sums[b, place]
    cosine = (product - strangers * sizes[a] * sizes[b]) / np.sqrt(own[a] * own[b])
    return found + weights[0] * min(cosine, 1.0)


@compiled
def _are_apart(parents: Ints, others: Any, bars: Any, names: Ints, a: int, b: int) -> bool:
    """Whether two groups have different names, hold sets that are apart, or share what was rejected."""
    if names[a] >= 0 and names[b] >= 0 and names[a] != names[b]:
        return True
    few, many = (a, b) if len(others[a]) <= len(others[b]) else (b, a)
    for one in others[few]:
        if _root(parents, one) == many:
            return True
    for one in bars[a]:
        for other in bars[b]:
            if one == other:
                return True
    return False


@compiled
def _merge(
    parents: Ints,
    sizes: Ints,
    names: Ints,
    trusts: Doubles,
    sums: Doubles,
    near: Any,
    said: Any,
    others: Any,
    bars: Any,
    places: Ints,
    a: int,
    b: int,
) -> None:
    """Let the group b, which is not the lower one, become a part of the group a."""
    parents[b] = a
    sizes[a] += sizes[b]
    trusts[a] += trusts[b]
    names[a] = max(names[a], names[b])
    for place in range(sums.shape[1]):
        sums[a, place] += sums[b, place]
    near[a], said[a] = np.concatenate((near[a], near[b])), np.concatenate((said[a], said[b]))
    _gather(parents, near, said, places, a)
    if len(others[b]):
        others[a] = np.concatenate((others[a], others[b]))
    if len(bars[b]):
        bars[a] = np.concatenate((bars[a], bars[b]))
    near[b], said[b], others[b] = near[b][:0], said[b][:0], others[b][:0]


@compiled
def _gather(parents: Ints, near: Any, said: Any, places: Ints, a: int) -> None:
    """Call the links of a group by their groups, each once, and leave out itself."""
    found, values = near[a].copy(), said[a].copy()
    count = 0
    for place in range(len(found)):
        b = _root(parents, found[place])
        if b == a:
            continue
        if places[b] < count and found[places[b]] == b:
            values[places[b]] += values[place]
        else:
            places[b] = count
            found[count], values[count] = b, values[place]
            count += 1
    near[a], said[a] = found[:count].copy(), values[:count].copy()
