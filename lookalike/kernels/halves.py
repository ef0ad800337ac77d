"""Halves: unit vectors in half precision, which lie on the grid as they are.

Between -1 and 1 every number of half precision is a whole multiple of 2^-24, the least it can tell from 0. So
inner products of such vectors are exact, like those of all vectors on the grid (`exact`). Only their length
is no longer 1, but off by up to 2^-11: a cosine is a product divided by the two lengths.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled
from lookalike.kernels.exact import plain_unit_rows

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.float32]
Bits = NDArray[np.uint16]

# The bits of a half are its sign, 5 of the exponent and 10 of the fraction; a single has 8 and 23.
_SIGN, _BEHIND, _MORE_EXPONENT = 2**15, 2**15 - 1, (127 - 15) << 23
_TWO, _LEAST = np.float32(2.0), np.float32(2.0**-14)


def half_rows(rows: Floats) -> NDArray[np.float16]:
    """Make every row unit length, in half precision; rows (n, d) are finite, none of them zero."""
    return plain_unit_rows(rows).astype(np.float16)


def lengths_of(rows: Floats) -> NDArray[np.float64]:
    """Lengths of rows (n, d) on the grid: sums of squares are exact, so their order does not matter."""
    lengths: NDArray[np.float64] = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1))
    return lengths


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
