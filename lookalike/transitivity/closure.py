"""Closure: how far neighbours of neighbours are neighbours, and what that tells of a gallery.

Sets of one person are near to each other, so lists that hold a person's sets are transitive. So are lists of
sets in the same light. But light reaches across the whole gallery, and a person ends somewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.triangles import count_triangles

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Lengths of lists that are looked at, as far as a gallery has so many sets.
LENGTHS = (2, 4, 8, 16, 32, 64)
LARGEST_SHARE = 0.8
# A gallery in which less than this is closed shows nothing.
LEAST = 0.05


def lengths_for(total: int) -> Numbers:
    """The lengths that lists of a gallery of so many sets may have."""
    return np.array([k for k in LENGTHS if k < min(LARGEST_SHARE * total, total - 1)], dtype=np.int64)


def closures(lists: Numbers) -> Values:
    """Of two mutual neighbours of each set: how often they are mutual neighbours, beyond chance; (n,).

    0 is what lists at random have, 1 what lists of whole people have.

    Parameters
    ----------
    lists : array (n, k)
        The k nearest of each of n sets.
    """
    total, k = lists.shape
    closed, met = count_triangles(lists)
    found: Values = (closed / np.maximum(met, 1) - k / total) / (1 - k / total)
    return found


def closure(lists: Numbers) -> float:
    """Mean of `closures` over the sets, so that a few copied many times do not decide."""
    return float(closures(lists).mean())


def reach_of(lists: Numbers, square: Values) -> float:
    """How much of what is closed is closed across half of the gallery: about 1 for light, less for people.

    Parameters
    ----------
    lists : array (n, k)
        Nearest sets of each.
    square : array (m, m)
        Similarities of some sets, evenly spread, with each other.
    """
    peak = max(closure(lists[:, :k]) for k in lengths_for(len(lists)))
    some = square.copy()
    np.fill_diagonal(some, -np.inf)
    half = np.argsort(-some, axis=1, kind="stable")[:, : max(1, len(some) // 2)]
    return max(0.0, closure(half)) / max(peak, LEAST)
