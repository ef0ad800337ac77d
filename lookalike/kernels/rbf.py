"""The smooth kernel exp(-gamma |x - x'|²): its low-rank form, and sums of it over many rows."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled
from lookalike.kernels.threads import blocks, in_order, one_blas_thread, scipy_linalg

Floats = NDArray[np.floating[Any]]

# Rows of one piece of work: with a hundred centres they stay in the cache.
BLOCK = 2048


def rbf(x: Floats, y: Floats, gamma: float) -> NDArray[np.float64]:
    """Kernel of all rows of x with all rows of y; (n_x, n_y)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    squares = np.zeros((len(x), len(y)))
    step = np.empty_like(squares)
    # One coordinate at a time: no cancellation as in |x|² + |y|² - 2 x.y, and the same bits for any block.
    for column in range(x.shape[1]):
        np.subtract(x[:, column, None], y[None, :, column], out=step)
        squares += np.square(step, out=step)
    squares *= -gamma
    return np.exp(squares, out=squares)


@one_blas_thread()
def landmarks(x: Floats, gamma: float, tolerance: float, most: int) -> NDArray[np.int64]:
    """Rows of x that span its kernel matrix to within a tolerance: pivoted Cholesky decomposition.

    At each step the row that the chosen ones explain least is added [1]_; on [0, 1]^5 with a smooth kernel
    about a hundred rows are enough, however many there are.

    Parameters
    ----------
    x : array (n, d)
    gamma : float
    tolerance : float
        Largest part of any diagonal entry (which are all 1) left unexplained.
    most : int
        Most rows to choose.

    References
    ----------
    .. [1] S. Fine, K. Scheinberg, "Efficient SVM training using low-rank kernel representations",
       JMLR 2, 2001.
    """
    x = np.asarray(x, dtype=np.float64)
    left = np.ones(len(x))
    factor = np.empty((min(most, len(x)), len(x)))
    chosen: list[int] = []
    while len(chosen) < len(factor):
        pivot = int(left.argmax())
        if left[pivot] <= tolerance:
            break
        step = len(chosen)
        row = rbf(x[pivot : pivot + 1], x, gamma)[0]
        row -= factor[:step, pivot] @ factor[:step]
        factor[step] = row / np.sqrt(left[pivot])
        left -= factor[step] ** 2
        left[pivot] = 0.0
        chosen.append(pivot)
    return np.array(chosen, dtype=np.int64)


@one_blas_thread()
def feature_map(centres: Floats, gamma: float) -> NDArray[np.float64]:
    """Upper triangular U with rbf(x, centres) @ U whose inner products are the low-rank kernel."""
    linalg = scipy_linalg()
    factor = linalg.cholesky(rbf(centres, centres, gamma) + 1e-14 * np.eye(len(centres)))
    inverse: NDArray[np.float64] = linalg.solve_triangular(factor, np.eye(len(centres)))
    return inverse


def features(x: Floats, centres: Floats, gamma: float, transform: Floats) -> NDArray[np.float64]:
    """Coordinates of every row in the space that the centres span; (n, r)."""
    doubles = np.ascontiguousarray(x, dtype=np.float64)
    columns = np.ascontiguousarray(np.asarray(centres, dtype=np.float64).T)
    result = np.empty((len(x), len(centres)))

    def fill(rows: slice) -> None:
        kernel = _exponents(doubles[rows], columns, gamma)
        np.matmul(np.exp(kernel, out=kernel), transform, out=result[rows])

    for _ in in_order(fill, blocks(len(x), BLOCK)):
        pass
    return result


@compiled
def _exponents(x: NDArray[np.float64], columns: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """-gamma |x - x'|² for rows (n, d) and centres as columns (d, r), (n, r); the quick twin of `rbf`."""
    result = np.empty((len(x), columns.shape[1]))
    for row in range(len(x)):
        squares = result[row]
        squares[:] = 0.0
        for number in range(len(columns)):
            value = x[row, number]
            for centre in range(len(squares)):
                step = value - columns[number, centre]
                squares[centre] += step * step
        for centre in range(len(squares)):
            squares[centre] *= -gamma
    return result


def readable_expansion(x: Floats, centres: Floats, weights: Floats, gamma: float) -> NDArray[np.float64]:
    """Sum over centres of weight times kernel, for every row; (n,).

    Double precision and one centre after the other: the weights cancel, so the order of the sum shows in the
    result, and here it is the same for one row and for millions.
    """
    x = np.asarray(x, dtype=np.float64)
    result = np.zeros(len(x))

    def add_up(rows: slice) -> None:
        columns = np.ascontiguousarray(x[rows].T)
        total = np.zeros(columns.shape[1])
        squares, step = np.empty_like(total), np.empty_like(total)
        for centre, weight in zip(centres, weights, strict=True):
            squares[:] = 0.0
            for column, value in zip(columns, centre, strict=True):
                np.subtract(column, value, out=step)
                np.multiply(step, step, out=step)
                squares += step
            np.multiply(squares, -gamma, out=squares)
            np.exp(squares, out=squares)
            np.multiply(squares, weight, out=squares)
            total += squares
        result[rows] = total

    for _ in in_order(add_up, blocks(len(x), BLOCK)):
        pass
    return result


# Expansion: a sum of Gaussian kernels over many rows of five numbers, as fast as multiplications allow.
#
# Measured from the middle of the centres, exp(-γ |x - c|²) = exp(-γ |x|²) exp(-γ |c|²) exp(2 γ x·c): the
# first two are taken once for each row and each centre, so the inner loop needs the exponential of a small
# number only. That is a polynomial of degree 9: multiplications that the processor does for several rows at
# once. For rows far from the middle it is taken of a 32nd, to the 32nd power.


Doubles = NDArray[np.float64]

# For |2 γ x·c| up to this the polynomial is as precise as a double; far rows may reach 32 times as far, which
# is as far as five numbers between -1 and 1 do.
REACH: Final = 0.1
# Rows that are worked on side by side, and rows of one piece of work.
SIDE: Final = 64
ROWS_OF_ONE_PIECE: Final = 8192


def expansion(x: Floats, centres: Floats, weights: Floats, gamma: float) -> Doubles:
    """Sum over centres of weight times exp(-γ |x - c|²), for every row; (n,).

    What is added up, and in which order, depends on the row alone: one row gives the same bits as millions.
    Rows that reach too far, or do not have five numbers, are left to the readable twin,
    `lookalike.kernels.rbf.expansion`.
    """
    x = np.asarray(x, dtype=np.float64)
    centres, weights = np.asarray(centres, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if x.shape[1] != 5 or not len(centres):
        return readable_expansion(x, centres, weights, gamma)
    middle = (centres.min(axis=0) + centres.max(axis=0)) / 2
    scaled = np.ascontiguousarray(2 * gamma * (centres - middle).T)
    longest = np.abs(scaled).max(axis=1)
    damped = weights * np.exp(-gamma * np.square(centres - middle).sum(axis=1))
    result = np.empty(len(x))

    def add_up(rows: slice) -> None:
        part, sums = x[rows] - middle, result[rows]
        reach = _reach(part, longest)
        near, far = reach <= REACH, reach <= 32 * REACH
        _add_up(part, np.flatnonzero(near), scaled, damped, gamma, False, sums)
        _add_up(part, np.flatnonzero(far & ~near), scaled, damped, gamma, True, sums)
        if not far.all():  # NaN is not far, but further
            sums[~far] = readable_expansion(x[rows][~far], centres, weights, gamma)

    for _ in in_order(add_up, blocks(len(x), ROWS_OF_ONE_PIECE)):
        pass
    return result


@compiled
def _reach(x: Doubles, longest: Doubles) -> Doubles:
    """At least the largest product of each row with a centre; (rows,)."""
    result = np.zeros(len(x))
    for row in range(len(x)):
        for number in range(5):
            result[row] += abs(x[row, number]) * longest[number]
    return result


@compiled
def _series(t: float) -> float:
    """The series of exp(t) to t^9 / 9!; in pairs, so that sums run side by side."""
    t2 = t * t
    t4 = t2 * t2
    low = (1.0 + t) + (1.0 / 2 + 1.0 / 6 * t) * t2
    middle = (1.0 / 24 + 1.0 / 120 * t) + (1.0 / 720 + 1.0 / 5040 * t) * t2
    return low + t4 * (middle + t4 * (1.0 / 40320 + 1.0 / 362880 * t))


@compiled
def _add_up(
    x: Doubles,
    chosen: NDArray[np.int64],
    scaled: Doubles,
    weights: Doubles,
    gamma: float,
    is_far: bool,
    result: Doubles,
) -> None:
    """Chosen rows of x (rows, 5) and scaled centres (5, centres), from the middle; into result (rows,)."""
    here = np.zeros((5, SIDE))
    total = np.empty(SIDE)
    for start in range(0, len(chosen), SIDE):
        count = min(SIDE, len(chosen) - start)
        for side in range(count):
            for number in range(5):
                here[number, side] = x[chosen[start + side], number]
        total[:] = 0.0
        for centre in range(len(weights)):
            weight, c0, c1, c2 = weights[centre], scaled[0, centre], scaled[1, centre], scaled[2, centre]
            c3, c4 = scaled[3, centre], scaled[4, centre]
            if is_far:
                for side in range(SIDE):
                    t = c0 * here[0, side] + c1 * here[1, side] + c2 * here[2, side]
                    p = _series((t + (c3 * here[3, side] + c4 * here[4, side])) / 32)
                    p = p * p
                    p = p * p
                    p = p * p
                    p = p * p
                    total[side] += weight * (p * p)
            else:
                for side in range(SIDE):
                    t = c0 * here[0, side] + c1 * here[1, side] + c2 * here[2, side]
                    total[side] += weight * _series(t + (c3 * here[3, side] + c4 * here[4, side]))
        for side in range(count):
            square = 0.0
            for number in range(5):
                square += here[number, side] * here[number, side]
            result[chosen[start + side]] = total[side] * np.exp(-gamma * square)
