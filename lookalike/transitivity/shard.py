"""Shard: some of a collection's prepared sets, and what is asked of them in the place where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.threads import in_order
from lookalike.similarities.contract import Matches, NearMatches, PreparedSets, SetSimilarity
from lookalike.transitivity.tables import between, compare, set_blocks


@dataclass(frozen=True)
class Shard:
    """Prepared sets in the order of their ids.

    Attributes
    ----------
    ids : tuple of str
    contents : tuple of str
        Content hash of each set when it was prepared.
    similarity : SetSimilarity
    sets : PreparedSets
    """

    ids: tuple[str, ...]
    contents: tuple[str, ...]
    similarity: SetSimilarity
    sets: PreparedSets


def held(shard: Shard) -> tuple[tuple[str, ...], tuple[str, ...], NDArray[np.int64]]:
    """Ids, contents and sizes of all sets."""
    return shard.ids, shard.contents, np.asarray(shard.similarity.sizes(shard.sets))


def some(shard: Shard, numbers: NDArray[np.int64]) -> PreparedSets:
    """Some sets, as arrays of their own that can be sent."""
    return _own(shard.sets[numbers])


def matched(shard: Shard, queries: PreparedSets) -> Matches:
    """Match every query with every set of the shard."""
    return compare(shard.similarity, _own(queries), shard.sets)


def agreements(
    shard: Shard, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
) -> NDArray[np.float64]:
    """Agreement of two modes each of some sets."""
    return shard.similarity.agreement_many(shard.sets, which, modes, others)


def near_later(
    shard: Shard,
    run: PreparedSets,
    first: int,
    floors_run: NDArray[np.float64],
    floors_own: NDArray[np.float64],
    count: int,
) -> NearMatches:
    """Compare a run of sets with the sets of the shard that come after it, which begin at ``first``.

    Parameters
    ----------
    floors_run, floors_own : arrays
        What a pair must reach of the lists of the run, and of the later sets of the shard.
    count : int
        As for `SetSimilarity.match_near`.
    """
    run, later = _own(run), shard.sets[first:]

    def part(where: slice) -> NearMatches:
        near = shard.similarity.match_near(run, later[where], floors_run, floors_own[where], count)
        return near._replace(sets_b=near.sets_b + (first + where.start))

    return joined(list(in_order(part, set_blocks(shard.similarity, later))))


def beside(shard: Shard, one: PreparedSets, before: int, after: int) -> Matches:
    """Match one set, as a, with those of the shard up to ``before``, and with those from ``after`` on."""
    return between(shard.similarity, shard.sets[:before], _own(one), shard.sets[after:])


def _own(sets: PreparedSets) -> PreparedSets:
    """Sets as arrays of their own, which can be sent and written: of others machine code is made anew."""
    return PreparedSets({name: np.array(sets.arrays[name]) for name in sets.arrays}, sets.starts)


def joined(parts: list[NearMatches]) -> NearMatches:
    """Pairs one after the other."""
    return NearMatches(*(np.concatenate(pieces) for pieces in zip(*parts, strict=True)))
