"""Kin: sets that stand out from the tail of strangers of both, whose evidence is pooled."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.cohorts import pool_known
from lookalike.kernels.threads import blocks, in_order
from lookalike.kernels.topk import best_first, united
from lookalike.method.calibration import expit
from lookalike.method.neighbours import Known, nearest_known
from lookalike.method.tables import PartialRow, Row

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Chosen with labels, all of them.
MOST = 5  # so many nearest sets may be kin
HEAD = 5  # kin may hold the first places: the tail begins behind them
TAIL = 40  # where the tail ends
DOUBT = 50.0  # strangers that every expected stranger counts for
SURE = 0.5  # chance from which somebody counts as kin
# Sets whose pairs one thread pools before it asks for more.
BLOCK = 256


class Tail(NamedTuple):
    """How many strangers a set may expect at a value: fewer, the larger it is.

    Were the scale of their tail known, exponentially fewer. It is told from so many values only, and what is
    then to be expected of another value falls as a power of it: the fewer they are, the more slowly.
    """

    floor: Values  # value that ``size`` sets reach
    scale: Values  # mean excess above it
    size: int
    told: int  # values from which the scale is told

    @classmethod
    def of(cls, best: Values, head: int, size: int) -> Self:
        """Fit to values (n, at least size + 1), largest first; the first ``head`` may be kin."""
        floor = best[:, size]
        scale = best[:, head:size].mean(axis=1) - floor
        # Copies of one set have no tail: nobody stands out from it.
        return cls(floor, np.maximum(scale, 1e-9 * (1 + np.abs(floor))), size, size - head)

    def log_strangers(self, values: Values) -> Values:
        """Logarithm of the strangers expected at least as near; the first axis is that of the sets."""
        shape = (-1,) + (1,) * (values.ndim - 1)
        over = (values - self.floor.reshape(shape)) / self.scale.reshape(shape)
        # Below the floor there is no tail: only that there are more.
        fewer = np.where(over > 0, self.told * np.log1p(np.maximum(over, 0.0) / self.told), over)
        found: Values = np.log(self.size) - fewer
        return found


class Kin(NamedTuple):
    """Kin of every set of a gallery."""

    known: Known
    values: Values  # (m,): of each pair that is known; of a set with itself, that with its nearest
    tail: Tail
    head: int
    sets: Numbers  # (n, k): those that may be kin
    chances: Values  # (n, k): that they are
    believed: float = 1.0  # how far tails are believed at all

    @classmethod
    def of(cls, known: Known, values: Values, believed: float = 1.0) -> Self:
        """Find kin by a value of each pair.

        Parameters
        ----------
        known : Known
        values : array (m,)
        believed : float
            How far tails are believed.
        """
        total = len(known.levels)
        shortest = int(np.diff(known.starts).min()) - 1  # without itself
        count = min(TAIL, total // 2, shortest - 1)
        head = min(HEAD, total // 4, count * 3 // 4)
        sets, best = nearest_known(known, values, count + 1)
        tail = Tail.of(best, head, count)
        most = min(MOST, count)
        sets, best = sets[:, :most], best[:, :most]
        theirs = tail._replace(floor=tail.floor[sets].ravel(), scale=tail.scale[sets].ravel())
        expected = theirs.log_strangers(best.ravel()).reshape(best.shape)
        chances = believed * _chances(tail.log_strangers(best), expected)
        itself = known.owners == known.sets
        values = np.where(itself, best[known.owners, 0], values)
        return cls(known, values, tail, head, sets, chances, believed)

    def pooled(self) -> Values:
        """Every known pair pooled with the kin of both; (m,). Of a set with itself it means nothing."""
        known, found = self.known, np.empty(len(self.values))

        def part(where: slice) -> None:
            pool_known(
                known.starts,
                known.sets,
                self.values,
                self.sets,
                self.chances,
                where.start,
                where.stop,
                found,
            )

        for _ in in_order(part, blocks(len(self.sets), BLOCK)):
            pass
        return found

    def with_kin(self, targets: Numbers) -> Numbers:
        """Some sets and all that may be kin of one of them, in increasing order."""
        return united(len(self.sets), targets, self.sets[targets])

    def of_row(self, row: Row | PartialRow) -> tuple[Numbers, Values]:
        """Those sets that may be kin of a query, and the chances that they are.

        Parameters
        ----------
        row : Row or PartialRow
            The query, with values of the pairs as scores.
        """
        values = row.scores
        # One more, in case the query is among them.
        order = best_first(values, values, self.tail.size + 2)
        if row.member is not None:
            order = order[row.sets[order] != row.member]
        order = order[: self.tail.size + 1]
        # A partial row may be shorter than a tail: what is there must do.
        size = min(self.tail.size, len(order) - 1)
        ours = Tail.of(values[None, order], min(self.head, size * 3 // 4), size)
        order = order[: self.sets.shape[1]]
        near, values = row.sets[order], values[order]
        theirs = self.tail._replace(floor=self.tail.floor[near], scale=self.tail.scale[near])
        chances = _chances(ours.log_strangers(values[None])[0], theirs.log_strangers(values))
        return near, self.believed * chances

    def pool(self, row: Row | PartialRow, targets: Numbers | None = None) -> Values:
        """Mean over the query and its kin, and each set and its kin, of how well these fit each other.

        The set asked about is not taken as kin of the query, nor the query as kin of the set.

        Parameters
        ----------
        row : Row or PartialRow
            As for `of_row`; a partial one has the targets and all that may be their kin.
        targets : array (t,), optional
            Sets that are asked about, in increasing order; all unless given.
        """
        near, chances = self.of_row(row)
        starts, sets, total = self.known.starts, self.known.sets, len(self.known.levels)
        evidence = np.zeros(total)  # of each set, from the query and its kin
        evidence[row.sets] = row.scores
        for r, chance in zip(near, chances, strict=True):
            where = slice(starts[r], starts[r + 1])
            evidence[sets[where]] += chance * self.values[where]
        kin, theirs = self.sets, self.chances
        if targets is None:
            targets = np.arange(total)
        else:
            kin, theirs = kin[targets], theirs[targets]
        if row.member is not None:
            theirs = np.where(kin == row.member, 0.0, theirs)
        pooled = evidence[targets] + (theirs * evidence[kin]).sum(axis=1)
        weights = 1 + theirs.sum(axis=1)
        totals = np.full(len(targets), 1 + chances.sum())
        for r, chance in zip(near, chances, strict=True):
            where = slice(starts[r], starts[r + 1])
            own = np.zeros(total)
            own[sets[where]] = self.values[where]
            at = targets == r
            pooled[at] -= chance * (own[r] + theirs[at] @ own[self.sets[r]])
            totals[at] -= chance
        found: Values = pooled / (weights * totals)
        return found


def _chances(ours: Values, theirs: Values) -> Values:
    """Chance of kin, from the logarithms of the strangers that either may expect."""
    found: Values = expit(-(np.log(DOUBT) + (ours + theirs) / 2))
    return found
