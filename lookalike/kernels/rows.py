"""Rows: the best entries of every row of a table that has only some of its entries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


@compiled
def best_of_rows(
    starts: Ints,
    columns: Ints,
    values: Doubles,
    first: int,
    last: int,
    found: Ints,
    best: Doubles,
) -> None:
    """Find the largest values of rows ``first`` to ``last``, largest first; ties go to the lower column.

    Parameters
    ----------
    starts : array (n + 1,)
        Where each row begins.
    columns : array (m,)
        In increasing order within a row. An entry of a row and the column of the same number is passed over.
    values : array (m,)
    first, last : int
        The last row is left out.
    found, best : arrays (n, count)
        Written: columns and values of the best. A row must have so many.
    """
    count = found.shape[1]
    for row in range(first, last):
        filled = 0
        for entry in range(starts[row], starts[row + 1]):
            value = values[entry]
            if columns[entry] == row or (filled == count and value <= best[row, count - 1]):
                continue
            # Those before it have lower columns: an equal one stays in front.
            place = min(filled, count - 1)
            while place > 0 and best[row, place - 1] < value:
                best[row, place] = best[row, place - 1]
                found[row, place] = found[row, place - 1]
                place -= 1
            best[row, place] = value
            found[row, place] = columns[entry]
            filled = min(filled + 1, count)
