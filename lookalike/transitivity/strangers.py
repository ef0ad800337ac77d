"""Strangers: the cohort of sets around each of two, which share its light and pose but not its person."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.cohorts import means_around, means_of_known
from lookalike.kernels.threads import blocks, in_order
from lookalike.transitivity.held import Anywhere, HeldGallery, writable
from lookalike.transitivity.known import Known
from lookalike.transitivity.lists import nearest_to
from lookalike.transitivity.tables import Row

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Sets whose pairs one thread looks at before it asks for more.
BLOCK = 256


class Strangers(NamedTuple):
    """The cohort of every set: its neighbours behind the first ``skip``."""

    known: Known
    lists: Numbers  # (n, skip + width + 1): neighbours of each set, nearest first
    skip: int

    @property
    def width(self) -> int:
        """How many strangers a cohort has; one more stands by, for a pair is in no cohort of its own."""
        return self.lists.shape[1] - self.skip - 1

    def around(self, row: Row) -> Values:
        """Means of a query and every set: it with the set's cohort, the set with its, cohort with cohort.

        Returns
        -------
        means : array (3, n)
            What a member's own place holds means nothing.
        """
        known, total = self.known, len(self.lists)
        member = -1 if row.member is None else row.member
        found = np.empty((3, total))
        means_around(
            *known,
            self.lists,
            self.skip,
            self.width,
            nearest_to(row, self.lists.shape[1]),
            0.0,
            member,
            row.scores - known.level - known.levels,
            np.arange(total),
            np.zeros(total),
            np.zeros(total, dtype=np.int64),
            found,
        )
        return found

    def around_known(self, sets: Anywhere = None) -> Values:
        """The same for all pairs that are known; (3, m). Shards that hold the sets work out a part each."""
        if isinstance(sets, HeldGallery):
            found = sets.divided(_means, (*self.known, self.lists, self.skip, self.width), len(self.lists))
            return np.concatenate(found, axis=1)
        return _means(None, *self.known, self.lists, self.skip, self.width, 0, len(self.lists))


def _means(
    shard: object,
    starts: Numbers,
    sets: Numbers,
    residuals: Values,
    levels: Values,
    level: float,
    lists: Numbers,
    skip: int,
    width: int,
    first: int,
    last: int,
) -> Values:
    """Means of the pairs of some sets; what the shard holds is not needed."""
    known = Known(writable(starts), writable(sets), writable(residuals), writable(levels), level)
    lists, begin, end = writable(lists), starts[first], starts[last]
    # The system gives no memory for what is never written.
    found = np.empty((3, len(sets)))

    def part(where: slice) -> None:
        means_of_known(*known, lists, skip, width, first + where.start, first + where.stop, found)

    for _ in in_order(part, blocks(last - first, BLOCK)):
        pass
    return found if (begin, end) == (0, len(sets)) else found[:, begin:end].copy()
