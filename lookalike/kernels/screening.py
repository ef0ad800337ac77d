"""Screening: the best pairs of faces of many sets, found in single precision, then computed exactly."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled, is_worthwhile, reordered
from lookalike.kernels.exact import SAME, cosines

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]


def best_pairs(
    faces_a: Floats,
    starts_a: Ints,
    faces_b: Floats,
    starts_b: Ints,
    lengths_a: NDArray[np.float64] | None = None,
    lengths_b: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], Ints, Ints]:
    """Largest cosine between any face of set i and any face of set j, with the faces that reach it.

    Sets lie one after the other: set i owns rows ``starts[i]`` to ``starts[i + 1]``.

    Parameters
    ----------
    faces_a, faces_b : arrays (rows, d)
        Unit rows on the grid.
    starts_a, starts_b : arrays (n + 1,)
        First row of each set, and the end.
    lengths_a, lengths_b : arrays (rows,), optional
        Lengths of the rows, if they are not 1 but for the grid.

    Returns
    -------
    best, face_a, face_b : arrays (n_a, n_b)
        The cosine, and the positions inside sets i and j. Ties go to the lowest position in a, then in b.
    """
    shape = (len(starts_a) - 1, len(starts_b) - 1)
    best, face_a, face_b = np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64)
    if not best.size:
        return best, face_a, face_b
    products = cosines(faces_a, faces_b, lengths_a, lengths_b)
    sets, columns = np.arange(shape[1]), np.arange(len(faces_b))
    owners = np.repeat(sets, np.diff(starts_b))
    for i in range(shape[0]):
        table = products[starts_a[i] : starts_a[i + 1]]  # (m_a, rows_b)
        by_face_a = np.maximum.reduceat(table, starts_b[:-1], axis=1)  # (m_a, n_b)
        face_a[i] = by_face_a.argmax(axis=0)
        best[i] = by_face_a[face_a[i], sets]
        reached = np.flatnonzero(table[face_a[i][owners], columns] == best[i][owners])
        face_b[i] = reached[np.searchsorted(owners[reached], sets)] - starts_b[:-1]
    return best, face_a, face_b


# Screening: single precision finds what can matter, and only that is computed exactly.
#
# A single-precision product of two unit vectors is off by at most a known bound: whatever lies further below
# the best than twice that bound cannot be the best. What is left, mostly one pair of faces, is summed in
# double precision, where vectors on the grid lose nothing. Results are those of `best_pairs` to the last bit.


Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]

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
def largest_of_sets(products: NDArray[Any], starts_a: Ints, starts_b: Ints, found: NDArray[Any]) -> None:
    """Reduce products (rows_a, rows_b) to the largest of each pair of sets, into found (n_a, n_b)."""
    columns = np.empty(products.shape[1], dtype=products.dtype)
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
    products: NDArray[Any],
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
    products: NDArray[Any],
    faces_a: Singles,
    starts_a: Ints,
    lengths_a: Doubles,
    faces_b: Singles,
    starts_b: Ints,
    lengths_b: Doubles,
    pairs_a: Ints,
    pairs_b: Ints,
    screened: NDArray[Any],
    margin: float,
    scores: Doubles,
    modes_a: Ints,
    modes_b: Ints,
) -> None:
    """Best pair of faces for chosen pairs of sets, exactly; ties go to the lowest position in a, then in b.

    Parameters
    ----------
    products : array (rows_a, rows_b)
        About the products of all faces.
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
    """About the products of all faces of two runs of sets, to be finished where it matters.

    Parameters
    ----------
    faces_a, faces_b : arrays (rows, d)
        Unit rows on the grid; sets lie one after the other.
    starts_a, starts_b : arrays (n + 1,)
        First row of each set, and the end.
    lengths_a, lengths_b : arrays (rows,), optional
        Lengths of the rows, if they are not 1 but for the grid.
    products, error : array (rows_a, rows_b), float
        Their products, if they are known in units of any size, and by how many of these they may be off.
    """

    def __init__(
        self,
        faces_a: Floats,
        starts_a: Ints,
        faces_b: Floats,
        starts_b: Ints,
        lengths_a: Doubles | None = None,
        lengths_b: Doubles | None = None,
        products: NDArray[Any] | None = None,
        error: float = 0.0,
    ) -> None:
        # The compiled loops want plain arrays; a memory map becomes one without being copied.
        self._a = widened(faces_a), np.asarray(starts_a), known_lengths(faces_a, lengths_a)
        self._b = widened(faces_b), np.asarray(starts_b), known_lengths(faces_b, lengths_b)
        if products is None:
            error = error_bound(self._a[0].shape[1], self._a[2], self._b[2])
            products = self._a[0] @ self._b[0].T
        self.error, self._products = error, products
        self.scores = np.empty((len(starts_a) - 1, len(starts_b) - 1), dtype=products.dtype)
        largest_of_sets(self._products, self._a[1], self._b[1], self.scores)

    def finish(
        self, sets_a: Ints, sets_b: Ints, least: NDArray[Any] | None = None
    ) -> tuple[Doubles, Ints, Ints]:
        """Exact cosine of the best pair of faces for each chosen pair of sets, and the two faces.

        Where products are known of which no less is wanted, faces below are left out: if all are, -2.
        """
        scores = np.empty(len(sets_a))
        modes_a, modes_b = (np.zeros(len(sets_a), dtype=np.int64) for _ in range(2))
        screened = self.scores[sets_a, sets_b]
        if least is not None:
            screened = np.maximum(screened, least + screened.dtype.type(2 * self.error))
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
    return _ones(len(faces)) if lengths is None else np.asarray(lengths)


@lru_cache(maxsize=4)
def _ones(count: int) -> Doubles:
    """Kept, since an index of very many sets asks for as many with each of its runs."""
    return np.ones(count)


# Few: the best pairs of the few faces of a query with all faces of a gallery, which are read only once.
#
# A linear algebra library first copies the larger matrix into an order of its own, which pays if every number
# is used some hundred times: for a query of ten faces it takes longer than the multiplications, which a plain
# loop makes instead. Products are made for a few sets at a time, which are finished exactly while their faces
# lie in the cache.


# Up to so many rows are few. Up to so many the plain loop is quicker than the linear algebra library at 128
# numbers a row; at 1,770 it is so only below ten.
FEW_ROWS, BY_LOOP = 100, 20
# Numbers of the many that are worked on at a time: 1 MB fits the second cache.
RUN = 2**18
# Running sums that the compiler keeps in registers: as many of the few meet a row of the many at once.
AT_ONCE = 5
# Converting a number to double precision takes as long as about so many products with it.
CONVERTING = 16


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
    if not is_worthwhile((len(faces_a) + CONVERTING) * faces_b.size):
        return _by_runs(faces_a, starts_a, faces_b, starts_b, lengths_a, lengths_b)
    if len(faces_a) > FEW_ROWS or min(shape) == 0:
        screen = Screen(faces_a, starts_a, faces_b, starts_b, lengths_a, lengths_b)
        best, of_a, of_b = screen.finish(*np.indices(shape).reshape(2, -1))
        return best.reshape(shape), of_a.reshape(shape), of_b.reshape(shape)
    scores = np.empty(shape)
    modes_a, modes_b = (np.empty(shape, dtype=np.int64) for _ in range(2))
    long_a, long_b = known_lengths(faces_a, lengths_a), known_lengths(faces_b, lengths_b)
    margin = 2 * error_bound(faces_b.shape[1], long_a, long_b)
    few, starts = _padded_few(widened(faces_a)), np.asarray(starts_b)
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


def _by_runs(
    faces_a: Floats,
    starts_a: Ints,
    faces_b: Floats,
    starts_b: Ints,
    lengths_a: Doubles | None,
    lengths_b: Doubles | None,
) -> tuple[Doubles, Ints, Ints]:
    """`best_pairs` of a few sets of b at a time, so that these lie in the cache in double precision."""
    parts = [best_pairs(faces_a, starts_a, faces_b[:0], starts_b[:1], lengths_a, lengths_b)]
    for first, last in _runs(starts_b, max(RUN // faces_b.shape[1], 1)):
        rows = slice(starts_b[first], starts_b[last])
        starts = starts_b[first : last + 1] - starts_b[first]
        lengths = None if lengths_b is None else lengths_b[rows]
        parts.append(best_pairs(faces_a, starts_a, faces_b[rows], starts, lengths_a, lengths))
    scores, modes_a, modes_b = (np.concatenate(pieces, axis=1) for pieces in zip(*parts, strict=True))
    return scores, modes_a, modes_b


def _padded_few(rows: Singles) -> Singles:
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


def nearest_products(faces: Floats, starts: Ints, sets: Ints, few: Floats) -> Singles:
    """Largest product of any face of each of some sets with any of a few, in single precision; (m,).

    Parameters
    ----------
    faces : array (rows, d)
        Sets lie one after the other; those that are not asked about are not read.
    starts : array (n + 1,)
        First row of each set, and the end.
    sets : array (m,)
        Numbers of the sets that are asked about.
    few : array (k, d)
    """
    found = np.empty(len(sets), dtype=np.float32)
    ends = starts[sets + 1]
    starts = starts[sets]
    if faces.dtype == np.float16:
        stops = np.cumsum(ends - starts)
        rows = np.arange(int(stops[-1]) if len(stops) else 0)
        faces = widened(faces[rows + np.repeat(ends - stops, ends - starts)])
        starts, ends = stops - (ends - starts), stops
    # A few rows too many are copies of the last, which change no maximum.
    padded = np.pad(widened(few), ((0, -len(few) % AT_ONCE), (0, 0)), mode="edge")
    multiply_some(np.asarray(faces), starts, ends, padded, found)
    return found


@reordered
def multiply_some(faces: Singles, starts: Ints, ends: Ints, few: Singles, found: Singles) -> None:
    """Largest product of the rows of each set with the few, whose number is a multiple of AT_ONCE."""
    for i in range(len(starts)):
        best = np.float32(-np.inf)
        for number in range(starts[i], ends[i]):
            one = faces[number]
            for row in range(0, len(few), AT_ONCE):
                a, b, c, d, e = few[row], few[row + 1], few[row + 2], few[row + 3], few[row + 4]
                with_a = with_b = with_c = with_d = with_e = np.float32(0.0)
                for place in range(len(one)):
                    with_a += a[place] * one[place]
                    with_b += b[place] * one[place]
                    with_c += c[place] * one[place]
                    with_d += d[place] * one[place]
                    with_e += e[place] * one[place]
                best = max(best, with_a, with_b, with_c, with_d, with_e)
        found[i] = best


@reordered
def multiply_pair(faces_a: Singles, faces_b: Singles, found: Singles) -> float:
    """Products of the faces of two sets in single precision, into found (rows_a, rows_b); the largest."""
    largest = np.float32(-np.inf)
    last = len(faces_b) - 1
    for row in range(len(faces_a)):
        one = faces_a[row]
        for column in range(0, len(faces_b), AT_ONCE):
            # Columns too many are the last again.
            a, b, c, d, e = (
                faces_b[column],
                faces_b[min(column + 1, last)],
                faces_b[min(column + 2, last)],
                faces_b[min(column + 3, last)],
                faces_b[min(column + 4, last)],
            )
            with_a = with_b = with_c = with_d = with_e = np.float32(0.0)
            for place in range(len(one)):
                with_a += a[place] * one[place]
                with_b += b[place] * one[place]
                with_c += c[place] * one[place]
                with_d += d[place] * one[place]
                with_e += e[place] * one[place]
            found[row, column] = with_a
            found[row, min(column + 1, last)] = with_b
            found[row, min(column + 2, last)] = with_c
            found[row, min(column + 3, last)] = with_d
            found[row, min(column + 4, last)] = with_e
            largest = max(largest, with_a, with_b, with_c, with_d, with_e)
    return float(largest)


@compiled
def match_pairs(
    faces: Singles,
    starts: Ints,
    lengths: Doubles,
    pairs_a: Ints,
    pairs_b: Ints,
    floors: Doubles,
    margin: float,
    scores: Doubles,
    modes_a: Ints,
    modes_b: Ints,
) -> None:
    """Best pair of faces for pairs of sets, exactly; ties go to the lowest position in a, then in b.

    Parameters
    ----------
    faces, starts, lengths
        Of all sets, as in `Screen`.
    pairs_a, pairs_b : arrays (m,)
        Numbers of the sets of each pair.
    floors : array (m,)
        A pair whose products in single precision stay further below than the margin is not finished, and
        scores minus infinity.
    """
    widest = 0
    for pair in range(len(pairs_a)):
        for one in (pairs_a[pair], pairs_b[pair]):
            widest = max(widest, starts[one + 1] - starts[one])
    room = np.empty((widest, widest), dtype=np.float32)
    for pair in range(len(pairs_a)):
        a, end_a = starts[pairs_a[pair]], starts[pairs_a[pair] + 1]
        b, end_b = starts[pairs_b[pair]], starts[pairs_b[pair] + 1]
        products = room[: end_a - a, : end_b - b]
        largest = multiply_pair(faces[a:end_a], faces[b:end_b], products)
        scores[pair] = -np.inf
        if largest >= floors[pair] - margin:
            scores[pair], modes_a[pair], modes_b[pair] = exact_match(
                products,
                faces[a:end_a],
                lengths[a:end_a],
                faces[b:end_b],
                lengths[b:end_b],
                largest - margin,
            )


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


# Halves in single precision, in which they are screened.


Bits = NDArray[np.uint16]
# The bits of a half are its sign, 5 of the exponent and 10 of the fraction; a single has 8 and 23.
_SIGN, _BEHIND, _MORE_EXPONENT = 2**15, 2**15 - 1, (127 - 15) << 23
_TWO, _LEAST = np.float32(2.0), np.float32(2.0**-14)


def widened(rows: Floats) -> Singles:
    """Rows in single precision: halves are converted, others are given back as a plain array."""
    if rows.dtype != np.float16:
        return np.ascontiguousarray(rows, dtype=np.float32)
    bits = bits_of(rows)
    found = np.empty(bits.shape, dtype=np.float32)
    widen(bits, found)
    return found


def bits_of(rows: Floats) -> Bits:
    """The bits of halves: the compiler does not know such numbers."""
    return np.ascontiguousarray(rows).view(np.uint16)


@compiled
def widen(bits: Bits, found: Singles) -> None:
    """Convert halves of at most 1, given as bits (n, d), to single precision; the twin is ``astype``."""
    for number in range(len(bits)):
        row, single = bits[number], found[number]
        raw = single.view(np.int32)
        for place in range(len(row)):
            raw[place] = ((np.int32(row[place]) & _BEHIND) << 13) + _MORE_EXPONENT
        for place in range(len(row)):
            # The first is right from 2^-14 on, where it is the less. A smaller half has no leading 1.
            value = min(single[place], _TWO * single[place] - _LEAST)
            single[place] = -value if row[place] >= _SIGN else value
