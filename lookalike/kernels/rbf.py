"""The smooth kernel exp(-gamma |x - x'|²), and its low-rank form."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled
from lookalike.kernels.threads import blocks, in_order, one_blas_thread

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
    factor = scipy.linalg.cholesky(rbf(centres, centres, gamma) + 1e-14 * np.eye(len(centres)))
    inverse: NDArray[np.float64] = scipy.linalg.solve_triangular(factor, np.eye(len(centres)))
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


def expansion(x: Floats, centres: Floats, weights: Floats, gamma: float) -> NDArray[np.float64]:
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
