"""Lists: neighbours of every set, best first, that grow by candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


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
