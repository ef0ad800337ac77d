"""Unit vectors on a grid, whose inner products are exact; in single and in half precision.

A float sum depends on the order of its terms, and a matrix product chooses that order by the shape of
the block, the number of threads and the processor. Here every component of a unit vector is a whole
multiple of 2^-24. Products are then multiples of 2^-48, and by Cauchy-Schwarz no partial sum exceeds
1 (and a little): every intermediate result fits the 53 bits of a double. Nothing is ever rounded, so a
similarity has the same bits for one pair and for a million, on one thread and on many. The grid moves a
cosine by about 2e-8, and a component still fits a float32, which is how faces are stored. Directions of a
subspace lie on a finer grid of 2^-26, the finest for which the argument holds, and need a double: their
products are decomposed further, and a decomposition magnifies errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

GRID = 2.0**-24
FINE_GRID = 2.0**-26
# Vectors on the grid are not exactly of unit length: a face may be this far from itself.
SAME = 2e-7


def on_grid(vectors: Floats) -> NDArray[np.float32]:
    """Round components in [-1, 1] to the grid; a float32 holds them exactly."""
    return np.asarray(np.rint(np.asarray(vectors, dtype=np.float64) / GRID) * GRID, dtype=np.float32)


def on_fine_grid(vectors: Floats) -> NDArray[np.float64]:
    """Round components in [-1, 1] to the fine grid; only a double holds them exactly."""
    return np.asarray(np.rint(np.asarray(vectors, dtype=np.float64) / FINE_GRID) * FINE_GRID)


def unit_rows(rows: Floats) -> NDArray[np.float32]:
    """Make every row unit length, on the grid.

    Parameters
    ----------
    rows : array (n, d)
        Finite, none of them zero.

    Returns
    -------
    array (n, d) of float32
    """
    return on_grid(plain_unit_rows(rows))


def plain_unit_rows(rows: Floats) -> NDArray[np.float64]:
    """Make every row unit length in double precision, not on the grid."""
    wide = np.asarray(rows, dtype=np.float64)
    # Dividing by the largest component first keeps squares of very large or small numbers finite.
    wide = wide / np.abs(wide).max(axis=1, keepdims=True)
    unit: NDArray[np.float64] = wide / np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
    return unit


def cosines(
    a: Floats,
    b: Floats,
    lengths_a: NDArray[np.float64] | None = None,
    lengths_b: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Inner products of all rows of a with all rows of b, exact for rows on the grid; (n_a, n_b).

    They are divided by the lengths of the rows if these are given, because they are not 1 but for the grid.
    """
    products: NDArray[np.float64] = np.asarray(a, dtype=np.float64) @ np.asarray(b, dtype=np.float64).T
    if lengths_a is not None and lengths_b is not None:
        products /= np.multiply.outer(lengths_a, lengths_b)
    return snapped(np.maximum(products, -1.0, out=products))


def snapped(similarities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Make 1 what is 1 but for the grid, so that nothing is more alike than a face and itself; in place."""
    similarities[similarities > 1.0 - SAME] = 1.0
    return similarities


# Halves: unit vectors in half precision, which lie on the grid as they are.
#
# Between -1 and 1 every number of half precision is a whole multiple of 2^-24, the least it can tell from 0.
# So inner products of such vectors are exact, like those of all vectors on the grid (`exact`). Only their
# length is no longer 1, but off by up to 2^-11: a cosine is a product divided by the two lengths.


def half_rows(rows: Floats) -> NDArray[np.float16]:
    """Make every row unit length, in half precision; rows (n, d) are finite, none of them zero."""
    return plain_unit_rows(rows).astype(np.float16)


def lengths_of(rows: Floats) -> NDArray[np.float64]:
    """Lengths of rows (n, d) on the grid: sums of squares are exact, so their order does not matter."""
    lengths: NDArray[np.float64] = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1))
    return lengths
