"""Few: the best pairs of the few faces of a query with all faces of a gallery, which are read only once.

A linear algebra library first copies the larger matrix into an order of its own, which pays if every number
is used some hundred times: for a query of ten faces it takes longer than the multiplications, which a plain
loop makes instead. Products are made for a few sets at a time, which are finished exactly while their faces
lie in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lookalike.kernels.compiled import compiled, reordered
from lookalike.kernels.halves import widened
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

# Up to so many rows are few. Up to so many the plain loop is quicker than the linear algebra library at 128
# numbers a row; at 1,770 it is so only below ten.
FEW_ROWS, BY_LOOP = 100, 20
# Numbers of the many that are worked on at a time: 1 MB fits the second cache.
RUN = 2**18
# Running sums that the compiler keeps in registers: as many of the few meet a row of the many at once.
AT_ONCE = 5


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
    if len(faces_a) > FEW_ROWS or min(shape) == 0:
        screen = Screen(faces_a, starts_a, faces_b, starts_b, lengths_a, lengths_b)
        best, of_a, of_b = screen.finish(*np.indices(shape).reshape(2, -1))
        return best.reshape(shape), of_a.reshape(shape), of_b.reshape(shape)
    scores = np.empty(shape)
    modes_a, modes_b = (np.empty(shape, dtype=np.int64) for _ in range(2))
    long_a, long_b = known_lengths(faces_a, lengths_a), known_lengths(faces_b, lengths_b)
    margin = 2 * error_bound(faces_b.shape[1], long_a, long_b)
    few, starts = _padded(widened(faces_a)), np.asarray(starts_b)
    for first, last in _runs(starts, max(RUN // faces_b.shape[1], 1)):
        start, stop = starts[first], starts[last]
        many = widened(faces_b[start:stop])
        _finish(
            multiply(few, many) if len(faces_a) <= BY_LOOP else few @ many.T,
            few,
            np.asarray(starts_a),
            long_a,
            many,
            starts[first : last + 1] - start,
            long_b[start:stop],
            margin,
            scores[:, first:last],
            modes_a[:, first:last],
            modes_b[:, first:last],
        )
    return scores, modes_a, modes_b


def _padded(rows: Singles) -> Singles:
    """Rows, and rows of zeros behind them until they are a multiple of AT_ONCE."""
    return np.pad(rows, ((0, -len(rows) % AT_ONCE), (0, 0)))


def _runs(starts: Ints, rows: int) -> Iterator[tuple[int, int]]:
    """Cut sets into runs, from one number to another: as many as have so many rows, but at least one."""
    first, count = 0, len(starts) - 1
    while first < count:
        last = max(int(np.searchsorted(starts, starts[first] + rows, side="right")) - 1, first + 1)
        yield first, last
        first = last


@reordered
def multiply(few: Singles, many: Singles) -> Singles:
    """Products of every row of the few, whose number is a multiple of AT_ONCE, with every row of the many.

    The readable twin is ``few @ many.T``.
    """
    products = np.empty((len(few), len(many)), dtype=np.float32)
    for column in range(len(many)):
        one = many[column]
        for row in range(0, len(few), AT_ONCE):
            a, b, c, d, e = few[row], few[row + 1], few[row + 2], few[row + 3], few[row + 4]
            with_a = with_b = with_c = with_d = with_e = np.float32(0.0)
            for place in range(len(one)):
                with_a += a[place] * one[place]
                with_b += b[place] * one[place]
                with_c += c[place] * one[place]
                with_d += d[place] * one[place]
                with_e += e[place] * one[place]
            products[row, column] = with_a
            products[row + 1, column] = with_b
            products[row + 2, column] = with_c
            products[row + 3, column] = with_d
            products[row + 4, column] = with_e
    return products


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
    """Best pair of faces of every pair of sets whose products are known.

    Parameters
    ----------
    margin : float
        Faces whose product lies further below the largest cannot be the best pair.
    scores, modes_a, modes_b : arrays (n_a, n_b)
        The results.
    """
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
