"""Screening: single precision finds what can matter, and only that is computed exactly.

A single-precision product of two unit vectors is off by at most a known bound: whatever lies further below
the best than twice that bound cannot be the best. What is left, mostly one pair of faces, is summed in double
precision, where vectors on the grid lose nothing. Results are those of `best_pairs` to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled, reordered
from lookalike.kernels.exact import SAME
from lookalike.kernels.halves import widened

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

# The compiler takes it as a constant.
_ONE = 1.0 - SAME


def error_bound(dimension: int, *lengths: Doubles) -> float:
    """How far a single-precision inner product can be off from the cosine of two vectors on the grid.

    Each of d roundings is at most 2^-24 of a partial sum, and by Cauchy-Schwarz the absolute terms add up to
    at most 1; doubled, because grid vectors are not exactly of unit length (halves may be 1 + 2^-11 long) and
    this is only of first order. In any order of summation no term takes part in more than d roundings, so it
    holds for all of them, whether products and sums are rounded together or apart.

    Parameters
    ----------
    dimension : int
        d, how many products are summed.
    lengths : two arrays, optional
        Lengths of the rows: a product is further off, by what that of the two lengths differs from 1.
    """
    ends = [np.prod([pick(some, initial=1.0) for some in lengths]) for pick in (np.min, np.max)]
    return 2.0 * (dimension + 1) * 2.0**-24 + float(np.abs(np.subtract(ends, 1.0)).max())


@compiled
def largest_of_sets(products: Singles, starts_a: Ints, starts_b: Ints, found: Singles) -> None:
    """Reduce products (rows_a, rows_b) to the largest of each pair of sets, into found (n_a, n_b)."""
    columns = np.empty(products.shape[1], dtype=np.float32)
    for i in range(len(starts_a) - 1):
        # All faces of set i first, column by column: this loop is as fast as memory.
        columns[:] = products[starts_a[i]]
        for row in range(starts_a[i] + 1, starts_a[i + 1]):
            for column in range(len(columns)):
                columns[column] = max(columns[column], products[row, column])
        for j in range(len(starts_b) - 1):
            best = columns[starts_b[j]]
            for column in range(starts_b[j] + 1, starts_b[j + 1]):
                best = max(best, columns[column])
            found[i, j] = best


@reordered
def exact_product(a: Singles, b: Singles) -> float:
    """Inner product of two vectors on the grid: nothing is rounded, so the order does not matter."""
    total = 0.0
    for place in range(len(a)):
        total += np.float64(a[place]) * np.float64(b[place])
    return total


@compiled
def exact_match(
    products: Singles,
    faces_a: Singles,
    lengths_a: Doubles,
    faces_b: Singles,
    lengths_b: Doubles,
    floor: float,
) -> tuple[float, int, int]:
    """Best pair of faces of two sets, of those whose product reaches a floor; ties go to the lowest."""
    best, mode_a, mode_b = -2.0, 0, 0
    for row in range(len(faces_a)):
        for column in range(len(faces_b)):
            if products[row, column] >= floor:
                value = exact_product(faces_a[row], faces_b[column]) / (lengths_a[row] * lengths_b[column])
                value = 1.0 if value > _ONE else max(value, -1.0)
                if value > best:
                    best, mode_a, mode_b = value, row, column
    return best, mode_a, mode_b


@compiled
def exact_matches(
    products: Singles,
    faces_a: Singles,
    starts_a: Ints,
    lengths_a: Doubles,
    faces_b: Singles,
    starts_b: Ints,
    lengths_b: Doubles,
    pairs_a: Ints,
    pairs_b: Ints,
    screened: Singles,
    margin: float,
    scores: Doubles,
    modes_a: Ints,
    modes_b: Ints,
) -> None:
    """Best pair of faces for chosen pairs of sets, exactly; ties go to the lowest position in a, then in b.

    Parameters
    ----------
    products : array (rows_a, rows_b)
        Single-precision products of all faces.
    pairs_a, pairs_b : arrays (pairs,)
        The pairs of sets.
    screened : array (pairs,)
        The largest product of each pair.
    margin : float
        Faces whose product lies further below cannot be the best pair.
    scores, modes_a, modes_b : arrays (pairs,)
        The results.
    """
    for pair in range(len(pairs_a)):
        a, end_a = starts_a[pairs_a[pair]], starts_a[pairs_a[pair] + 1]
        b, end_b = starts_b[pairs_b[pair]], starts_b[pairs_b[pair] + 1]
        scores[pair], modes_a[pair], modes_b[pair] = exact_match(
            products[a:end_a, b:end_b],
            faces_a[a:end_a],
            lengths_a[a:end_a],
            faces_b[b:end_b],
            lengths_b[b:end_b],
            screened[pair] - margin,
        )


class Screen:
    """The products of all faces of two runs of sets in single precision, to be finished where it matters.

    Parameters
    ----------
    faces_a, faces_b : arrays (rows, d)
        Unit rows on the grid; sets lie one after the other.
    starts_a, starts_b : arrays (n + 1,)
        First row of each set, and the end.
    lengths_a, lengths_b : arrays (rows,), optional
        Lengths of the rows, if they are not 1 but for the grid.
    """

    def __init__(
        self,
        faces_a: Floats,
        starts_a: Ints,
        faces_b: Floats,
        starts_b: Ints,
        lengths_a: Doubles | None = None,
        lengths_b: Doubles | None = None,
    ) -> None:
        # The compiled loops want plain arrays; a memory map becomes one without being copied.
        self._a = widened(faces_a), np.asarray(starts_a), known_lengths(faces_a, lengths_a)
        self._b = widened(faces_b), np.asarray(starts_b), known_lengths(faces_b, lengths_b)
        self.error = error_bound(self._a[0].shape[1], self._a[2], self._b[2])
        self._products: Singles = self._a[0] @ self._b[0].T
        self.scores = np.empty((len(starts_a) - 1, len(starts_b) - 1), dtype=np.float32)
        largest_of_sets(self._products, self._a[1], self._b[1], self.scores)

    def finish(self, sets_a: Ints, sets_b: Ints) -> tuple[Doubles, Ints, Ints]:
        """Exact cosine of the best pair of faces for each chosen pair of sets, and the two faces."""
        scores = np.empty(len(sets_a))
        modes_a, modes_b = (np.zeros(len(sets_a), dtype=np.int64) for _ in range(2))
        screened = self.scores[sets_a, sets_b]
        exact_matches(
            self._products,
            *self._a,
            *self._b,
            sets_a,
            sets_b,
            screened,
            2 * self.error,
            scores,
            modes_a,
            modes_b,
        )
        return scores, modes_a, modes_b


def known_lengths(faces: Floats, lengths: Doubles | None) -> Doubles:
    """Lengths as a plain array; 1 if none are given."""
    return np.ones(len(faces)) if lengths is None else np.asarray(lengths)
