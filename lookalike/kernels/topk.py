"""The best of many: of scores, of growing lists of neighbours, of rows that have some of their entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled

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


Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]

# Entries whose marks are looked at together, as one number: mostly none of them is marked.
WORD = 8


@compiled
def pairs_reaching(products: Singles, floors_a: Singles, floors_b: Singles, ahead: int, found: Ints) -> int:
    """Find the products (n_a, n_b) that reach the floor of their row or of their column; how many there are.

    Parameters
    ----------
    floors_a, floors_b : arrays (n_a,), (n_b,)
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
def _mark(values: Singles, floor: float, floors: Singles, marked: NDArray[np.uint8]) -> None:
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
