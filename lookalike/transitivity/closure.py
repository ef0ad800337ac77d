"""Closure: how far neighbours of neighbours are neighbours, and what that tells of a gallery.

Sets of one person are near to each other, so lists that hold a person's sets are transitive. So are lists of
sets in the same light. But light reaches across the whole gallery, and a person ends somewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.triangles import count_triangles

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Lengths of lists that are looked at, as far as a gallery has so many sets: those up to the first share count
# in full, those up to the other less and less.
LENGTHS = (2, 4, 8, 16, 32, 64)
FULL_SHARE, LARGEST_SHARE = 0.4, 0.8
# Lists of such shares of the gallery tell how far what is closed reaches.
SHARES_OF_ALL = (1 / 16, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2)
# A gallery in which less than this is closed shows nothing.
LEAST = 0.1


def lengths_for(total: int) -> Numbers:
    """The lengths that lists of a gallery of so many sets may have."""
    return np.array([k for k in LENGTHS if k < min(LARGEST_SHARE * total, total - 1)], dtype=np.int64)


def counted(lengths: Numbers, total: int) -> Values:
    """How much lists of some lengths count in a gallery: less the nearer they come to naming everybody.

    Otherwise a length would come or go with one set more or less.
    """
    return np.array([1 - ramp(k / total, FULL_SHARE, LARGEST_SHARE) for k in lengths])


def closures(lists: Numbers) -> Values:
    """Of two mutual neighbours of each set: how often they are mutual neighbours, beyond chance; (n,).

    Lists at random have about 0, long ones less; lists of whole people have 1.

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


class Reach(NamedTuple):
    """How far across a gallery what is closed reaches."""

    across: float  # closure of lists of half of the gallery, of that of the most closed: about 1 for light
    lumps: float  # the largest closure of lists of a sixteenth of the gallery or more: near 1 for few people


def reach_of(lists: Numbers, square: Values) -> Reach:
    """Tell it from all short lists, and from long ones among some sets.

    Parameters
    ----------
    lists : array (n, k)
        Nearest sets of each.
    square : array (m, m)
        Similarities of some sets, evenly spread, with each other.
    """
    short = max(closure(lists[:, :k]) for k in lengths_for(len(lists)) if k <= lists.shape[1])
    some = square.copy()
    np.fill_diagonal(some, -np.inf)
    order = np.argsort(-some, axis=1, kind="stable")[:, :-1]
    long = [closure(order[:, : max(2, int(share * len(some)))]) for share in SHARES_OF_ALL]
    return Reach(max(0.0, long[-1]) / max(short, *long, LEAST), max(long))


def ramp(value: float, begin: float, end: float) -> float:
    """0 up to the beginning, 1 from the end on, and a straight line between."""
    return float(np.clip((value - begin) / (end - begin), 0.0, 1.0))
