"""Neighbours: the nearest sets of each set, what is expected of other pairs, and the room that takes."""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.neighbours import best_of_rows
from lookalike.kernels.threads import blocks, in_order, one_blas_thread, thread_count
from lookalike.method import tables
from lookalike.method.proxies import (
    FLOORS,
    MEANS_RUN,
    WIDER,
    WITH_MODES,
    find_neighbours,
    is_by_means,
    is_screened,
    proxy_slots,
)
from lookalike.method.tables import Held, Lists, Row, Tables, nearest_to, rows_of_some, sizes_of
from lookalike.progress import Track, silent
from lookalike.resources import Need, check_memory
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
    means, rows = 0, similarity.sizes(some).mean() * len(faces)
    by_means = is_by_means(similarity, len(faces))
    if by_means or is_screened(similarity, int(rows)):
        # Means are there as they are and rounded; later, if all pairs are compared, all faces are rounded.
        known = similarity.faces(some)[0]
        means = max(5 * known.size // len(known), 0 if by_means else known.size // len(prepared)) * len(faces)
        pairs = MEANS_RUN * (WIDER if by_means else FLOORS) * count
        means += 3 * thread_count() * pairs * BYTES_OF_A_PAIR
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


# One comparison of all pairs serves every re-ranker that looks no further than this.
REACH = 128
# Where all pairs are known: scores, their order, and what is made of them.
BYTES_A_PAIR = 100


def nearest_lists(tables: Tables, count: int, track: Track = silent) -> Lists:
    """Return the nearest sets of each set; beyond those that the index keeps, all pairs are compared once.

    Parameters
    ----------
    tables : Tables
    count : int
        How many, as far as there are so many other sets.
    track : callable
        Shows progress.

    Raises
    ------
    StorageFailed
        If there is too little memory for them.
    """
    width = max(0, min(count, len(tables) - 1))
    near: Lists | None = next((lists for lists in tables.longer if lists.sets.shape[1] >= width), None)
    if tables.neighbours.sets.shape[1] >= width:
        near = Lists(tables.neighbours.sets, tables.neighbours.scores)
    if near is None:
        size = lists_bytes(tables.similarity, len(tables), max(count, REACH))
        if isinstance(tables.sets, Held):
            size += pairs_bytes(tables.similarity, len(tables))
        else:
            size += blocks_bytes(float(sizes_of(tables.similarity, tables.sets).sum()))
        check_memory(f"comparing {len(tables)} sets", size)
        found = find_neighbours(tables.similarity, tables.sets, max(count, REACH), track)
        near = Lists(found.sets, found.scores)
        tables.longer[:] = [near]
    lists = Lists(near.sets[:, :width], near.scores[:, :width])
    for array in lists:
        array.setflags(write=False)  # shared by all re-rankers
    return lists


def all_lists(tables: Tables, track: Track = silent) -> Lists:
    """All other sets of each, nearest first; ties go to the lower number. For galleries of few sets.

    Raises
    ------
    StorageFailed
        If there is too little memory for them.
    """
    total = len(tables)
    check_memory(f"comparing {total} sets", BYTES_A_PAIR * total**2)
    count, asked = rows_of_some(tables, total)
    scores = np.stack([row.scores for row in track(asked, "comparing sets", count)])
    # From both sides the same to the last bit.
    scores = np.triu(scores, 1)
    scores += scores.T
    np.fill_diagonal(scores, -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :-1]
    return Lists(order, np.take_along_axis(scores, order, axis=1))


def without_query(lists: Lists, member: int | None, count: int) -> Lists:
    """The gallery as if the query were not in it: passed over in every list, the next one takes its place.

    Parameters
    ----------
    lists : Lists
        With one column more than wanted.
    member : int or None
        The query's number if it is in the gallery. Its own list, which has no meaning here, stays as it is.
    count : int
        How many to return, as far as there are so many.
    """
    if member is None:
        return Lists(lists.sets[:, :count], lists.scores[:, :count])
    kept = proxy_slots(lists, count, member)
    return Lists(np.take_along_axis(lists.sets, kept, axis=1), np.take_along_axis(lists.scores, kept, axis=1))


def with_query(lists: Lists, row: Row, count: int) -> tuple[Lists, int]:
    """The gallery and the query as one collection, in which the query is somebody's neighbour too.

    A query from outside gets the number n and enters the lists of those to whom it is near enough; a member
    is in them already. Either way the result is the same but for the number, so leaving a member out of the
    gallery and asking for it from outside changes nothing.

    Parameters
    ----------
    lists : Lists
    row : Row
        The query against all sets.
    count : int
        How many neighbours of each to return, as far as there are so many.

    Returns
    -------
    lists : Lists
        n rows for a member, n + 1 for a query from outside.
    number : int
        The row of the query.
    """
    if row.member is not None:
        return Lists(lists.sets[:, :count], lists.scores[:, :count]), row.member
    total = len(lists.sets)
    width = min(count, total)
    # The query comes last, so that a stable sort gives ties to the sets of the gallery.
    sets = np.column_stack([lists.sets[:, :width], np.full(total, total)])
    scores = np.column_stack([lists.scores[:, :width], row.scores])
    order = np.argsort(-scores, axis=1, kind="stable")[:, :width]
    own = nearest_to(row, width)
    return (
        Lists(
            np.vstack([np.take_along_axis(sets, order, axis=1), own]),
            np.vstack([np.take_along_axis(scores, order, axis=1), row.scores[own]]),
        ),
        total,
    )


# Known: similarities of the pairs that stand in somebody's list, and what to expect of the others.


Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Levels are settled against each other; going half the way each time halves what is wrong.
SWEEPS = 40
# Sets whose pairs one thread puts in order before it asks for more.
BLOCK = 1024


class Known(NamedTuple):
    """Pairs of a gallery, row by row, each in the rows of both of its sets; every set is there with itself.

    The similarity of r and p is ``level + levels[r] + levels[p]``, and for the pairs that are known their
    residual more.
    """

    starts: Numbers  # (n + 1,): where the row of each set begins, and the end
    sets: Numbers  # (m,): the other set of each pair, in increasing order within a row
    residuals: Values  # (m,)
    levels: Values  # (n,)
    level: float

    @classmethod
    def of(cls, lists: Lists, sample: Numbers, scores: Values) -> Self:
        """Take the pairs of the lists, and the levels from the rows of some sets.

        Parameters
        ----------
        lists : Lists
            Nearest sets of each of the n sets.
        sample : array (r,)
            Numbers of some sets.
        scores : array (r, n)
            Their similarities with all sets.
        """
        total, width = lists.sets.shape
        rows = np.repeat(np.arange(total), width)
        ends = lists.sets.ravel()
        itself = np.arange(total)
        keys = np.concatenate([rows * total + ends, ends * total + rows, itself * (total + 1)])
        # A set with itself says nothing: it gets what an ordinary pair has.
        ordinary = np.full(total, _median_of_pairs(sample, scores))
        values = np.concatenate([lists.scores.ravel(), lists.scores.ravel(), ordinary])
        keys, first = np.unique(keys, return_index=True)
        owners, sets = np.divmod(keys, total)
        starts = np.searchsorted(owners, np.arange(total + 1))
        level, levels = _levels(starts, sets, sample, scores)
        residuals = values[first] - level - levels[owners] - levels[sets]
        return cls(starts, sets, residuals, levels, level)

    @property
    def owners(self) -> Numbers:
        """The set whose row each pair is in; (m,)."""
        return np.repeat(np.arange(len(self.levels)), np.diff(self.starts))

    def scores(self) -> Values:
        """Similarity of each pair; (m,)."""
        return self.level + self.levels[self.owners] + self.levels[self.sets] + self.residuals


def nearest_known(known: Known, values: Values, count: int) -> tuple[Numbers, Values]:
    """The best pairs of each set by some value of each pair, itself left out; two arrays (n, count).

    Parameters
    ----------
    known : Known
    values : array (m,)
    count : int
        No more than every set has.
    """
    found = np.empty((len(known.levels), count), dtype=np.int64)
    best = np.empty((len(known.levels), count))
    if count:

        def part(where: slice) -> None:
            best_of_rows(known.starts, known.sets, values, where.start, where.stop, found, best)

        for _ in in_order(part, blocks(len(found), BLOCK)):
            pass
    return found, best


def _median_of_pairs(sample: Numbers, scores: Values) -> float:
    others = np.arange(scores.shape[1]) != sample[:, None]
    return float(np.median(scores[others]))


def _levels(starts: Numbers, sets: Numbers, sample: Numbers, scores: Values) -> tuple[float, Values]:
    """How similar an ordinary pair is, and how much more each set is to sets that are not in its row."""
    unknown = np.ones(scores.shape, dtype=bool)
    for place, number in enumerate(sample):
        unknown[place, sets[starts[number] : starts[number + 1]]] = False
    counts = unknown.sum(axis=0)
    if not counts.any():  # every pair is known: nothing has to be expected
        return _median_of_pairs(sample, scores), np.zeros(scores.shape[1])
    level = float(scores[unknown].mean())
    counts = np.maximum(counts, 1)
    above = np.where(unknown, scores - level, 0.0).sum(axis=0) / counts
    shares = unknown / counts
    levels = np.zeros(scores.shape[1])
    with one_blas_thread():
        for _ in range(SWEEPS):
            levels = (levels + above - levels[sample] @ shares) / 2
    return level, levels
