"""Sizes: what the tables of a gallery will take, told from a few of its sets."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.threads import thread_count
from lookalike.method import tables
from lookalike.method.proxies import MEANS_RUN, WIDER, WITH_MODES, is_by_means
from lookalike.resources import Need
from lookalike.similarities.contract import (
    GROWTH,
    MOST_COMPARED,
    TOGETHER,
    Prepared,
    PreparedSets,
    SetSimilarity,
)

# Where in the order of their number of faces the sets lie that are prepared to tell the size of all. The very
# largest may take minutes, and says no more: what lies beyond is on the line through the last two.
PLACES = (0.1, 0.3, 0.5, 0.7, 0.9)
# Products of a block in single precision, their screening and what is finished exactly.
BYTES_OF_A_PRODUCT = 12
# A pair of near means on its way into lists: numbers, score and modes, and their copies in order.
BYTES_OF_A_PAIR = 160
# Pairs that slices send back for each set, at most: of a run 8 enter each list (`proxies.FIRST_RUN`) and the
# run's own take as many, and two runs are under way.
PAIRS_OF_A_SET = 32


def spread(faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Choose a few sets of different size, by number; at least one if there is any.

    Parameters
    ----------
    faces : array (n,)
        Number of faces of each set.
    """
    order = np.argsort(faces, kind="stable")
    return np.unique(order[[int(place * len(order)) for place in PLACES]]) if len(order) else order


def index_need(
    similarity: SetSimilarity,
    faces: NDArray[np.int64],
    chosen: NDArray[np.int64],
    prepared: list[Prepared],
    count: int,
) -> Need:
    """Estimate what an index takes while it is made, and on the disk.

    Parameters
    ----------
    faces : array (n,)
        Number of faces of each set.
    chosen : array (m,)
        Numbers of some sets.
    prepared : list of m prepared sets
        These sets.
    count : int
        How many neighbours are kept.
    """
    sizes = np.array([sum(array.nbytes for array in arrays.values()) for arrays in prepared], dtype=float)
    # A start in each array, the id and the hash of its content.
    for_each = 8 * len(prepared[0]) + 64
    sets = int(_along(faces[chosen], sizes, faces).sum()) + for_each * len(faces)
    lists = lists_bytes(similarity, len(faces), count)
    some = PreparedSets.join(prepared)
    # Where neighbours are looked for by means, one for each set, and pairs of the runs that are under way.
    means = 0
    if is_by_means(similarity, len(faces)):
        pairs = 3 * thread_count() * MEANS_RUN * WIDER * count * BYTES_OF_A_PAIR
        means = 4 * len(faces) * similarity.faces(some)[0].shape[1] + pairs
    rows = similarity.sizes(some).mean() * len(faces)
    # Sets are joined while some of their parts are there; lists grow from those of an interrupted index,
    # and on the disk they are kept, were kept before, and are finished.
    joining = int(sets * min(2.0, GROWTH + 2 * TOGETHER / max(1, len(faces))))
    # Each set is prepared by tables of its faces, each with each, three at a time.
    widest = int(min(faces.max(initial=0), MOST_COMPARED)) if similarity.compares_faces else 0
    return Need(joining + 2 * lists + means + max(blocks_bytes(rows), 24 * widest**2), sets + 3 * lists)


def blocks_bytes(rows: float) -> int:
    """Bytes of the blocks that are compared at once, of so many rows in all."""
    return thread_count() * BYTES_OF_A_PRODUCT * int(min(rows, tables.BLOCK_ROWS)) ** 2


def pairs_bytes(similarity: SetSimilarity, total: int) -> int:
    """Bytes of the pairs that slices send back: two numbers, a score and two modes each."""
    return total * PAIRS_OF_A_SET * (24 + 2 * _mode_bytes(similarity))


def lists_bytes(similarity: SetSimilarity, total: int, count: int) -> int:
    """Bytes of the neighbours of so many sets: number and score of each, two modes of the first."""
    kept = max(0, min(count, total - 1))
    return total * (16 * kept + 2 * _mode_bytes(similarity) * min(kept, WITH_MODES))


def _mode_bytes(similarity: SetSimilarity) -> int:
    return math.prod(similarity.mode_shape) * np.dtype(similarity.mode_type).itemsize


def _along(
    known: NDArray[np.int64], values: NDArray[np.float64], asked: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Values on the lines through the mean at each known place, drawn on to both sides, never negative."""
    places, where = np.unique(known, return_inverse=True)
    means = np.bincount(where, weights=values) / np.bincount(where)
    if len(places) == 1:
        return np.full(len(asked), means[0])
    last = np.clip(np.searchsorted(places, asked), 1, len(places) - 1)
    slope = (means[last] - means[last - 1]) / (places[last] - places[last - 1])
    found: NDArray[np.float64] = np.maximum(0.0, means[last - 1] + slope * (asked - places[last - 1]))
    return found
