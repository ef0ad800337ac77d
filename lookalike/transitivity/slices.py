"""Slices: some of a gallery's prepared sets, and what is asked of them in the place where they are held."""

from __future__ import annotations

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
class Slice:
    """Prepared sets in the order of their ids, which do not change while they are held.

    Attributes
    ----------
    similarity : SetSimilarity
    sets : PreparedSets
    """

    similarity: SetSimilarity
    sets: PreparedSets
    _codes: dict[bytes, Codes] = field(default_factory=dict, repr=False, compare=False)

    def codes(self, points: NDArray[np.float32]) -> Codes:
        """The codes of all faces by some points; those of the last points stay."""
        found = self._codes.get(points.tobytes())
        if found is None:
            found = Codes.of(self.similarity.faces(self.sets)[0], points)
            self._codes.clear()
            self._codes[points.tobytes()] = found
        return found


def matched(held: Slice, queries: PreparedSets) -> Matches:
    """Match every query with every set of the slice."""
    return compare(held.similarity, own(queries), held.sets)


def agreements(
    held: Slice, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
) -> NDArray[np.float64]:
    """Agreement of two modes each of some sets."""
    return held.similarity.agreement_many(held.sets, which, modes, others)


def matched_some(
    held: Slice,
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
    matches = compare(held.similarity, own(queries), own(held.sets[chosen]))
    met = matches.modes_b[0][which]
    return matches, agreements(held, chosen[which], met, others)


def guessed(held: Slice, points: NDArray[np.float32], asked: NDArray[Any], most: int) -> Guessed:
    """Find the sets that are guessed to be nearest to some faces."""
    return guess(*held.similarity.faces(held.sets), held.codes(points), asked, most)


def near_later(
    held: Slice,
    run: PreparedSets,
    first: int,
    floors_run: NDArray[np.float64],
    floors_own: NDArray[np.float64],
    count: int,
) -> NearMatches:
    """Compare a run of sets with the sets of the slice that come after it, which begin at ``first``.

    Parameters
    ----------
    floors_run, floors_own : arrays
        What a pair must reach of the lists of the run, and of the later sets of the slice.
    count : int
        As for `SetSimilarity.match_near`.
    """
    run, later = own(run), held.sets[first:]

    def part(where: slice) -> NearMatches:
        near = held.similarity.match_near(run, later[where], floors_run, floors_own[where], count)
        return near._replace(sets_b=near.sets_b + (first + where.start))

    return joined(list(in_order(part, set_blocks(held.similarity, later))))


def beside(held: Slice, one: PreparedSets, before: int, after: int) -> Matches:
    """Match one set, as a, with those of the slice up to ``before``, and with those from ``after`` on."""
    return between(held.similarity, held.sets[:before], own(one), held.sets[after:])


def own(sets: PreparedSets) -> PreparedSets:
    """Sets as arrays of their own, which can be sent and written: of others machine code is made anew."""
    return PreparedSets({name: np.array(sets.arrays[name]) for name in sets.arrays}, sets.starts)


def joined(parts: list[NearMatches]) -> NearMatches:
    """Pairs one after the other."""
    return NearMatches(*(np.concatenate(pieces) for pieces in zip(*parts, strict=True)))
