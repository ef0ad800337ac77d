"""Agreement: two sets belong together as far as their lists of neighbours name the same sets.

Sets of one person are near to each other, so lists that hold a person's sets are transitive. So are lists of
sets in the same light. But light reaches across the whole gallery, and a person ends somewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.neighbours import (
    best_first,
    count_triangles,
    places_in_return,
    shared_of,
    shares_of_query,
    vector_of_query,
    vectors_of,
)
from lookalike.kernels.threads import blocks, in_order
from lookalike.method.calibration import logit
from lookalike.method.neighbours import Known, nearest_known
from lookalike.method.tables import PartialRow, Row

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


# Agreement: two sets belong together as far as their lists of neighbours name the same sets.
#
# Each set has one vector: whom the lists of the set and of its nearest name, lists of every length together,
# each as far as lists of that length are closed around the set. So no size of groups has to be known: lists
# of eight count where people have eight sets, and lists of sixty-four where they have seventy. The agreement
# of two sets is the Jaccard similarity of their vectors, as in k-reciprocal encoding [1]_.
#
# References
# ----------
# .. [1] Z. Zhong, L. Zheng, D. Cao, S. Li, "Re-ranking person re-identification with k-reciprocal encoding",
#    CVPR 2017.


# One set alone has few pairs: its closure is averaged with that of so many nearest.
SMOOTH = 8
# Largest entries of a vector that are kept: what the others have is not missed.
MOST = 128
# What is closed by chance and by likeness in general, where nobody has two sets (chosen with labels).
BY_CHANCE = 0.2
# So that a vector has something even where nothing is closed.
TINY = 1e-6
# Odds of one person by agreement: so many times its logit and the doublings of the lists that are closed,
# since the lists of two sets of many coincide less than those of two of a few. Twice as many sets have twice
# as many strangers among them, which halves the odds. Chosen with labels, by a logistic regression on
# galleries of many shapes (docs/explanation/method.md).
SLOPE, LEVEL = 2.7, -1.5
# Odds by agreement begin to count, and count alone, where so much is closed (chosen with labels).
HARDLY, CLEARLY = 0.3, 0.5
# Agreement beyond these is no surer.
LEAST_AGREED, MOST_AGREED = 0.005, 0.995
# Sets whose vectors one thread makes before it asks for more.
BLOCK = 256
# Of so many sets, numbers have 16 bits, and NumPy sorts them by counting.
FEW = 2**16


class Agreed(NamedTuple):
    """How far sets agree with a query, and how far lists around it are closed."""

    values: Values  # (m,): 0 to 1
    closed: Values  # (lengths,)
    length: float  # doublings of the lists that are closed around whoever agrees with the query, on average
    columns: Numbers  # (c,): the sets that the lists around the query name
    entries: Values  # (c,): how much of them
    believed: float  # how far lists are believed in this gallery at all
    shrunk: Values  # (n,): by how much vectors of sets are divided, into which a query from outside came
    own: Values  # (n,): what is shared in the column of such a query

    @property
    def trust(self) -> float:
        """How much agreement counts beside a pair's own value; 0 to 1."""
        return self.believed * trust(self.closed)

    @property
    def odds(self) -> Values:
        """Logarithm of the odds that sets show the query's person; (m,)."""
        agreed = np.clip(self.values, LEAST_AGREED, MOST_AGREED)
        found: Values = SLOPE * (logit(agreed) + self.length) + LEVEL - np.log(len(self.shrunk))
        return found

    @property
    def clearly(self) -> float:
        """How far these odds may be relied on; 0 to 1."""
        return self.believed * ramp(self.closed.max(), HARDLY, CLEARLY)


@dataclass(frozen=True, eq=False)
class Agreement:
    """Lists of every set by its pooled values, and its vector.

    Attributes
    ----------
    lists : array (n, k)
        Nearest sets of each, nearest first.
    floors : array (n, lengths)
        The value of the last of each length.
    closures, trusts : arrays (n, lengths)
        Of each set alone; smoothed, as they count in vectors.
    starts, columns, weights : arrays (n + 1,), (m,), (m,)
        Vectors, row by row.
    believed : float
        How far lists are believed at all; 0 to 1.
    """

    lists: Numbers
    floors: Values
    closures: Values
    trusts: Values
    starts: Numbers
    columns: NDArray[np.int32]
    weights: NDArray[np.float32]
    believed: float = 1.0

    @classmethod
    def of(cls, known: Known, pooled: Values, believed: float = 1.0) -> Self:
        """Rank the known pairs of each set, and make the vectors.

        Parameters
        ----------
        known : Known
        pooled : array (m,)
            A value of each pair.
        believed : float
            How far lists are believed at all.
        """
        total = len(known.levels)
        lengths = lengths_for(total)
        # Where sets cannot be reached, fewer pairs are known than a list takes.
        lengths = lengths[lengths < np.diff(known.starts).min()]
        lists, best = nearest_known(known, pooled, int(lengths[-1]))
        alone = np.stack([closures(lists[:, :k]) for k in lengths], axis=1)
        near = np.column_stack([np.arange(total), lists[:, :SMOOTH]])
        trusts = np.maximum(counted(lengths, total) * alone[near].mean(axis=1), TINY)
        back = _back(lists)
        columns, weights = np.zeros((total, MOST), np.int32), np.zeros((total, MOST), np.float32)
        counts = np.zeros(total, np.int64)

        def part(where: slice) -> None:
            vectors_of(lists, back, trusts, lengths, where.start, where.stop, columns, weights, counts)

        for _ in in_order(part, blocks(total, BLOCK)):
            pass
        filled = np.arange(MOST) < counts[:, None]
        starts = np.concatenate([[0], np.cumsum(counts)])
        floors = np.ascontiguousarray(best[:, lengths - 1])
        return cls(lists, floors, alone, trusts, starts, columns[filled], weights[filled], believed)

    @cached_property
    def mean_trust(self) -> float:
        """How much lists count, on average over the sets."""
        return self.believed * float(np.mean(_trusts(self.trusts)))

    def people(self, sample: Numbers) -> tuple[float, float]:
        """Share of the sets whose person clearly has several, and about how many people these show.

        Parameters
        ----------
        sample : array (m,)
            Numbers of some sets, evenly spread, from which it is told.
        """
        total = len(self.lists)
        everybody = np.arange(total)
        sizes = []
        for number in sample.tolist():
            agreed = self.with_query(PartialRow(everybody, np.zeros(total), number))
            if agreed.clearly >= 0.5:
                sizes.append(max(2, np.count_nonzero(agreed.odds > 0)))  # it agrees with itself
        return len(sizes) / len(sample), float((1 / np.array(sizes)).sum() * total / len(sample))

    def with_query(self, row: Row | PartialRow) -> Agreed:
        """Compare a query with every set; a member by its own vector, another by the lists around it.

        Parameters
        ----------
        row : Row or PartialRow
            With pooled values as scores; a partial one has those nearest to the query.
        """
        total = len(self.lists)
        shrunk, own = np.ones(total), np.zeros(total)
        if row.member is not None:
            where = slice(self.starts[row.member], self.starts[row.member + 1])
            columns, entries = self.columns[where].astype(np.int64), self.weights[where].astype(np.float64)
            closed = self.trusts[row.member]
        else:
            columns, entries, closed = self._of_query(row, shrunk, own)
        shared = own.copy()
        shared_of(*self._by_column, columns, entries, shrunk, shared)
        found = np.divide(shared, 2 - shared, out=shared)
        # A query from outside agrees with itself, and is none of the sets.
        length = self._length(found, closed[:0] if row.member is not None else closed)
        return Agreed(found[row.sets], closed, length, columns, entries, self.believed, shrunk, own)

    def entries_of(self, target: int, columns: Numbers) -> Values:
        """What the vector of a set has in some columns."""
        where = slice(self.starts[target], self.starts[target + 1])
        places = np.searchsorted(self.columns[where], columns)
        places = np.minimum(places, self.starts[target + 1] - self.starts[target] - 1)
        is_there = self.columns[where][places] == columns
        return np.where(is_there, self.weights[where][places], 0.0)

    def _of_query(self, row: Row | PartialRow, shrunk: Values, own: Values) -> tuple[Numbers, Values, Values]:
        """The vector of a query from outside but for its own column, and how closed lists around it are."""
        order = best_first(row.scores, row.scores, self.lists.shape[1])
        # A partial row may be shorter than a list: what is there must do.
        lengths = lengths_for(len(self.lists))[: self.floors.shape[1]]
        lengths = lengths[lengths <= len(order)]
        if not len(lengths):
            return order[:0], np.empty(0), np.zeros(1)
        near, values = row.sets[order], row.scores[order]
        sums, trusts = np.zeros(len(self.lists)), np.zeros(len(lengths))
        smooth = min(SMOOTH, len(near))
        column = vector_of_query(
            self.lists,
            self._back,
            self.floors,
            self.closures,
            lengths,
            counted(lengths, len(self.lists)),
            smooth,
            TINY,
            near,
            values,
            sums,
            trusts,
        )
        whole = trusts.sum()
        columns = np.flatnonzero(sums)
        some = np.unique(self._rows_with(columns))
        added = np.zeros(len(self.lists))
        shares_of_query(self.lists, self._back, self.trusts, lengths, near, values, self.floors, some, added)
        shrunk += added
        own[some] = np.minimum(column / whole, added[some] / shrunk[some])
        return columns, sums[columns] / whole, trusts

    def _length(self, agreed: Values, alone: Values) -> float:
        """Mean doubling of the lists that are closed, over all sets as far as they agree with a query.

        Of one set it is told by few pairs, and would change with one set more or less.

        Parameters
        ----------
        agreed : array (n,)
        alone : array (lengths,)
            What is closed around a query from outside; nothing for a member.
        """
        doubled, closed = self._doublings
        # Added up in one order, on any number of threads.
        of_all = agreed * doubled
        doublings = of_all.sum() + (alone * np.arange(1, len(alone) + 1)).sum()
        np.multiply(agreed, closed, out=of_all)
        return float(doublings / max(of_all.sum() + alone.sum(), TINY))

    @cached_property
    def _doublings(self) -> tuple[Values, Values]:
        """How much is closed around each set, each length times its doublings, and without; (n,) each."""
        lengths = np.arange(1, self.trusts.shape[1] + 1)
        return (self.trusts * lengths).sum(axis=1), self.trusts.sum(axis=1)

    def _rows_with(self, columns: Numbers) -> Numbers:
        starts, rows, _ = self._by_column
        parts = [rows[starts[column] : starts[column + 1]] for column in columns]
        return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, dtype=np.int64)

    @cached_property
    def _back(self) -> NDArray[np.uint8]:
        return _back(self.lists)

    @cached_property
    def _by_column(self) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.float32]]:
        total = len(self.lists)
        if total <= FEW:
            order = np.argsort(self.columns.astype(np.uint16), kind="stable")
            rows = np.repeat(np.arange(total, dtype=np.int32), np.diff(self.starts))
            starts = np.cumsum(np.bincount(self.columns + 1, minlength=total + 1))
            return starts, rows[order], self.weights[order]
        # Sorting more takes longer than loading what needs no sorting.
        from scipy.sparse import csc_array, csr_array

        found = csc_array(csr_array((self.weights, self.columns, self.starts), shape=(total, total)))
        return found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What `of` made, as named arrays; columns are numbers of sets, and are checked as such when read."""
        names = ("lists", "floors", "closures", "trusts", "starts", "weights")
        found = {name: getattr(self, name) for name in names}
        return found | {"sets": self.columns, "believed": np.array(self.believed)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Undo `to_arrays`."""
        named = dict(arrays)
        return cls(columns=named.pop("sets"), believed=float(named.pop("believed")), **named)


def trust(closed: Values) -> float:
    """How much lists count beside a pair's own value, by the closure of the most closed of them.

    If a share p of a list is kin, two of the list are both kin with chance p squared. So the root of what is
    closed beyond chance is the share of a list that deserves to be believed.
    """
    return float(_trusts(closed))


def _trusts(closed: Values) -> Values:
    """The same for closures of many (..., lengths)."""
    found: Values = np.sqrt(np.maximum(0.0, (closed.max(axis=-1) - BY_CHANCE) / (1 - BY_CHANCE)))
    return found


def _back(lists: Numbers) -> NDArray[np.uint8]:
    found = np.empty(lists.shape, dtype=np.uint8)

    def part(where: slice) -> None:
        places_in_return(lists, where.start, where.stop, found)

    for _ in in_order(part, blocks(len(lists), BLOCK)):
        pass
    return found
