"""Few: the best pairs of the few faces of a query with all faces of a gallery, which are read only once.

Products are made for a few sets at a time, which are finished exactly while their faces lie in the cache.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels.compiled import compiled
from lookalike.kernels.halves import Bits, bits_of, widen, widened
from lookalike.kernels.screening import (
    Doubles,
    Floats,
    Ints,
    Screen,
    Singles,
    error_bound,
    exact_match,
    known_lengths,
)
from lookalike.kernels.skinny import LANES, multiply, packed, rows_at_a_time

# Up to so many rows are few. Measured: from 150 on the linear algebra library is quicker.
FEW_ROWS = 100


def all_matches(
    faces_a: Floats,
    starts_a: Ints,
    faces_b: Floats,
    starts_b: Ints,
    lengths_a: Doubles | None = None,
    lengths_b: Doubles | None = None,
) -> tuple[Doubles, Ints, Ints]:
    """What `best_pairs` finds, to the last bit: scores and both faces of every pair of sets; (n_a, n_b) each.

    Parameters
    ----------
    faces_a, faces_b : arrays (rows, d)
        Unit rows on the grid; sets lie one after the other.
    starts_a, starts_b : arrays (n + 1,)
        First row of each set, and the end.
    lengths_a, lengths_b : arrays (rows,), optional
        Lengths of the rows, if they are not 1 but for the grid.
    """
    shape = (len(starts_a) - 1, len(starts_b) - 1)
    if len(faces_a) > FEW_ROWS or faces_b.shape[1] < LANES or min(shape) == 0:
        screen = Screen(faces_a, starts_a, faces_b, starts_b, lengths_a, lengths_b)
        best, of_a, of_b = screen.finish(*np.indices(shape).reshape(2, -1))
        return best.reshape(shape), of_a.reshape(shape), of_b.reshape(shape)
    scores = np.empty(shape)
    modes_a, modes_b = (np.empty(shape, dtype=np.int64) for _ in range(2))
    few = widened(faces_a)
    long_a, long_b = known_lengths(faces_a, lengths_a), known_lengths(faces_b, lengths_b)
    margin = 2 * error_bound(faces_b.shape[1], long_a, long_b)
    a, found = (packed(few), few, np.asarray(starts_a), long_a), (scores, modes_a, modes_b)
    if faces_b.dtype == np.float16:
        few_and_halves(*a, bits_of(faces_b), np.asarray(starts_b), long_b, margin, *found)
    else:
        few_and_singles(*a, widened(faces_b), np.asarray(starts_b), long_b, margin, *found)
    return scores, modes_a, modes_b


@compiled
def few_and_singles(
    few: Singles,
    faces_a: Singles,
    starts_a: Ints,
    lengths_a: Doubles,
    faces_b: Singles,
    starts_b: Ints,
    lengths_b: Doubles,
    margin: float,
    scores: Doubles,
    modes_a: Ints,
    modes_b: Ints,
) -> None:
    """Best pair of faces of every pair of sets.

    Parameters
    ----------
    few : array
        The faces of a, packed.
    margin : float
        Faces whose product lies further below the largest cannot be the best pair.
    scores, modes_a, modes_b : arrays (n_a, n_b)
        The results.
    """
    rows = rows_at_a_time(faces_b.shape[1])
    most = max(rows, _longest(starts_b))
    products = np.empty((few.shape[0] * few.shape[2], most + 1), dtype=np.float32)
    first = 0
    while first < len(starts_b) - 1:
        last = _last_of_run(starts_b, first, rows)
        start, stop = starts_b[first], starts_b[last]
        multiply(faces_b, start, stop, few, products, faces_b, 0)
        _finish(
            products,
            faces_a,
            starts_a,
            lengths_a,
            faces_b[start:stop],
            starts_b[first : last + 1] - start,
            lengths_b[start:stop],
            margin,
            scores[:, first:last],
            modes_a[:, first:last],
            modes_b[:, first:last],
        )
        first = last


@compiled
def few_and_halves(
    few: Singles,
    faces_a: Singles,
    starts_a: Ints,
    lengths_a: Doubles,
    bits_b: Bits,
    starts_b: Ints,
    lengths_b: Doubles,
    margin: float,
    scores: Doubles,
    modes_a: Ints,
    modes_b: Ints,
) -> None:
    """The same for faces of b in half precision, given as bits; they are converted in the cache."""
    rows = rows_at_a_time(bits_b.shape[1])
    most = max(rows, _longest(starts_b))
    products = np.empty((few.shape[0] * few.shape[2], most + 1), dtype=np.float32)
    faces_b = np.empty((most, bits_b.shape[1]), dtype=np.float32)
    first = 0
    while first < len(starts_b) - 1:
        last = _last_of_run(starts_b, first, rows)
        start, stop = starts_b[first], starts_b[last]
        widen(bits_b[start:stop], faces_b)
        multiply(faces_b, 0, stop - start, few, products, bits_b, start)
        _finish(
            products,
            faces_a,
            starts_a,
            lengths_a,
            faces_b,
            starts_b[first : last + 1] - start,
            lengths_b[start:stop],
            margin,
            scores[:, first:last],
            modes_a[:, first:last],
            modes_b[:, first:last],
        )
        first = last


@compiled
def _longest(starts: Ints) -> int:
    """Rows of the largest set."""
    found = 0
    for number in range(len(starts) - 1):
        found = max(found, starts[number + 1] - starts[number])
    return found


@compiled
def _last_of_run(starts: Ints, first: int, rows: int) -> int:
    """End of the run of sets that begins with ``first``: as many as have so many rows, but at least one."""
    last = first + 1
    while last < len(starts) - 1 and starts[last + 1] - starts[first] <= rows:
        last += 1
    return last


@compiled
def _finish(
    products: Singles,
    faces_a: Singles,
    starts_a: Ints,
    lengths_a: Doubles,
    faces_b: Singles,
    starts_b: Ints,
    lengths_b: Doubles,
    margin: float,
    scores: Doubles,
    modes_a: Ints,
    modes_b: Ints,
) -> None:
    """Best pairs of a run of sets whose products are known; everything of b begins with that run."""
    for j in range(len(starts_b) - 1):
        b, end_b = starts_b[j], starts_b[j + 1]
        for i in range(len(starts_a) - 1):
            a, end_a = starts_a[i], starts_a[i + 1]
            largest = np.float32(-np.inf)
            for row in range(a, end_a):
                for column in range(b, end_b):
                    largest = max(largest, products[row, column])
            scores[i, j], modes_a[i, j], modes_b[i, j] = exact_match(
                products[a:end_a, b:end_b],
                faces_a[a:end_a],
                lengths_a[a:end_a],
                faces_b[b:end_b],
                lengths_b[b:end_b],
                float(largest) - margin,
            )
