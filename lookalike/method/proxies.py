"""Which gallery sets may stand between a query and a target."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.neighbours import let_in, pairs_reaching
from lookalike.kernels.rounded import LEFT, RIGHT, Left, Rounded, is_quick, largest_left, step_of
from lookalike.kernels.threads import blocks, in_order
from lookalike.method.tables import (
    Compared,
    Held,
    Lists,
    Neighbours,
    beside,
    means_of,
    set_blocks,
    sizes_of,
    whole,
)
from lookalike.parameters import MOST_PROXIES
from lookalike.progress import Track, silent
from lookalike.similarities.contract import NearMatches, PreparedSets, Products, SetSimilarity

# With this share of new sets, comparing all pairs in large blocks is quicker than set by set.
REBUILD_SHARE = 0.5
# Sets of the first run that is sent to slices; and the share of those before it that a later one has at most.
FIRST_RUN = 8
# From so many sets on neighbours are looked for among the sets of the nearest means: so many times as many as
# are kept are compared. Means of a run, runs that are met at once, and means that tell how near that is.
MANY, WIDER = 20_000, 8
MEANS_RUN, MEANS_RUNS, MEANS_SAMPLE = 512, 4, 8192
# From so many faces on all pairs are looked through in whole numbers first. By so much, at most, vectors are
# longer or shorter than 1 (halves, by 2^-10) and single precision is off.
SCREENED, UNEVEN = 10_000, 2.0**-9
# To know what is near before all pairs are looked through, so many times as many as are kept do.
FLOORS = 2
# For arrays that may only be read, as answers of slices may be, machine code would be made anew.
LAYOUT: tuple[Literal["C"], Literal["W"]] = ("C", "W")
# Only proxies are asked through which faces: one more than there can be, because a query is passed over.
WITH_MODES = MOST_PROXIES + 1


def find_neighbours(
    similarity: SetSimilarity, sets: PreparedSets | Held, count: int, track: Track = silent
) -> Neighbours:
    """Compare all pairs of sets, or of very many those of near means, and keep the nearest of each.

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
    finished = deque(grow_neighbours(similarity, sets, count, track=track), maxlen=1)
    return finished[0][1] if finished else _State(similarity, len(sets), count).neighbours()


def grow_neighbours(
    similarity: SetSimilarity,
    sets: PreparedSets | Held,
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
        The lists so far, which go on growing. Whenever that is interrupted they are what an earlier call may
        go on from: pairs of a run that is not finished may be in them, and do no harm.
    """
    state = _State(similarity, len(sets), count)
    if known is not None:
        state.fill(np.arange(len(sets)), known.sets, list(known[1:]))
    runs = set_blocks(similarity, sets)
    compared: Iterator[Compared]
    if isinstance(sets, PreparedSets) and is_by_means(similarity, len(sets)):
        runs = blocks(len(sets), MEANS_RUN)
        compared, steps = _near_by_means(similarity, sets, runs[done:], state, WIDER), len(runs) - done
    elif isinstance(sets, PreparedSets) and is_screened(similarity, int(sizes_of(similarity, sets).sum())):
        first = blocks(len(sets), MEANS_RUN)
        todo, ready = first[done:], max(0, done - len(first))
        compared = chain(
            _near_by_means(similarity, sets, todo, state, FLOORS) if todo else (),
            _near_screened(similarity, sets, runs, ready, state),
        )
        steps = len(todo) + len(runs) - ready
    elif isinstance(sets, Held):
        runs = list(_short_at_first(runs))
        compared, steps = whole(sets).near(runs[done:], state.floors, state.count), len(runs) - done
    else:
        pairs = [(runs[i], right) for i in range(done, len(runs)) for right in runs[i:]]
        compared, steps = _near(similarity, sets, pairs, state), len(pairs)
    for pieces, ends_run in track(compared, "comparing sets", steps):
        for near in pieces:
            state.offer(near.sets_a, near.sets_b, near.scores, near.modes_a, near.modes_b)
            state.offer(near.sets_b, near.sets_a, near.scores, near.modes_b, near.modes_a)
        if ends_run:
            done += 1
            yield done, state.neighbours()


def is_by_means(similarity: SetSimilarity, total: int) -> bool:
    """Whether neighbours of so many sets in one place are looked for among the sets of the nearest means."""
    return similarity.by_means and total >= MANY


def _short_at_first(runs: Sequence[slice]) -> Iterator[slice]:
    """Cut the first runs shorter, each to an eighth of those before it.

    Whoever comes first enters every list. Of each run so few do that what slices send back of it takes less
    room than the lists themselves.
    """
    for run in runs:
        start = run.start
        while start < run.stop:
            stop = min(run.stop, start + max(FIRST_RUN, start // FIRST_RUN))
            yield slice(start, stop)
            start = stop


def _near(
    similarity: SetSimilarity, sets: PreparedSets, pairs: Sequence[tuple[slice, slice]], state: _State
) -> Iterator[Compared]:
    """Compare pairs of runs; a run is done when it has met the last."""

    def part(pair: tuple[slice, slice]) -> Compared:
        upper, right = pair
        # Floors only rise: one read while it is being raised lets too much through, never too little.
        floors = state.floors(upper), state.floors(right)
        near = similarity.match_near(sets[upper], sets[right], *floors, state.count, upper == right)
        return Compared([_numbered(near, upper, right)], right.stop == len(sets))

    return in_order(part, pairs)


def _numbered(near: NearMatches, upper: slice, right: slice) -> NearMatches:
    """Pairs of the sets of two runs, by their numbers among all."""
    return near._replace(sets_a=near.sets_a + upper.start, sets_b=near.sets_b + right.start)


def _near_by_means(
    similarity: SetSimilarity, sets: PreparedSets, runs: Sequence[slice], state: _State, wider: int
) -> Iterator[Compared]:
    """Compare each run of sets with those whose means are nearest to theirs.

    Means are rounded to whole numbers, so that who is near does not depend on who multiplies.
    """
    total, wanted = len(sets), wider * max(state.count, 1)
    means, every = means_of(*similarity.faces(sets)), blocks(total, MEANS_RUNS * MEANS_RUN)
    some = means[:: max(1, total // MEANS_SAMPLE)]
    rounded = Rounded.of(means, LEFT, every)
    [looked_at] = Rounded.of(some, LEFT, [slice(None)], rounded.step).blocks
    place = max(0, len(some) - 1 - wanted * len(some) // total)
    del means, some

    def left(run: slice) -> Left:
        number, first = divmod(run.start, MEANS_RUNS * MEANS_RUN)
        return Left.of(rounded.rows(number)[first : first + run.stop - run.start])

    def reach(run: slice) -> NDArray[np.int32]:
        products = left(run).products(looked_at)
        found: NDArray[np.int32] = np.partition(products, place, axis=1)[:, place]
        return found.copy()  # a view would keep all products

    # What about as many means as are wanted reach, told from some of them.
    floors = np.concatenate(list(in_order(reach, blocks(total, MEANS_RUN))))

    def part(run: slice) -> Compared:
        # Each pair is met once, by its lower number; one that reaches neither list is not finished.
        own, met = left(run), []
        room = np.empty((2, len(own.rows) * min(MEANS_RUNS * MEANS_RUN, total)), dtype=np.int64)
        for number in range(run.start // (MEANS_RUNS * MEANS_RUN), len(every)):
            where, products = every[number], own.products(rounded.blocks[number])
            count = pairs_reaching(products, floors[run], floors[where], where.start - run.start, room)
            met.append(room[:, :count] + np.array([[run.start], [where.start]]))
        low, high = np.concatenate(met, axis=1)
        reached = np.minimum(state.floors(low), state.floors(high))
        return Compared([similarity.match_pairs(sets, low, high, reached)], True)

    return in_order(part, runs)


def is_screened(similarity: SetSimilarity, rows: int) -> bool:
    """Whether all pairs of sets of so many faces are looked through in whole numbers first."""
    makes_use = type(similarity).match_rounded is not SetSimilarity.match_rounded
    return makes_use and similarity.compares_faces and rows >= SCREENED and is_quick()


def _near_screened(
    similarity: SetSimilarity, sets: PreparedSets, runs: Sequence[slice], done: int, state: _State
) -> Iterator[Compared]:
    """Compare each run of sets with itself and all later sets, where rounded faces are near enough.

    Lists are filled by sets of near means first, which tells how near that is. How far rounding may be off is
    known: a pair that stays further below both of its lists would not enter them.
    """
    faces, starts = similarity.faces(sets)
    cuts = [slice(starts[run.start], starts[run.stop]) for run in runs]
    largest = largest_left()
    right, step = Rounded.of(faces, RIGHT, cuts), step_of(faces, largest)

    @lru_cache(maxsize=4)  # pairs of a run come one after the other, on several threads
    def left(number: int) -> tuple[Left, float]:
        rounded = Rounded.of(faces[cuts[number]], largest, [slice(None)], step)
        # By Cauchy and Schwarz, of vectors that are no longer than this.
        off = UNEVEN + (1 + UNEVEN) * (rounded.error + right.error) + rounded.error * right.error
        return Left.of(rounded.rows(0), largest), off

    def part(pair: tuple[int, int]) -> Compared:
        upper, where = (runs[number] for number in pair)
        rows, off = left(pair[0])
        products = Products(rows.products(right.blocks[pair[1]]), step * right.step, off)
        floors = state.floors(upper), state.floors(where)
        near = similarity.match_rounded(
            sets[upper], sets[where], *floors, state.count, upper == where, products
        )
        return Compared([_numbered(near, upper, where)], where.stop == len(sets))

    pairs = ((number, other) for number in range(done, len(runs)) for other in range(number, len(runs)))
    yield from in_order(part, pairs)


def update_neighbours(
    similarity: SetSimilarity,
    sets: PreparedSets | Held,
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
        scores, own, their = (array[0] for array in beside(similarity, sets, int(number)))
        others = np.delete(np.arange(len(sets)), number)
        state.offer(np.full(len(others), number), others, scores, own, their)
        if is_new[number]:
            old_rows = ~made_again[others]
            mine = np.full(int(old_rows.sum()), number)
            state.offer(others[old_rows], mine, scores[old_rows], their[old_rows], own[old_rows])
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

    def floors(self, where: slice | NDArray[np.int64]) -> NDArray[np.float64]:
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
        if self.count and len(rows):
            flat = len(self.sets), self.shown, -1
            let_in(
                self.sets,
                self.scores,
                self.own.reshape(flat),
                self.their.reshape(flat),
                rows,
                candidates,
                np.require(scores, requirements=LAYOUT),
                self._flat(own),
                self._flat(their),
            )

    def _flat(self, modes: NDArray[Any]) -> NDArray[Any]:
        """Modes of k candidates as the lists have them; (k, numbers of a mode)."""
        return np.require(modes, self.own.dtype, LAYOUT).reshape(len(modes), -1)

    def neighbours(self) -> Neighbours:
        """The lists so far; they go on growing."""
        return Neighbours(self.sets, self.scores, self.own, self.their)
