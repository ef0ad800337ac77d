"""Kin: sets that stand out from the tail of strangers of both, whose evidence is pooled."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from lookalike.kernels.order import best_first
from lookalike.transitivity.known import Known, nearest_known

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Chosen with labels, all of them.
FEWEST = 5  # so many nearest sets may be kin, or as many as groups have
HEAD = 5  # kin may hold the first places: the tail begins behind them
HEAD_OF_GROUPS = 1.5  # or behind so many times the size of groups
TAIL = 40  # where the tail ends
TAIL_OF_HEAD = 2  # or so many times the head
DOUBT = 50.0  # strangers that every expected stranger counts for


class Tail(NamedTuple):
    """How many strangers a set may expect at a value: exponentially fewer, the larger it is."""

    floor: Values  # value that ``size`` sets reach
    scale: Values  # mean excess above it
    size: int

    @classmethod
    def of(cls, best: Values, head: int, size: int) -> Self:
        """Fit to values (n, at least size + 1), largest first; the first ``head`` may be kin."""
        floor = best[:, size]
        scale = best[:, head:size].mean(axis=1) - floor
        # Copies of one set have no tail: nobody stands out from it.
        return cls(floor, np.maximum(scale, 1e-9 * (1 + np.abs(floor))), size)

    def log_strangers(self, values: Values) -> Values:
        """Logarithm of the strangers expected at least as near; the first axis is that of the sets."""
        shape = (-1,) + (1,) * (values.ndim - 1)
        found: Values = np.log(self.size) - (values - self.floor.reshape(shape)) / self.scale.reshape(shape)
        return found


class Kin(NamedTuple):
    """Kin of every set of a gallery."""

    known: Known
    values: Values  # (m,): of each pair that is known; of a set with itself, that with its nearest
    tail: Tail
    head: int
    sets: Numbers  # (n, k): those that may be kin
    chances: Values  # (n, k): that they are

    @classmethod
    def of(cls, known: Known, values: Values, group: int) -> Self:
        """Find kin by a value of each pair.

        Parameters
        ----------
        known : Known
        values : array (m,)
        group : int
            How many sets a person usually has.
        """
        total = len(known.levels)
        shortest = int(np.diff(known.starts).min()) - 1  # without itself
        head = min(max(HEAD, int(HEAD_OF_GROUPS * group)), total // 4)
        count = min(max(TAIL, TAIL_OF_HEAD * head), total // 2, shortest - 1)
        # Lists end somewhere: a quarter of the tail must be strangers all the same.
        head = min(head, count * 3 // 4)
        sets, best = nearest_known(known, values, count + 1)
        tail = Tail.of(best, head, count)
        most = min(max(FEWEST, group), count)
        sets, best = sets[:, :most], best[:, :most]
        theirs = Tail(tail.floor[sets].ravel(), tail.scale[sets].ravel(), count)
        chances = _chances(tail.log_strangers(best), theirs.log_strangers(best.ravel()).reshape(best.shape))
        itself = known.owners == known.sets
        return cls(known, np.where(itself, best[known.owners, 0], values), tail, head, sets, chances)

    def of_row(self, values: Values, member: int | None) -> tuple[Numbers, Values]:
        """Those sets that may be kin of a query, and the chances that they are.

        Parameters
        ----------
        values : array (n,)
            Of the query with every set.
        """
        ranked = values if member is None else np.where(np.arange(len(values)) == member, -np.inf, values)
        order = best_first(ranked, ranked, self.tail.size + 1)
        ours = Tail.of(values[None, order], self.head, self.tail.size)
        near = order[: self.sets.shape[1]]
        theirs = Tail(self.tail.floor[near], self.tail.scale[near], self.tail.size)
        return near, _chances(ours.log_strangers(values[None, near])[0], theirs.log_strangers(values[near]))

    def pool(self, values: Values, member: int | None) -> Values:
        """Mean over the query and its kin, and each set and its kin, of how well these fit each other.

        The set asked about is not taken as kin of the query, nor the query as kin of the set.
        """
        near, chances = self.of_row(values, member)
        starts, sets = self.known.starts, self.known.sets
        evidence = values.copy()  # of each set, from the query and its kin
        for r, chance in zip(near, chances, strict=True):
            where = slice(starts[r], starts[r + 1])
            evidence[sets[where]] += chance * self.values[where]
        theirs = self.chances if member is None else np.where(self.sets == member, 0.0, self.chances)
        pooled = evidence + (theirs * evidence[self.sets]).sum(axis=1)
        weights = 1 + theirs.sum(axis=1)
        totals = np.full(len(values), 1 + chances.sum())
        for r, chance in zip(near, chances, strict=True):
            where = slice(starts[r], starts[r + 1])
            own = np.zeros(len(values))
            own[sets[where]] = self.values[where]
            pooled[r] -= chance * (own[r] + theirs[r] @ own[self.sets[r]])
            totals[r] -= chance
        found: Values = pooled / (weights * totals)
        return found


def _chances(ours: Values, theirs: Values) -> Values:
    """Chance of kin, from the logarithms of the strangers that either may expect."""
    found: Values = expit(-(np.log(DOUBT) + (ours + theirs) / 2))
    return found
