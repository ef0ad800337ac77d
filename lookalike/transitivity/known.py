"""Known: similarities of the pairs that stand in somebody's list, and what to expect of the others."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.rows import best_of_rows
from lookalike.kernels.threads import blocks, in_order, one_blas_thread
from lookalike.transitivity.tables import Lists

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Levels are settled against each other; going half the way each time halves what is wrong.
SWEEPS = 40
# Sets whose pairs one thread puts in order before it asks for more.
BLOCK = 1024


class Known(NamedTuple):
    """Pairs of a gallery, row by row, each in the rows of both of its sets; every set is there with itself.

    The similarity of r and p is ``level + levels[r] + levels[p]``, and for the pairs that are known their
    residual more.
    """

    starts: Numbers  # (n + 1,): where the row of each set begins, and the end
    sets: Numbers  # (m,): the other set of each pair, in increasing order within a row
    residuals: Values  # (m,)
    levels: Values  # (n,)
    level: float

    @classmethod
    def of(cls, lists: Lists, sample: Numbers, scores: Values) -> Self:
        """Take the pairs of the lists, and the levels from the rows of some sets.

        Parameters
        ----------
        lists : Lists
            Nearest sets of each of the n sets.
        sample : array (r,)
            Numbers of some sets.
        scores : array (r, n)
            Their similarities with all sets.
        """
        total, width = lists.sets.shape
        rows = np.repeat(np.arange(total), width)
        ends = lists.sets.ravel()
        itself = np.arange(total)
        keys = np.concatenate([rows * total + ends, ends * total + rows, itself * (total + 1)])
        # A set with itself says nothing: it gets what an ordinary pair has.
        ordinary = np.full(total, _median_of_pairs(sample, scores))
        values = np.concatenate([lists.scores.ravel(), lists.scores.ravel(), ordinary])
        keys, first = np.unique(keys, return_index=True)
        owners, sets = np.divmod(keys, total)
        starts = np.searchsorted(owners, np.arange(total + 1))
        level, levels = _levels(starts, sets, sample, scores)
        residuals = values[first] - level - levels[owners] - levels[sets]
        return cls(starts, sets, residuals, levels, level)

    @property
    def owners(self) -> Numbers:
        """The set whose row each pair is in; (m,)."""
        return np.repeat(np.arange(len(self.levels)), np.diff(self.starts))

    def scores(self) -> Values:
        """Similarity of each pair; (m,)."""
        return self.level + self.levels[self.owners] + self.levels[self.sets] + self.residuals


def nearest_known(known: Known, values: Values, count: int) -> tuple[Numbers, Values]:
    """The best pairs of each set by some value of each pair, itself left out; two arrays (n, count).

    Parameters
    ----------
    known : Known
    values : array (m,)
    count : int
        No more than every set has.
    """
    found = np.empty((len(known.levels), count), dtype=np.int64)
    best = np.empty((len(known.levels), count))
    if count:

        def part(where: slice) -> None:
            best_of_rows(known.starts, known.sets, values, where.start, where.stop, found, best)

        for _ in in_order(part, blocks(len(found), BLOCK)):
            pass
    return found, best


def _median_of_pairs(sample: Numbers, scores: Values) -> float:
    others = np.arange(scores.shape[1]) != sample[:, None]
    return float(np.median(scores[others]))


def _levels(starts: Numbers, sets: Numbers, sample: Numbers, scores: Values) -> tuple[float, Values]:
    """How similar an ordinary pair is, and how much more each set is to sets that are not in its row."""
    unknown = np.ones(scores.shape, dtype=bool)
    for place, number in enumerate(sample):
        unknown[place, sets[starts[number] : starts[number + 1]]] = False
    counts = unknown.sum(axis=0)
    if not counts.any():  # every pair is known: nothing has to be expected
        return _median_of_pairs(sample, scores), np.zeros(scores.shape[1])
    level = float(scores[unknown].mean())
    counts = np.maximum(counts, 1)
    above = np.where(unknown, scores - level, 0.0).sum(axis=0) / counts
    shares = unknown / counts
    levels = np.zeros(scores.shape[1])
    with one_blas_thread():
        for _ in range(SWEEPS):
            levels = (levels + above - levels[sample] @ shares) / 2
    return level, levels
