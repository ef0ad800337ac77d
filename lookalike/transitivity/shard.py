"""Shard: some of a collection's prepared sets, and what is asked of them in the place where they lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.codes import Codes
from lookalike.kernels.threads import in_order
from lookalike.similarities.contract import Matches, NearMatches, PreparedSets, SetSimilarity
from lookalike.transitivity.guessing import Guessed, guess
from lookalike.transitivity.tables import between, compare, set_blocks


@dataclass(frozen=True)
class Shard:
    """Prepared sets in the order of their ids.

    Attributes
    ----------
    similarity : SetSimilarity
    sets : PreparedSets
    coded : callable
        Codes faces (n, d) by points, or finds the codes that were kept.
    """

    similarity: SetSimilarity
    sets: PreparedSets
    coded: Callable[[NDArray[Any], NDArray[np.float32]], Codes] = Codes.of
    _codes: dict[bytes, Codes] = field(default_factory=dict, repr=False, compare=False)

    def codes(self, points: NDArray[np.float32]) -> Codes:
        """The codes of all faces by some points; those of the last points stay."""
        found = self._codes.get(points.tobytes())
        if found is None:
            found = self.coded(self.similarity.faces(self.sets)[0], points)
            self._codes.clear()
            self._codes[points.tobytes()] = found
        return found


def held(shard: Shard) -> NDArray[np.int64]:
    """Sizes of all sets, in the order of their ids."""
    return np.asarray(shard.similarity.sizes(shard.sets))


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


def matched_some(
    shard: Shard,
    queries: PreparedSets,
    chosen: NDArray[np.int64],
    which: NDArray[np.int64],
    others: NDArray[Any],
) -> tuple[Matches, NDArray[np.float64]]:
    """Match queries with some sets, and hold modes of these against those in which they meet the first query.

    Parameters
    ----------
    chosen : array (k,)
    which, others : arrays (m,), (m, *mode_shape)
        Modes, each of the set ``chosen[which]``.
    """
    matches = compare(shard.similarity, _own(queries), _own(shard.sets[chosen]))
    met = matches.modes_b[0][which]
    return matches, agreements(shard, chosen[which], met, others)


def face_rows(shard: Shard, sets: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[Any]:
    """Some faces: ``places[i]`` of set ``sets[i]``."""
    faces, starts = shard.similarity.faces(shard.sets)
    return np.asarray(faces[starts[sets] + places])


def guessed(shard: Shard, points: NDArray[np.float32], asked: NDArray[Any], most: int) -> Guessed:
    """Find the sets that are guessed to be nearest to some faces."""
    return guess(*shard.similarity.faces(shard.sets), shard.codes(points), asked, most)


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
