"""Sampling: which faces of a long set are kept, when not all of them are wanted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.parameters import is_whole


def evenly(total: int, most: int | None = None) -> NDArray[np.intp]:
    """Choose places that are spread evenly, the first and the last among them.

    Parameters
    ----------
    total : int
        How many faces there are.
    most : int, optional
        How many are kept at most; all unless given. One alone is the first.

    Returns
    -------
    int array (min(total, most),)
        Places from 0 to `total` - 1, rising, none twice.
    """
    if most is None or most >= total:
        return np.arange(total)
    # Place i is i * (total - 1) / (most - 1), rounded; in whole numbers, so that no machine rounds otherwise.
    steps = max(1, most - 1)
    return (2 * np.arange(most) * (total - 1) + steps) // (2 * steps)


def check_most(most: object) -> None:
    """Refuse what cannot be the most faces of a set.

    Raises
    ------
    BadInput
        If it is given and is not a whole number from 1 up.
    """
    if most is not None and not is_whole(most, 1):
        raise BadInput(f"the most faces of a set must be a whole number from 1 up, got {most!r}")
