"""Slices: the prepared sets of a gallery, cut into parts for an engine, and asked where they are held."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from lookalike.engines.contract import Answers, Engine, Label, Machine, Resident, Residents
from lookalike.gallery.gallery import Gallery
from lookalike.kernels.codes import Codes
from lookalike.kernels.threads import in_order
from lookalike.method.tables import (
    Compared,
    Floors,
    Guessed,
    Held,
    HeldGallery,
    Pairs,
    between,
    compare,
    guess,
    joined,
    means_of,
    set_blocks,
)
from lookalike.similarities.contract import Matches, NearMatches, PreparedSets, SetSimilarity


@dataclass(frozen=True)
class Slice:
    """Prepared sets in the order of their ids, which do not change while they are held."""

    similarity: SetSimilarity
    sets: PreparedSets
    _codes: dict[bytes, Codes] = field(default_factory=dict, repr=False, compare=False)

    def codes(self, grid: NDArray[np.float32]) -> Codes:
        """The codes of the means of all sets by a grid; those of the last grid stay."""
        found = self._codes.get(grid.tobytes())
        if found is None:
            found = Codes.of(means_of(*self.similarity.faces(self.sets)), grid)
            self._codes.clear()
            self._codes[grid.tobytes()] = found
        return found


def matched(held: Slice, queries: PreparedSets) -> Matches:
    """Match every query with every set of the slice."""
    return compare(held.similarity, own_copy(queries), held.sets)


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

    `others` (m, *mode_shape) are modes, each of the set ``chosen[which]``.
    """
    matches = compare(held.similarity, own_copy(queries), own_copy(held.sets[chosen]))
    met = matches.modes_b[0][which]
    return matches, agreements(held, chosen[which], met, others)


def guessed(
    held: Slice,
    grid: NDArray[np.float32],
    asked: NDArray[Any],
    most: int,
    floor: int,
    others: NDArray[np.int64],
) -> Guessed:
    """Find the sets that are guessed to be nearest to some faces."""
    return guess(*held.similarity.faces(held.sets), held.codes(grid), asked, most, floor, others)


def near_later(
    held: Slice,
    run: PreparedSets,
    first: int,
    floors_run: NDArray[np.float64],
    floors_own: NDArray[np.float64],
    count: int,
) -> NearMatches:
    """Compare a run of sets with the sets of the slice that come after it, which begin at ``first``.

    The floors are what a pair must reach of the lists of the run, and of the later sets of the slice.
    """
    run, later = own_copy(run), held.sets[first:]

    def part(where: slice) -> NearMatches:
        near = held.similarity.match_near(run, later[where], floors_run, floors_own[where], count)
        return near._replace(sets_b=near.sets_b + (first + where.start))

    return joined_matches(list(in_order(part, set_blocks(held.similarity, later))))


def beside(held: Slice, one: PreparedSets, before: int, after: int) -> Matches:
    """Match one set, as a, with those of the slice up to ``before``, and with those from ``after`` on."""
    return between(held.similarity, held.sets[:before], own_copy(one), held.sets[after:])


def own_copy(sets: PreparedSets) -> PreparedSets:
    """Sets as arrays of their own, which can be sent and written: of others machine code is made anew."""
    return PreparedSets({name: np.array(sets.arrays[name]) for name in sets.arrays}, sets.starts)


def joined_matches(parts: list[NearMatches]) -> NearMatches:
    """Pairs one after the other."""
    return NearMatches(*(np.concatenate(pieces) for pieces in zip(*parts, strict=True)))


# Spread: the prepared sets of a gallery, cut into slices, wherever these are held.


# Runs that are compared at once: while the answers of one are merged, the slices are busy with the next.
WAITING = 2


class SpreadSets(HeldGallery):
    """Sets of a gallery in the order of their ids, each of which some slice holds too.

    What many sets are asked is asked of the slices that are open (`residents`); a few sets are looked up
    here. `places` are the numbers of the sets of each slice in the gallery, ascending.
    """

    def __init__(
        self,
        residents: Residents,
        places: Sequence[NDArray[np.int64]],
        sets: PreparedSets,
        similarity: SetSimilarity,
    ) -> None:
        self.residents = residents
        self.places = list(places)
        self.similarity = similarity
        self._sets = sets
        self._sizes = np.asarray(similarity.sizes(sets))
        # The grid that codes were made by, and what stands for it in questions.
        self._grid: tuple[NDArray[np.float32], Any] | None = None
        self._owner = np.empty(len(sets), dtype=np.int64)
        self._place = np.empty(len(sets), dtype=np.int64)
        for number, own in enumerate(self.places):
            self._owner[own] = number
            self._place[own] = np.arange(len(own))

    @property
    def here(self) -> PreparedSets:
        """All sets, in this process."""
        return self._sets

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Rows that each set brings to a comparison; (n,)."""
        return self._sizes

    def __len__(self) -> int:
        return len(self._sets)

    def __getitem__(self, which: Any) -> Any:
        """One prepared set for a number; PreparedSets for a slice or an array of numbers."""
        return self._sets[which]

    def compare(self, queries: PreparedSets) -> Matches:
        """Match every query with every set: one round."""
        shared = self.residents.share(own_copy(queries))
        found = self.residents.ask_all(matched, shared)
        return Matches(*(_merged(self.places, pieces) for pieces in zip(*found, strict=True)))

    def agreements(
        self, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Agreement of modes, each asked of the slice that has the set: one round."""
        found = np.empty(len(which))
        wheres = self.by_owner(which)
        given = {
            owner: (self._place[which[where]], modes[where], others[where]) for owner, where in wheres.items()
        }
        for owner, values in self.residents.ask(agreements, given).items():
            found[wheres[owner]] = values
        return found

    def near(self, runs: Sequence[slice], floors: Floors, count: int) -> Iterator[Compared]:
        """Send each run to all slices, which compare it with their later sets; here it meets itself."""
        waiting: deque[tuple[slice, PreparedSets, Answers]] = deque()
        for run in runs:
            sets = own_copy(self._sets[run])
            waiting.append((run, sets, self._sent(run, sets, floors, count)))
            if len(waiting) == WAITING:
                yield from self._met(*waiting.popleft(), floors, count)
        while waiting:
            yield from self._met(*waiting.popleft(), floors, count)

    def beside(self, number: int) -> Matches:
        """Match one set, as a, with every other set: one round."""
        one = self.residents.share(own_copy(self._sets[number : number + 1]))
        before, after = (
            [int(np.searchsorted(own, number, side)) for own in self.places] for side in ("left", "right")
        )
        given = {each: (one, *ends) for each, ends in enumerate(zip(before, after, strict=True))}
        found = self.residents.ask(beside, given)
        others = [own[own != number] for own in self.places]
        others = [own - (own > number) for own in others]
        pieces = zip(*(found[each] for each in range(len(self.places))), strict=True)
        return Matches(*(_merged(others, each) for each in pieces))

    def guess(
        self, grid: NDArray[np.float32], asked: NDArray[Any], most: int, floor: int, others: NDArray[np.int64]
    ) -> Guessed:
        """Let every slice guess, and take the best: one round."""
        if self._grid is None or self._grid[0] is not grid:
            self._grid = grid, self.residents.share(grid)
        wheres = self.by_owner(others)
        nobody = np.empty(0, dtype=np.int64)
        given = {
            number: (self._grid[1], asked, most, floor, self._place[others[wheres.get(number, nobody)]])
            for number in range(len(self.places))
        }
        answers = self.residents.ask(guessed, given)
        found = joined(
            [one._replace(sets=self.places[number][one.sets]) for number, one in answers.items()], most
        )
        order = np.concatenate([wheres.get(number, nobody) for number in answers])
        return found._replace(others=found.others[np.argsort(order)])

    def divided(self, work: Callable[..., Any], given: tuple[Any, ...], total: int) -> list[Any]:
        """Give each slice an equal part: one round."""
        shared = [self.residents.share(value) for value in given]
        ends = np.linspace(0, total, len(self.residents) + 1).astype(np.int64).tolist()
        parts = {number: (*shared, *ends[number : number + 2]) for number in range(len(self.residents))}
        found = self.residents.ask(work, parts)
        return [found[number] for number in parts]

    def narrowed(self, chosen: NDArray[np.int64], pairs: Pairs) -> Held:
        """Some sets, of which pairs of modes will be asked about: nothing is asked yet."""
        return NarrowSets(self, chosen, pairs)

    def _sent(self, run: slice, sets: PreparedSets, floors: Floors, count: int) -> Answers:
        shared, floors_run = self.residents.share(sets), floors(run)
        given: dict[int, tuple[Any, ...]] = {}
        for number, own in enumerate(self.places):
            first = int(np.searchsorted(own, run.stop))
            if first < len(own):
                given[number] = (shared, first, floors_run, floors(own[first:]), count)
        return self.residents.begin(near_later, given) if given else dict

    def _met(
        self, run: slice, sets: PreparedSets, answers: Answers, floors: Floors, count: int
    ) -> Iterator[Compared]:
        own = floors(run)
        within = self.similarity.match_near(sets, sets, own, own, count, upper=True)
        found = [_numbered(within, run.start, np.arange(run.start, run.stop))]
        found += [_numbered(near, run.start, self.places[number]) for number, near in answers().items()]
        yield Compared(found, True)

    def by_owner(self, numbers: NDArray[np.int64]) -> Mapping[int, NDArray[np.int64]]:
        """Where among some numbers those of each slice stand."""
        owners = self._owner[numbers]
        return {int(owner): np.flatnonzero(owners == owner) for owner in np.unique(owners)}

    def in_slice(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers that some sets have in their slices."""
        return self._place[numbers]


class NarrowSets(Held):
    """Some sets of several slices; what a query will ask about their modes is asked when it is compared.

    `chosen` (k,) are their numbers in the gallery; `pairs` are modes of these sets, by their place among
    them, that will be held against those of a query.
    """

    def __init__(self, gallery: SpreadSets, chosen: NDArray[np.int64], pairs: Pairs) -> None:
        self._gallery, self._chosen, self._pairs = gallery, chosen, pairs
        self._met: tuple[NDArray[Any], NDArray[np.float64]] | None = None

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Rows that each set brings to a comparison; (k,)."""
        return self._gallery.sizes[self._chosen]

    def __len__(self) -> int:
        return len(self._chosen)

    def __getitem__(self, which: Any) -> Any:
        """One prepared set for a place; PreparedSets for a slice or an array of places."""
        return self._gallery[self._chosen[which]]

    def compare(self, queries: PreparedSets) -> Matches:
        """Match every query with every set: one round, in which the modes of the first are looked at too."""
        residents, gallery = self._gallery.residents, self._gallery
        shared = residents.share(own_copy(queries))
        wheres, pairs = gallery.by_owner(self._chosen), gallery.by_owner(self._chosen[self._pairs.which])
        nothing = np.empty(0, dtype=np.int64)
        given, own = {}, np.empty(len(self), dtype=np.int64)
        for owner, where in wheres.items():
            own[where] = np.arange(len(where))
            asked = pairs.get(owner, nothing)
            which = own[self._pairs.which[asked]]
            chosen = gallery.in_slice(self._chosen[where])
            given[owner] = (shared, chosen, which, self._pairs.modes[asked])
        found = residents.ask(matched_some, given)
        agreed = np.empty(len(self._pairs.which))
        for owner, (_, values) in found.items():
            agreed[pairs.get(owner, nothing)] = values
        owners = list(found)
        pieces = zip(*(found[owner][0] for owner in owners), strict=True)
        matches = Matches(*(_merged([wheres[owner] for owner in owners], each) for each in pieces))
        self._met = matches.modes_b[0], agreed
        return matches

    def agreements(
        self, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Agreement of modes: known already if they are the pairs of the query that was just compared."""
        if self._met is not None and len(which) == len(self._pairs.which):
            met, agreed = self._met
            asked = (which, self._pairs.which), (others, self._pairs.modes), (modes, met[which])
            if all(np.array_equal(one, other) for one, other in asked):
                return agreed
        return self._gallery.agreements(self._chosen[which], modes, others)


def _merged(places: Sequence[NDArray[np.int64]], pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """What all slices say of their sets, (m, n_i, ...), in the order of the gallery: (m, n, ...)."""
    first = pieces[0]
    merged = np.empty((len(first), sum(map(len, places)), *first.shape[2:]), dtype=first.dtype)
    for own, piece in zip(places, pieces, strict=True):
        merged[:, own] = piece
    return merged


def _numbered(near: NearMatches, start: int, own: NDArray[np.int64]) -> NearMatches:
    """Pairs of a run that begins at ``start`` and a slice, by the numbers of the gallery."""
    return near._replace(sets_a=near.sets_a + start, sets_b=own[near.sets_b])


# Slice: cut the prepared sets of a gallery for an engine, into as many parts as that has machines now.
#
# A slice holds a copy of some prepared sets, and nothing else: no file is needed where it is held. While it
# is held it does not change. Whoever had it made still has all sets, from which it is made again if it is
# lost.


# Gives sets to an engine, or leaves them as they are.
Hold = Callable[[PreparedSets], PreparedSets | HeldGallery]


def hold_slices(
    sets: PreparedSets, similarity: SetSimilarity, engine: Engine | None, label: Label | None = None
) -> PreparedSets | HeldGallery:
    """Let an engine hold sets, or return them as they are where it leaves them in one piece.

    `label` is that by which others know what is held; sets of the same label are the same. Its part is
    filled in here.
    """
    count = 0 if engine is None else min(engine.slice_count, len(sets))
    if engine is None or not count:
        return sets
    # Dealt out in turn: each set is compared with later ones only, so that the last of contiguous parts would
    # have most of the work.
    places = [np.arange(first, len(sets), count) for first in range(count)]
    labels = [] if label is None else [_part(label, number, count) for number in range(count)]
    residents = engine.hold(Slice, _Cut(sets, similarity, places), labels)
    return SpreadSets(residents, places, sets, similarity)


def _part(label: Label, number: int, count: int) -> Label:
    return Label(label.whole, f"{number + 1} of {count}", label.kind, label.content, f"{label.made} {count}")


class _Cut(Sequence[tuple[SetSimilarity, PreparedSets]]):
    """What each slice is given, copied when it is asked for: who holds it already need not be given it."""

    def __init__(
        self, sets: PreparedSets, similarity: SetSimilarity, places: Sequence[NDArray[np.int64]]
    ) -> None:
        self._sets, self._similarity, self._places = sets, similarity, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, number: int) -> tuple[SetSimilarity, PreparedSets]: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[tuple[SetSimilarity, PreparedSets]]: ...
    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return _Cut(self._sets, self._similarity, self._places[number])
        return self._similarity, own_copy(self._sets[self._places[number]])


def identity(path: Path) -> str:
    """By what slices of a gallery are known on a cluster, which shows nobody where it lies."""
    return hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def slice_states(gallery: Gallery, engine: Engine) -> tuple[list[dict[str, Any]], list[Machine]]:
    """Which slices of a gallery are open now, where and for whom, and where they can be; none is opened."""
    state, content = engine.state(identity(gallery.path)), gallery.fingerprint()
    return [_open_state(resident, content) for resident in state.residents], list(state.machines)


def _open_state(one: Resident, content: str) -> dict[str, Any]:
    """Who does not answer is busy, and what it holds is not known."""
    return {
        "slice": one.part,
        "host": one.host,
        "process": one.process,
        "holder_host": one.holder_host,
        "holder_process": one.holder_process,
        "kind": None if one.label is None else one.label.kind,
        "memory": one.memory,
        "is_busy": one.label is None,
        "fits": None if one.label is None else one.label.content == content,
    }
