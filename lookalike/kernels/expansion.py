"""Expansion: a sum of Gaussian kernels over many rows, as fast as multiplications allow.

exp(-γ |x - c|²) = exp(-γ |x|²) exp(-γ |c|²) exp(2 γ x·c): the first two are taken once for each row and each
centre, so the inner loop needs the exponential of a small number only. That is a polynomial of degree 12 to
the eighth power: multiplications that the processor does for several rows at once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled
from lookalike.kernels.rbf import expansion as readable_expansion
from lookalike.kernels.threads import blocks, in_order

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]

# For |2 γ x·c| up to this the polynomial is as precise as a double; five numbers in [-1, 1] stay below.
REACH: Final = 2.5
# Rows that are worked on side by side, and rows of one piece of work.
SIDE: Final = 64
BLOCK: Final = 8192


def expansion(x: Floats, centres: Floats, weights: Floats, gamma: float) -> Doubles:
    """Sum over centres of weight times exp(-γ |x - c|²), for every row; (n,).

    The order of the sum is the same for one row and for millions. Rows or centres that reach further than the
    five numbers can are left to the readable twin, `lookalike.kernels.rbf.expansion`.
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    centres, weights = np.asarray(centres, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if not len(x) or not len(centres):
        return readable_expansion(x, centres, weights, gamma)
    # NaN is in no range either.
    if not 2 * gamma * np.abs(centres).sum(axis=1).max() * max(x.max(), -x.min()) <= REACH:
        return readable_expansion(x, centres, weights, gamma)
    scaled = np.ascontiguousarray((gamma / 4) * centres.T)  # 2 γ c / 8
    damped = weights * np.exp(-gamma * np.square(centres).sum(axis=1))
    result = np.empty(len(x))

    def add_up(rows: slice) -> None:
        _add_up(np.ascontiguousarray(x[rows].T), scaled, damped, gamma, result[rows])

    for _ in in_order(add_up, blocks(len(x), BLOCK)):
        pass
    return result


@compiled
def _add_up(columns: Doubles, scaled: Doubles, weights: Doubles, gamma: float, result: Doubles) -> None:
    """Columns (numbers, rows), scaled centres (numbers, centres); into result (rows,)."""
    numbers, rows = columns.shape
    here = np.zeros((numbers, SIDE))
    total, product = np.empty(SIDE), np.empty(SIDE)
    for start in range(0, rows, SIDE):
        count = min(SIDE, rows - start)
        for number in range(numbers):
            for side in range(count):
                here[number, side] = columns[number, start + side]
        total[:] = 0.0
        for centre in range(len(weights)):
            weight = weights[centre]
            product[:] = 0.0
            for number in range(numbers):
                value = scaled[number, centre]
                for side in range(SIDE):
                    product[side] += value * here[number, side]
            for side in range(SIDE):
                t = product[side]
                # The series of exp(t), |t| < 0.32, to t^12 / 12!; in pairs, so that sums run side by side.
                t2 = t * t
                t4 = t2 * t2
                low = (1.0 + t) + (1.0 / 2 + 1.0 / 6 * t) * t2
                middle = (1.0 / 24 + 1.0 / 120 * t) + (1.0 / 720 + 1.0 / 5040 * t) * t2
                high = (1.0 / 40320 + 1.0 / 362880 * t) + (1.0 / 3628800 + 1.0 / 39916800 * t) * t2
                p = low + t4 * (middle + t4 * (high + 1.0 / 479001600 * t4))
                p = p * p
                p = p * p
                p = p * p
                total[side] += weight * p
        for side in range(count):
            square = 0.0
            for number in range(numbers):
                square += here[number, side] * here[number, side]
            result[start + side] = total[side] * np.exp(-gamma * square)
