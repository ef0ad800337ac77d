"""Tables: a gallery as the method sees it, and the row that a query adds.

Which sets are found does not depend on how a gallery is spread: every slice finds as many as are wanted of
all, so the best of all of them together are those that one place would find.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, NotFound
from lookalike.kernels.codes import Codes
from lookalike.kernels.neighbours import best_first
from lookalike.kernels.screening import nearest_products
from lookalike.kernels.threads import blocks, in_order, thread_count
from lookalike.preparations.contract import Preparation
from lookalike.preparations.none import Nothing
from lookalike.similarities.contract import Matches, NearMatches, Prepared, PreparedSets, SetSimilarity, group

# Sets whose means are made at a time.
MEANS = 1 << 14


class Guessed(NamedTuple):
    """Sets that are guessed to be nearest to a query, by increasing number, and how near they are."""

    sets: NDArray[np.int64]  # (k,)
    guesses: NDArray[np.int64]  # (k,): by which they were chosen, ties for the lower number
    nearest: NDArray[np.float32]  # (k,): largest product of two faces, in single precision
    others: NDArray[np.float32]  # (m,): the same of the sets that were asked about besides


def means_of(faces: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """The mean face of each set; (n, d)."""
    found = np.empty((len(starts) - 1, faces.shape[1]), dtype=np.float32)
    for where in blocks(len(found), MEANS):
        first, last = starts[where.start], starts[where.stop]
        some = faces[first:last].astype(np.float32, copy=False)
        # Added up set by set: the same bits for one set and for a million.
        found[where] = np.add.reduceat(some, starts[where] - first, axis=0)
    found /= np.diff(starts)[:, None].astype(np.float32)
    return found


def guess(
    faces: NDArray[Any],
    starts: NDArray[np.int64],
    codes: Codes,
    asked: NDArray[Any],
    most: int,
    floor: int,
    others: NDArray[np.int64],
) -> Guessed:
    """Find the sets whose mean is guessed to be nearest to any of the faces asked with, and compare them.

    Parameters
    ----------
    faces : array (n, d)
        Of all sets, one after the other.
    starts : array (sets + 1,)
        Where each set begins.
    codes : Codes
        Of the means of these sets.
    asked : array (q, d)
        Faces of a query.
    most : int
        How many sets, as far as there are so many.
    floor : int
        As `Codes.floor` of the whole gallery tells it: sets below it are not looked at.
    others : array (m,)
        Numbers of sets that are compared besides.
    """
    sets, guesses = codes.nearest(asked, most, floor)
    nearest = nearest_products(faces, starts, np.concatenate([sets, others]), asked)
    return Guessed(sets, guesses, nearest[: len(sets)], nearest[len(sets) :])


def joined(parts: Sequence[Guessed], most: int) -> Guessed:
    """The best of several guesses about different sets, numbered alike."""
    sets, guesses, nearest, others = map(np.concatenate, zip(*parts, strict=True))
    chosen = np.lexsort((sets, -guesses))[:most]
    chosen = chosen[np.argsort(sets[chosen])]
    return Guessed(sets[chosen], guesses[chosen], nearest[chosen], others)


# Held: prepared sets that others hold too, and what is asked of them where they are held.


# What a candidate must reach to enter the lists of some sets, by their numbers.
Floors = Callable[[Any], NDArray[np.float64]]


class Compared(NamedTuple):
    """Pairs that may be neighbours, by the numbers of their sets; and whether a run of sets is done."""

    near: Sequence[NearMatches]
    ends_run: bool


class Pairs(NamedTuple):
    """Modes that will be held against those in which sets meet a query."""

    which: NDArray[np.int64]  # (m,): the set
    modes: NDArray[Any]  # (m, *mode_shape): one of its modes


class Held(Sequence[Prepared], ABC):
    """Prepared sets that are compared elsewhere: what a query asks of them.

    Whatever is asked has the same bits as if this process answered.
    """

    @abstractmethod
    def __getitem__(self, which: Any) -> Any:
        """One prepared set for a number; PreparedSets for a slice or an array of numbers."""

    @property
    @abstractmethod
    def sizes(self) -> NDArray[np.int64]:
        """Rows that each set brings to a comparison; (n,)."""

    @abstractmethod
    def compare(self, queries: PreparedSets) -> Matches:
        """Match every query with every set."""

    @abstractmethod
    def agreements(
        self, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Agreement of ``modes[i]`` with ``others[i]``, both modes of set ``which[i]``; (m,)."""


class HeldGallery(Held):
    """All sets of a gallery by their ids; a pair is compared by itself, the lower number first."""

    @property
    @abstractmethod
    def here(self) -> PreparedSets:
        """All sets, in this process."""

    @abstractmethod
    def near(self, runs: Sequence[slice], floors: Floors, count: int) -> Iterator[Compared]:
        """Compare one run of sets after the other with itself and with all later sets."""

    @abstractmethod
    def beside(self, number: int) -> Matches:
        """Match one set, as a, with every other set, in their order; (1, n - 1)."""

    @abstractmethod
    def guess(
        self, grid: NDArray[np.float32], asked: NDArray[Any], most: int, floor: int, others: NDArray[np.int64]
    ) -> Guessed:
        """Find the sets that are guessed to be nearest to some faces, by codes of this grid; see `guess`."""

    @abstractmethod
    def divided(self, work: Callable[..., Any], given: tuple[Any, ...], total: int) -> list[Any]:
        """Let each slice work out a part of something about so many sets; the parts come in order.

        Parameters
        ----------
        work : callable
            A function of a module. It is called with the slice, what is given, and the first set of its part
            and the one behind the last.
        """

    @abstractmethod
    def narrowed(self, chosen: NDArray[np.int64], pairs: Pairs) -> Held:
        """Some sets, in this order, of which pairs of modes will be asked about, by their place there."""


def whole(sets: Held) -> HeldGallery:
    """The same sets, which are asked what only a whole gallery can tell.

    Raises
    ------
    BadInput
        If they are only some of a gallery.
    """
    if not isinstance(sets, HeldGallery):
        raise BadInput(f"these are {len(sets)} sets of a larger gallery: ask about all of its sets")
    return sets


# Tables: a gallery as the method sees it, and the row that a query adds.


# Rows of faces or directions in one block of a comparison: its products take at most 32 MB.
BLOCK_ROWS = 2048
# Products of rows that take one thread less than a millisecond.
FEW_PRODUCTS = 1 << 16


class Neighbours(NamedTuple):
    """The nearest sets of each set, nearest first, itself left out; ties go to the lower number."""

    sets: NDArray[np.int64]  # (n, k)
    scores: NDArray[np.float64]  # (n, k): s3
    own_modes: NDArray[Any]  # (n, at most k, *mode_shape): mode(set | neighbour)
    their_modes: NDArray[Any]  # the same of mode(neighbour | set); only proxies have them


class Lists(NamedTuple):
    """Neighbours without their modes: nearest first, the set itself left out; ties go to the lower number."""

    sets: NDArray[np.int64]  # (n, k)
    scores: NDArray[np.float64]  # (n, k)


@dataclass(frozen=True)
class Tables:
    """Everything derived from a gallery: prepared sets in the order of their ids, and their neighbours.

    Tables that are narrowed to some targets (`narrowed`) know a few more sets, which come behind the targets,
    have no neighbours of their own and are not counted.
    """

    ids: tuple[str, ...]
    dimension: int  # how many numbers describe a face
    similarity: SetSimilarity
    sets: PreparedSets | Held
    neighbours: Neighbours
    fingerprint: str = ""  # what shaped stored tables; empty for tables that live in memory only
    # Longer lists than a proxy needs, made when a re-ranker first asks (`nearest_lists`).
    longer: list[Lists] = field(default_factory=list, repr=False, compare=False)
    # What was done to faces before they were prepared, and is done to those of a query from outside.
    preparation: Preparation = field(default_factory=Nothing)

    def __len__(self) -> int:
        return len(self.neighbours.sets)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Number of each set by its id."""
        return {id: number for number, id in enumerate(self.ids)}

    def number(self, id: str) -> int:
        """Return the number of a set.

        Raises
        ------
        NotFound
            If no set has this id.
        """
        if id not in self.numbers:
            raise NotFound(
                f"there is no set called {id!r} among the {len(self)} indexed: see `lookalike list`"
            )
        return self.numbers[id]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Name every array; similarity and preparation are kept elsewhere."""
        sets = whole(self.sets).here if isinstance(self.sets, Held) else self.sets
        near = {f"neighbours/{name}": array for name, array in self.neighbours._asdict().items()}
        dimension = np.array([self.dimension])
        return {**ids_to_arrays(self.ids), "dimension": dimension, **sets.to_arrays(), **near}

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        similarity: SetSimilarity,
        preparation: Preparation,
        fingerprint: str = "",
        ids: tuple[str, ...] | None = None,
    ) -> Self:
        """Undo `to_arrays`; ids that are known already need not be read."""
        sets, near = PreparedSets.from_arrays(arrays), Neighbours(**group(arrays, "neighbours/"))
        known, dimension = ids_of(arrays) if ids is None else ids, int(arrays["dimension"][0])
        return cls(known, dimension, similarity, sets, near, fingerprint, preparation=preparation)


def ids_to_arrays(ids: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Name the arrays that hold ids."""
    encoded = [id.encode() for id in ids]
    return {
        "ids/bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "ids/starts": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
    }


def ids_of(arrays: Mapping[str, NDArray[Any]]) -> tuple[str, ...]:
    """Undo `ids_to_arrays`."""
    text, ends = bytes(arrays["ids/bytes"]), arrays["ids/starts"]
    return tuple(text[a:b].decode() for a, b in pairwise(ends))


class Row(NamedTuple):
    """The baseline comparison of one query with every set of the gallery."""

    scores: NDArray[np.float64]  # (n,): s2 of each target, s1 of each proxy
    query_modes: NDArray[Any]  # (n, *mode_shape): mode(query | set)
    set_modes: NDArray[Any]  # (n, *mode_shape): mode(set | query)
    member: int | None  # the query's own number if it is in the gallery: never a target, never a proxy

    @property
    def sets(self) -> NDArray[np.int64]:
        """The sets that are compared; (n,)."""
        return np.arange(len(self.scores))


class PartialRow(NamedTuple):
    """The similarities of one query with some sets of the gallery."""

    sets: NDArray[np.int64]  # (m,): their numbers, in increasing order
    scores: NDArray[np.float64]  # (m,)
    member: int | None  # as in `Row`

    def of(self, sets: NDArray[np.int64], missing: float = 0.0) -> PartialRow:
        """What it has of some sets, in their order, and something else of those that it lacks."""
        places = np.minimum(np.searchsorted(self.sets, sets), len(self.sets) - 1)
        return self._replace(
            sets=sets, scores=np.where(self.sets[places] == sets, self.scores[places], missing)
        )


class Near(NamedTuple):
    """What a query was compared with in single precision, to tell which sets are worth ranking."""

    sets: NDArray[np.int64]  # (m,): the nearest, by increasing number
    scores: NDArray[np.float64]  # (m,)
    spread: NDArray[np.int64]  # (k,): some from all over the gallery
    spread_scores: NDArray[np.float64]  # (k,)


def nearest_to(row: Row | PartialRow, count: int) -> NDArray[np.int64]:
    """Numbers of the sets nearest to a query, nearest first, itself left out; ties go to the lower number."""
    # One more, in case the query is among them.
    near = row.sets[best_first(row.scores, row.scores, count + 1)]
    return (near if row.member is None else near[near != row.member])[:count]


def compare(similarity: SetSimilarity, queries: PreparedSets, sets: PreparedSets | Held) -> Matches:
    """Match every query with every set, in blocks; memory beyond the result stays bounded."""
    if isinstance(sets, Held):
        return sets.compare(queries)

    runs = _runs(similarity, queries, sets)
    products = similarity.sizes(queries).sum() * similarity.sizes(sets).sum()
    # For the few sets of a shortlist, starting threads and copying what is not compared would take longer.
    few = len(runs) < 2 or products <= FEW_PRODUCTS
    some: Iterable[PreparedSets] = [sets] if few else (sets[where] for where in runs)
    parts = list(in_order(partial(similarity.match_many, queries), some, 1 if few else None))
    return Matches(*(np.concatenate(pieces, axis=1) for pieces in zip(*parts, strict=True)))


def beside(similarity: SetSimilarity, sets: PreparedSets | Held, number: int) -> Matches:
    """Match one set, as a, with every other set, the lower number first in each comparison; (1, n - 1)."""
    if isinstance(sets, Held):
        return whole(sets).beside(number)
    return between(similarity, sets[:number], sets[number : number + 1], sets[number + 1 :])


def between(
    similarity: SetSimilarity, before: PreparedSets, one: PreparedSets, after: PreparedSets
) -> Matches:
    """Match one set, as a, with sets that come before it and with sets that come after it, in this order."""
    scores, theirs, own = (np.swapaxes(array, 0, 1) for array in compare(similarity, before, one))
    parts = zip((scores, own, theirs), compare(similarity, one, after), strict=True)
    return Matches(*(np.concatenate(both, axis=1) for both in parts))


def agreements(
    tables: Tables, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
) -> NDArray[np.float64]:
    """Agreement of ``modes[i]`` with ``others[i]``, both modes of set ``which[i]``; (m,)."""
    if isinstance(tables.sets, Held):
        return tables.sets.agreements(which, modes, others)
    return tables.similarity.agreement_many(tables.sets, which, modes, others)


def rows(tables: Tables, queries: PreparedSets, members: list[int | None]) -> Iterator[Row]:
    """Yield the row of each query, comparing a block of queries at a time."""
    for where in set_blocks(tables.similarity, queries):
        matches = compare(tables.similarity, queries[where], tables.sets)
        for place, member in enumerate(members[where]):
            yield Row(matches.scores[place], matches.modes_a[place], matches.modes_b[place], member)


def rows_of_some(tables: Tables, most: int) -> tuple[int, Iterator[Row]]:
    """How many, and the rows of that many sets, evenly spread, asked as queries."""
    count = min(most, len(tables))
    chosen = np.unique(np.linspace(0, len(tables) - 1, count).astype(np.int64))
    return len(chosen), rows(tables, tables.sets[chosen], chosen.tolist())


def _runs(similarity: SetSimilarity, queries: PreparedSets, sets: PreparedSets) -> list[slice]:
    """Cut sets into blocks, or, for queries of few rows, into fewer and longer runs of equal work.

    A run of several blocks makes no more products with a few rows than one block with another, and threads
    that change hands less often wait less.
    """
    pieces = set_blocks(similarity, sets)
    together = max(BLOCK_ROWS // max(int(similarity.sizes(queries).sum()), 1), 1)
    # Two for each thread, so that one that is held up leaves some of its work to the others.
    turns = 2 * thread_count()
    count = -(-len(pieces) // (together * turns)) * turns
    if count >= len(pieces):
        return pieces
    ends = np.cumsum(similarity.sizes(sets))
    stops = np.searchsorted(ends, ends[-1] * np.arange(1, count) / count) + 1
    return [slice(a, b) for a, b in pairwise([0, *stops.tolist(), len(sets)]) if a < b]


def sizes_of(similarity: SetSimilarity, sets: PreparedSets | Held) -> NDArray[np.int64]:
    """Rows that each set brings to a comparison; (n,)."""
    return sets.sizes if isinstance(sets, Held) else np.asarray(similarity.sizes(sets))


def set_blocks(similarity: SetSimilarity, sets: PreparedSets | Held) -> list[slice]:
    """Cut sets into runs whose padded rows fit a block; a set that is larger alone is a block of its own."""
    if isinstance(sets, PreparedSets) and sets.blocks is not None and sets.blocks[0] == BLOCK_ROWS:
        return sets.blocks[1]
    sizes = sizes_of(similarity, sets)
    found: list[slice] = []
    start = 0
    while start < len(sizes):
        # No more than these can fit, because none of the padded rows is shorter than the first set.
        room = BLOCK_ROWS // max(int(sizes[start]), 1) + 1
        longest = np.maximum.accumulate(sizes[start : start + room if sizes[start] else None])
        fitting = int(np.count_nonzero(longest * np.arange(1, len(longest) + 1) <= BLOCK_ROWS))
        found.append(slice(start, start + max(fitting, 1)))
        start = found[-1].stop
    if isinstance(sets, PreparedSets):
        sets.blocks = BLOCK_ROWS, found
    return found
