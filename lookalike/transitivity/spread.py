"""Spread: the prepared sets of a gallery, cut into slices, wherever these are held."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.engines.contract import Answers, Residents
from lookalike.similarities.contract import Matches, NearMatches, PreparedSets, SetSimilarity
from lookalike.transitivity import slices
from lookalike.transitivity.guessing import Guessed, joined
from lookalike.transitivity.held import Compared, Floors, Held, HeldGallery, Pairs

# Runs that are compared at once: while the answers of one are merged, the slices are busy with the next.
WAITING = 2


class SpreadSets(HeldGallery):
    """Sets of a gallery in the order of their ids, each of which some slice holds too.

    What many sets are asked is asked of the slices; a few sets are looked up here.

    Parameters
    ----------
    residents : Residents
        Slices that are open, each a `lookalike.transitivity.slices.Slice`.
    places : sequence of arrays
        Numbers of the sets of each slice in the gallery, ascending.
    sets : PreparedSets
        All of them.
    similarity : SetSimilarity
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
        # The points that codes were made by, and what stands for them in questions.
        self._points: tuple[NDArray[np.float32], Any] | None = None
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
        shared = self.residents.share(slices.own(queries))
        found = self.residents.ask_all(slices.matched, shared)
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
        for owner, values in self.residents.ask(slices.agreements, given).items():
            found[wheres[owner]] = values
        return found

    def near(self, runs: Sequence[slice], floors: Floors, count: int) -> Iterator[Compared]:
        """Send each run to all slices, which compare it with their later sets; here it meets itself."""
        waiting: deque[tuple[slice, PreparedSets, Answers]] = deque()
        for run in runs:
            sets = slices.own(self._sets[run])
            waiting.append((run, sets, self._sent(run, sets, floors, count)))
            if len(waiting) == WAITING:
                yield from self._met(*waiting.popleft(), floors, count)
        while waiting:
            yield from self._met(*waiting.popleft(), floors, count)

    def beside(self, number: int) -> Matches:
        """Match one set, as a, with every other set: one round."""
        one = self.residents.share(slices.own(self._sets[number : number + 1]))
        before, after = (
            [int(np.searchsorted(own, number, side)) for own in self.places] for side in ("left", "right")
        )
        given = {each: (one, *ends) for each, ends in enumerate(zip(before, after, strict=True))}
        found = self.residents.ask(slices.beside, given)
        others = [own[own != number] for own in self.places]
        others = [own - (own > number) for own in others]
        pieces = zip(*(found[each] for each in range(len(self.places))), strict=True)
        return Matches(*(_merged(others, each) for each in pieces))

    def guess(self, points: NDArray[np.float32], asked: NDArray[Any], most: int) -> Guessed:
        """Let every slice guess, and take the best: one round."""
        if self._points is None or self._points[0] is not points:
            self._points = points, self.residents.share(points)
        found = self.residents.ask_all(slices.guessed, self._points[1], asked, most)
        numbered = [
            guess._replace(sets=own[guess.sets]) for own, guess in zip(self.places, found, strict=True)
        ]
        return joined(numbered, most)

    def divided(self, work: Callable[..., Any], given: tuple[Any, ...], total: int) -> list[Any]:
        """Give each slice an equal part: one round."""
        shared = [self.residents.share(one) for one in given]
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
        return self.residents.begin(slices.near_later, given) if given else dict

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
        return {int(one): np.flatnonzero(owners == one) for one in np.unique(owners)}

    def in_slice(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers that some sets have in their slices."""
        return self._place[numbers]


class NarrowSets(Held):
    """Some sets of several slices; what a query will ask about their modes is asked when it is compared.

    Parameters
    ----------
    gallery : SpreadSets
    chosen : array (k,)
        Numbers of the sets in the gallery.
    pairs : Pairs
        Modes of these sets, by their place among them, that will be held against those of a query.
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
        shared = residents.share(slices.own(queries))
        wheres, pairs = gallery.by_owner(self._chosen), gallery.by_owner(self._chosen[self._pairs.which])
        nothing = np.empty(0, dtype=np.int64)
        given, own = {}, np.empty(len(self), dtype=np.int64)
        for owner, where in wheres.items():
            own[where] = np.arange(len(where))
            asked = pairs.get(owner, nothing)
            which = own[self._pairs.which[asked]]
            chosen = gallery.in_slice(self._chosen[where])
            given[owner] = (shared, chosen, which, self._pairs.modes[asked])
        found = residents.ask(slices.matched_some, given)
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
