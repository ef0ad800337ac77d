"""Which gallery sets may stand between a query and a target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.threads import in_order
from lookalike.parameters import MOST_PROXIES
from lookalike.progress import Track, silent
from lookalike.similarities.contract import Matches, NearMatches, PreparedSets, SetSimilarity
from lookalike.transitivity.tables import Lists, Neighbours, compare, set_blocks

# With this share of new sets, comparing all pairs in large blocks is quicker than set by set.
REBUILD_SHARE = 0.5
# Only proxies are asked through which faces: one more than there can be, because a query is passed over.
WITH_MODES = MOST_PROXIES + 1


def find_neighbours(
    similarity: SetSimilarity, sets: PreparedSets, count: int, track: Track = silent
) -> Neighbours:
    """Compare all pairs of sets and keep the nearest of each.

    Each pair is compared once, the lower number first, so that the result does not depend on the blocks.

    Parameters
    ----------
    similarity : SetSimilarity
    sets : PreparedSets
        n prepared sets.
    count : int
        How many neighbours to keep; modes are kept of the first `WITH_MODES`.
    track : callable
        Shows progress.
    """
    finished = (0, _State(similarity, len(sets), count).neighbours())
    for finished in grow_neighbours(similarity, sets, count, track=track):  # noqa: B007
        pass
    return finished[1]


def grow_neighbours(
    similarity: SetSimilarity,
    sets: PreparedSets,
    count: int,
    known: Neighbours | None = None,
    done: int = 0,
    track: Track = silent,
) -> Iterator[tuple[int, Neighbours]]:
    """Do the work of `find_neighbours` in steps: compare one run of sets after the other with all later sets.

    Parameters
    ----------
    known, done : Neighbours, int
        What an earlier call yielded last, to go on from there.

    Yields
    ------
    done : int
        How many runs are finished.
    neighbours : Neighbours
        The lists so far, as a copy.
    """
    state = _State(similarity, len(sets), count)
    if known is not None:
        state.fill(np.arange(len(sets)), known.sets, list(known[1:]))
    runs = set_blocks(similarity, sets)
    work = [(i, j) for i in range(done, len(runs)) for j in range(i, len(runs))]

    def part(pair: tuple[int, int]) -> tuple[slice, slice, NearMatches]:
        upper, right = runs[pair[0]], runs[pair[1]]
        # Floors only rise: one read while it is being raised lets too much through, never too little.
        floors = state.floors(upper), state.floors(right)
        near = similarity.match_near(sets[upper], sets[right], *floors, state.count, upper == right)
        return upper, right, near

    for upper, right, near in track(in_order(part, work), "comparing sets", len(work)):
        state.offer(
            near.sets_a + upper.start, near.sets_b + right.start, near.scores, near.modes_a, near.modes_b
        )
        state.offer(
            near.sets_b + right.start, near.sets_a + upper.start, near.scores, near.modes_b, near.modes_a
        )
        if right == runs[-1]:
            done += 1
            yield done, state.neighbours()


def update_neighbours(
    similarity: SetSimilarity,
    sets: PreparedSets,
    old: Neighbours,
    places: NDArray[np.int64],
    count: int,
    track: Track = silent,
) -> Neighbours:
    """Bring neighbours up to date after sets were added or removed, comparing only what is new.

    Parameters
    ----------
    sets : PreparedSets
        The sets as they are now.
    old : Neighbours
        Of the sets as they were, with the same count.
    places : array (n_old,)
        Where each old set is now; -1 if it was removed.
    """
    state = _State(similarity, len(sets), count)
    kept = np.flatnonzero(places >= 0)
    still = np.where(old.sets[kept] >= 0, places[old.sets[kept]], -1)
    # A list that lost a set lacks the next one in line, which nobody kept: it is made again.
    whole = (still >= 0).all(axis=1)
    state.fill(places[kept[whole]], still[whole], [array[kept[whole]] for array in old[1:]])

    made_again = np.ones(len(sets), dtype=bool)
    made_again[places[kept[whole]]] = False
    is_new = np.ones(len(sets), dtype=bool)
    is_new[places[kept]] = False
    if made_again.sum() > REBUILD_SHARE * len(sets):
        return find_neighbours(similarity, sets, count, track)

    todo = np.flatnonzero(made_again)
    for number in track(todo, "comparing new sets", len(todo)):
        one = sets[number : number + 1]
        for where, first in ((slice(0, number), False), (slice(number + 1, len(sets)), True)):
            others = sets[where]
            pair = (one, others) if first else (others, one)
            matches = compare(similarity, *pair)
            scores, own, their = (
                array.reshape(len(others), *array.shape[2:])
                for array in (matches if first else _swapped(matches))
            )
            far = np.arange(where.start, where.stop)
            state.offer(np.full(len(far), number), far, scores, own, their)
            if is_new[number]:
                old_rows = ~made_again[far]
                mine = np.full(int(old_rows.sum()), number)
                state.offer(far[old_rows], mine, scores[old_rows], their[old_rows], own[old_rows])
    return state.neighbours()


def proxy_slots(neighbours: Neighbours | Lists, proxies: int, member: int | None) -> NDArray[np.int64]:
    """Choose, for every target, the columns of its neighbours that are its proxies; (n, k).

    The query is never its own witness: if it is a member of the gallery it is passed over and the next
    neighbour takes its place. A gallery too small for k_p proxies gives as many as there are.
    """
    available = neighbours.sets.shape[1] - (member is not None)
    count = max(0, min(proxies, available))
    if member is None:
        return np.broadcast_to(np.arange(count), (len(neighbours.sets), count))
    passed = neighbours.sets[:, : count + 1] == member
    return np.argsort(passed, axis=1, kind="stable")[:, :count]


class _State:
    """Neighbour lists that grow by candidates."""

    def __init__(self, similarity: SetSimilarity, total: int, count: int) -> None:
        self.count = max(0, min(count, total - 1))
        shape = (total, self.count)
        self.sets = np.full(shape, total, dtype=np.int64)
        self.scores = np.full(shape, -np.inf)
        # A set only moves down as others come: what it has lost beyond these columns is never wanted again.
        self.shown = min(self.count, WITH_MODES)
        self.own = np.zeros((total, self.shown, *similarity.mode_shape), dtype=similarity.mode_type)
        self.their = np.zeros_like(self.own)

    def fill(self, rows: NDArray[np.int64], sets: NDArray[np.int64], rest: list[NDArray[Any]]) -> None:
        """Take over lists that are known already; they may be shorter than ours."""
        for target, known in zip((self.sets, self.scores, self.own, self.their), (sets, *rest), strict=True):
            width = min(known.shape[1], target.shape[1])
            target[rows, :width] = known[:, :width]

    def floors(self, where: slice) -> NDArray[np.float64]:
        """What a candidate must reach to enter each of some lists."""
        return self.scores[where, -1].copy() if self.count else np.full(len(self.scores[where]), np.inf)

    def offer(
        self,
        rows: NDArray[np.int64],
        candidates: NDArray[np.int64],
        scores: NDArray[np.float64],
        own: NDArray[Any],
        their: NDArray[Any],
    ) -> None:
        """Let sets be candidates for lists: candidate i for the list of row i, with its score and modes."""
        good = scores >= self.scores[rows, -1] if self.count else np.zeros(len(rows), dtype=bool)
        if not good.any():
            return
        rows, candidates, scores = rows[good], candidates[good], scores[good]
        places = np.flatnonzero(good)
        touched = np.unique(rows)
        # The lists that change, and their candidates behind them, sorted by list, score and number.
        owner = np.concatenate([np.repeat(touched, self.count), rows])
        sets = np.concatenate([self.sets[touched].ravel(), candidates])
        value = np.concatenate([self.scores[touched].ravel(), scores])
        order = np.lexsort((sets, -value, owner))
        first = np.searchsorted(owner[order], touched)
        best = order[first[:, None] + np.arange(self.count)]  # (touched, count)
        self.sets[touched] = sets[best]
        self.scores[touched] = value[best]
        known = len(touched) * self.count
        best = best[:, : self.shown]
        fresh = best >= known
        at = np.where(fresh, 0, best) % self.count
        lists = np.arange(len(touched))[:, None]
        for mine, given in ((self.own, own), (self.their, their)):
            picked = mine[touched][lists, at]
            picked[fresh] = given[places[best[fresh] - known]]
            mine[touched] = picked

    def neighbours(self) -> Neighbours:
        """The lists so far, as a copy: they may go on growing."""
        return Neighbours(self.sets.copy(), self.scores.copy(), self.own.copy(), self.their.copy())


def _swapped(matches: Matches) -> Matches:
    """The same matches with a and b exchanged."""
    return Matches(
        *(np.swapaxes(array, 0, 1) for array in (matches.scores, matches.modes_b, matches.modes_a))
    )
