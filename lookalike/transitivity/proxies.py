"""Which gallery sets may stand between a query and a target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.threads import in_order
from lookalike.progress import Track, silent
from lookalike.similarities.contract import Matches, PreparedSets, SetSimilarity
from lookalike.transitivity.tables import Neighbours, compare, set_blocks

# With this share of new sets, comparing all pairs in large blocks is quicker than set by set.
REBUILD_SHARE = 0.5


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
        How many neighbours to keep: k_p, and one more because a query is never its own witness.
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

    def part(pair: tuple[int, int]) -> tuple[slice, slice, Matches]:
        upper, right = runs[pair[0]], runs[pair[1]]
        return upper, right, similarity.match_many(sets[upper], sets[right])

    for upper, right, matches in track(in_order(part, work), "comparing sets", len(work)):
        if upper == right:
            state.merge(_numbers(upper), _numbers(upper), _mirrored(matches))
        else:
            state.merge(_numbers(upper), _numbers(right), matches)
            state.merge(_numbers(right), _numbers(upper), _swapped(matches))
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
        one, others = sets[number : number + 1], np.arange(len(sets))
        before = _swapped(compare(similarity, sets[0:number], one)) if number else None
        after = compare(similarity, one, sets[number + 1 :])
        pieces = [after] if before is None else [before, after]
        row = Matches(*(np.concatenate(parts, axis=1) for parts in zip(*pieces, strict=True)))
        others = np.delete(others, number)
        state.merge(np.array([number]), others, row)
        if is_new[number]:
            old_rows = ~made_again[others]
            column = _swapped(Matches(*(array[:, old_rows] for array in row)))
            state.merge(others[old_rows], np.array([number]), column)
    return state.neighbours()


def proxy_slots(neighbours: Neighbours, proxies: int, member: int | None) -> NDArray[np.int64]:
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
        shape = (total, max(0, min(count, total - 1)))
        self.sets = np.full(shape, total, dtype=np.int64)
        self.scores = np.full(shape, -np.inf)
        self.own = np.zeros(shape + similarity.mode_shape, dtype=similarity.mode_type)
        self.their = np.zeros_like(self.own)

    def fill(self, rows: NDArray[np.int64], sets: NDArray[np.int64], rest: list[NDArray[Any]]) -> None:
        """Take over lists that are known already; they may be shorter than ours."""
        width = min(sets.shape[1], self.sets.shape[1])
        for target, known in zip((self.sets, self.scores, self.own, self.their), (sets, *rest), strict=True):
            target[rows, :width] = known[:, :width]

    def merge(self, rows: NDArray[np.int64], columns: NDArray[np.int64], matches: Matches) -> None:
        """Let the sets in columns be candidates for the lists of rows."""
        count = self.sets.shape[1]
        sets = np.concatenate([self.sets[rows], np.broadcast_to(columns, matches.scores.shape)], axis=1)
        scores = np.concatenate([self.scores[rows], matches.scores], axis=1)
        best = np.lexsort((sets, -scores), axis=1)[:, :count]
        self.sets[rows] = np.take_along_axis(sets, best, axis=1)
        self.scores[rows] = np.take_along_axis(scores, best, axis=1)
        # Modes can be long: pick them without joining the arrays.
        at = np.arange(len(rows))[:, None]
        fresh, place = best >= count, np.maximum(best - count, 0)
        known = np.minimum(best, max(count - 1, 0))
        for mine, theirs in ((self.own, matches.modes_a), (self.their, matches.modes_b)):
            choose = fresh.reshape(fresh.shape + (1,) * (theirs.ndim - 2))
            mine[rows] = np.where(choose, theirs[at, place], mine[rows][at, known])

    def neighbours(self) -> Neighbours:
        """The lists so far, as a copy: they may go on growing."""
        return Neighbours(self.sets.copy(), self.scores.copy(), self.own.copy(), self.their.copy())


def _numbers(run: slice) -> NDArray[np.int64]:
    return np.arange(run.start, run.stop)


def _swapped(matches: Matches) -> Matches:
    """The same matches with a and b exchanged."""
    return Matches(
        *(np.swapaxes(array, 0, 1) for array in (matches.scores, matches.modes_b, matches.modes_a))
    )


def _mirrored(matches: Matches) -> Matches:
    """A block on the diagonal, its lower half copied from the upper one; a set is no candidate for itself."""
    upper = np.triu(np.ones(matches.scores.shape, dtype=bool), 1)
    other = _swapped(matches)
    scores = np.where(upper, matches.scores, other.scores)
    np.fill_diagonal(scores, -np.inf)
    wide = upper.reshape(upper.shape + (1,) * (matches.modes_a.ndim - 2))
    return Matches(
        scores, np.where(wide, matches.modes_a, other.modes_a), np.where(wide, matches.modes_b, other.modes_b)
    )
