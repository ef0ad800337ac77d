"""Ranked lists of the gallery and the query as one collection, each headed by its own set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.transitivity.lists import with_query
from lookalike.transitivity.tables import Lists, Row


def ranked_together(lists: Lists, row: Row, length: int) -> tuple[NDArray[np.int64], int]:
    """Return the first `length` sets of everybody's list, itself first, and the query's number.

    Parameters
    ----------
    lists : Lists
    row : Row
        The query against all n sets.
    length : int
        At least 1; shorter lists than that if there are fewer sets.

    Returns
    -------
    ranked : array (n, length), or (n + 1, length) with a query from outside
    number : int
        The row of the query.
    """
    joint, number = with_query(lists, row, length - 1)
    return np.column_stack([np.arange(len(joint.sets)), joint.sets]), number
