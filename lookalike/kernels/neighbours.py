"""Neighbours: the best of many, lists of them that grow, and how far two lists name the same sets."""

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


Scores = NDArray[np.float64]
Numbers = NDArray[np.int64]

# Places of a smaller share of the numbers than this are told without sorting everybody.
SHARE = 1 / 64


def best_first(scores: Scores, then: Scores, top: int | None = None) -> Numbers:
    """Numbers by decreasing score; ties go to the larger ``then``, and after that to the lower number."""
    count = len(scores)
    if top is None or top >= count:
        return np.lexsort((np.arange(count), -then, -scores))
    # Everybody who reaches the last of the best may still be among them.
    chosen = np.flatnonzero(scores >= np.partition(scores, count - top)[count - top])
    return chosen[np.lexsort((chosen, -then[chosen], -scores[chosen]))[:top]]


def united(total: int, *groups: Numbers) -> Numbers:
    """Numbers below a total that are in any of some groups, in increasing order.

    Marking them takes less time than sorting tens of thousands, however many there are in all.
    """
    marked = np.zeros(total, dtype=bool)
    for group in groups:
        marked[group] = True
    return np.flatnonzero(marked)


def places(scores: Scores, then: Scores, asked: Numbers) -> Numbers:
    """The places that some numbers have in the order of `best_first`; 0 is the first."""
    if len(asked) > SHARE * len(scores):
        everybody = np.empty(len(scores), dtype=np.int64)
        everybody[best_first(scores, then)] = np.arange(len(scores))
        return everybody[asked]
    if not len(asked):
        return np.empty(0, dtype=np.int64)
    # Nobody below the last who is asked for comes before any of them.
    rising = np.sort(scores[scores >= scores[asked].min()])
    found: Numbers = len(rising) - np.searchsorted(rising, scores[asked], side="right")
    equal = len(rising) - found - np.searchsorted(rising, scores[asked], side="left")
    for i in np.flatnonzero(equal > 1):
        number = asked[i]
        tied = np.flatnonzero(scores == scores[number])
        ahead = (then[tied] > then[number]) | ((then[tied] == then[number]) & (tied < number))
        found[i] += np.count_nonzero(ahead)
    return found


Singles = NDArray[np.float32]

# Entries whose marks are looked at together, as one number: mostly none of them is marked.
WORD = 8


@compiled
def pairs_reaching(
    products: NDArray[Any], floors_a: NDArray[Any], floors_b: NDArray[Any], ahead: int, found: Ints
) -> int:
    """Find the products (n_a, n_b) that reach the floor of their row or of their column; how many there are.

    Parameters
    ----------
    floors_a, floors_b : arrays (n_a,), (n_b,)
        Of the type of the products.
    ahead : int
        Column j stands for the number of row j + ahead: what is not beyond that of its row is passed over.
    found : array (2, n_a * n_b)
        Written: their rows and columns, as many as there are.
    """
    total, count = len(floors_b), 0
    marked = np.zeros(total + (-total) % WORD, dtype=np.uint8)
    words = marked.view(np.uint64)
    for row in range(len(products)):
        _mark(products[row], floors_a[row], floors_b, marked)
        first = min(max(row + 1 - ahead, 0), total)
        marked[:first] = 0
        for word in range(first // WORD, len(words)):
            if words[word] == 0:
                continue
            for column in range(WORD * word, WORD * word + WORD):
                if marked[column]:
                    found[0, count], found[1, count] = row, column
                    count += 1
    return count


@compiled
def _mark(values: NDArray[Any], floor: Any, floors: NDArray[Any], marked: NDArray[np.uint8]) -> None:
    """Mark values that reach one floor or their own: many at once, since the loop does nothing else."""
    for column in range(len(floors)):
        marked[column] = (values[column] >= floor) | (values[column] >= floors[column])


# Lists: neighbours of every set, best first, that grow by candidates.


@compiled
def let_in(
    sets: Ints,
    scores: Doubles,
    own: NDArray[Any],
    their: NDArray[Any],
    rows: Ints,
    candidates: Ints,
    values: Doubles,
    own_given: NDArray[Any],
    their_given: NDArray[Any],
) -> None:
    """Put candidates in their place in the lists of some rows; ties go to the lower number.

    Who is in a list already stays as it is: a candidate may be offered again, by a processor that rounds its
    score otherwise.

    Parameters
    ----------
    sets, scores : arrays (n, count)
        Changed. A place that nobody has yet has a score of minus infinity.
    own, their : arrays (n, shown, m)
        Changed: what is known of the first of each list.
    rows, candidates, values : arrays (k,)
        Candidate i is to enter the list of row i with this score. One that is no number enters none.
    own_given, their_given : arrays (k, m)
        What is known of candidate i.
    """
    last, shown, width = sets.shape[1] - 1, own.shape[1], own.shape[2]
    for i in range(len(rows)):
        row, candidate, value = rows[i], candidates[i], values[i]
        floor = scores[row, last]
        if not (value > floor or (value == floor and candidate < sets[row, last])):
            continue
        is_there = False
        for place in range(last + 1):
            if sets[row, place] == candidate:
                is_there = True
                break
        if is_there:
            continue
        low, high = 0, last
        while low < high:
            middle = (low + high) // 2
            there = scores[row, middle]
            if there > value or (there == value and sets[row, middle] < candidate):
                low = middle + 1
            else:
                high = middle
        for place in range(last, low, -1):
            sets[row, place] = sets[row, place - 1]
            scores[row, place] = scores[row, place - 1]
        sets[row, low], scores[row, low] = candidate, value
        for place in range(shown - 1, low, -1):
            for m in range(width):
                own[row, place, m] = own[row, place - 1, m]
                their[row, place, m] = their[row, place - 1, m]
        if low < shown:
            for m in range(width):
                own[row, low, m] = own_given[i, m]
                their[row, low, m] = their_given[i, m]


# Rows: the best entries of every row of a table that has only some of its entries.


@compiled
def best_of_rows(
    starts: Ints,
    columns: Ints,
    values: Doubles,
    first: int,
    last: int,
    found: Ints,
    best: Doubles,
) -> None:
    """Find the largest values of rows ``first`` to ``last``, largest first; ties go to the lower column.

    Parameters
    ----------
    starts : array (n + 1,)
        Where each row begins.
    columns : array (m,)
        In increasing order within a row. An entry of a row and the column of the same number is passed over.
    values : array (m,)
    first, last : int
        The last row is left out.
    found, best : arrays (n, count)
        Written: columns and values of the best. A row must have so many.
    """
    count = found.shape[1]
    for row in range(first, last):
        filled = 0
        for entry in range(starts[row], starts[row + 1]):
            value = values[entry]
            if columns[entry] == row or (filled == count and value <= best[row, count - 1]):
                continue
            # Those before it have lower columns: an equal one stays in front.
            place = min(filled, count - 1)
            while place > 0 and best[row, place - 1] < value:
                best[row, place] = best[row, place - 1]
                found[row, place] = found[row, place - 1]
                place -= 1
            best[row, place] = value
            found[row, place] = columns[entry]
            filled = min(filled + 1, count)
