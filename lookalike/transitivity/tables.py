"""Tables: a gallery as the method sees it, and the row that a query adds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import NotFound
from lookalike.kernels.threads import in_order, thread_count
from lookalike.preparations.contract import Preparation
from lookalike.preparations.none import Nothing
from lookalike.similarities.contract import Matches, PreparedSets, SetSimilarity
from lookalike.transitivity.held import Held, whole

# Rows of faces or directions in one block of a comparison: its products take at most 32 MB.
BLOCK_ROWS = 2048


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
    # Longer lists than a proxy needs, made when a second stage first asks (`nearest_lists`).
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

    def of(self, sets: NDArray[np.int64]) -> PartialRow:
        """What it has of some of its sets, in increasing order."""
        return self._replace(sets=sets, scores=self.scores[np.searchsorted(self.sets, sets)])


def compare(similarity: SetSimilarity, queries: PreparedSets, sets: PreparedSets | Held) -> Matches:
    """Match every query with every set, in blocks; memory beyond the result stays bounded."""
    if isinstance(sets, Held):
        return sets.compare(queries)

    def part(where: slice) -> Matches:
        return similarity.match_many(queries, sets[where])

    parts = list(in_order(part, _runs(similarity, queries, sets)))
    if not parts:
        return similarity.match_many(queries, sets)
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
    blocks = set_blocks(similarity, sets)
    together = max(BLOCK_ROWS // max(int(similarity.sizes(queries).sum()), 1), 1)
    # Two for each thread, so that one that is held up leaves some of its work to the others.
    turns = 2 * thread_count()
    count = -(-len(blocks) // (together * turns)) * turns
    if count >= len(blocks):
        return blocks
    ends = np.cumsum(similarity.sizes(sets))
    stops = np.searchsorted(ends, ends[-1] * np.arange(1, count) / count) + 1
    return [slice(a, b) for a, b in pairwise([0, *stops.tolist(), len(sets)]) if a < b]


def sizes_of(similarity: SetSimilarity, sets: PreparedSets | Held) -> NDArray[np.int64]:
    """Rows that each set brings to a comparison; (n,)."""
    return sets.sizes if isinstance(sets, Held) else np.asarray(similarity.sizes(sets))


def set_blocks(similarity: SetSimilarity, sets: PreparedSets | Held) -> list[slice]:
    """Cut sets into runs whose padded rows fit a block; a set that is larger alone is a block of its own."""
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
    return found
