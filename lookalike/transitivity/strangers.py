"""Strangers: the cohort of sets around each of two, which share its light and pose but not its person."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.kernels.cohorts import means_around, means_of_known
from lookalike.kernels.threads import blocks, in_order
from lookalike.similarities.contract import PreparedSets
from lookalike.transitivity.held import Held, HeldGallery
from lookalike.transitivity.known import Known
from lookalike.transitivity.lists import nearest_to
from lookalike.transitivity.tables import PartialRow, Row

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

    def around(self, row: Row | PartialRow, targets: Numbers | None = None) -> Values:
        """Means of a query and each set: it with the set's cohort, the set with its, cohort with cohort.

        Parameters
        ----------
        row : Row or PartialRow
            A partial one has the targets, their cohorts, and those nearest to the query.
        targets : array (m,), optional
            Numbers of the sets that are looked at; all of the row unless given.

        Returns
        -------
        means : array (3, m)
            What a member's own place holds means nothing.
        """
        known, total = self.known, len(self.lists)
        member = -1 if row.member is None else row.member
        targets = row.sets if targets is None else targets
        found = np.empty((3, len(targets)))
        own = nearest_to(row, self.lists.shape[1])
        if len(own) < self.lists.shape[1]:
            raise BadInput(
                f"a query was compared with {len(own)} sets where its cohort takes {self.lists.shape[1]}: "
                "ask about more targets"
            )
        # The system gives no memory for zeros that are never looked at.
        direct = np.zeros(total)
        direct[row.sets] = row.scores - known.level - known.levels[row.sets]
        means_around(
            *known,
            self.lists,
            self.skip,
            self.width,
            own,
            0.0,
            member,
            direct,
            targets,
            np.zeros(total),
            np.zeros(total, dtype=np.int64),
            found,
        )
        return found

    def around_known(self, sets: PreparedSets | Held | None = None) -> Values:
        """The same for all pairs that are known; (3, m). If slices hold the sets, each works out a part."""
        if isinstance(sets, HeldGallery):
            found = sets.divided(_means, (*self.known, self.lists, self.skip, self.width), len(self.lists))
            return np.concatenate(found, axis=1)
        return _means(None, *self.known, self.lists, self.skip, self.width, 0, len(self.lists))


def _means(
    held: object,
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
    """Means of the pairs of some sets; what the slice holds is not needed."""
    known = Known(_writable(starts), _writable(sets), _writable(residuals), _writable(levels), level)
    lists, begin, end = _writable(lists), starts[first], starts[last]
    # The system gives no memory for what is never written.
    found = np.empty((3, len(sets)))

    def part(where: slice) -> None:
        means_of_known(*known, lists, skip, width, first + where.start, first + where.stop, found)

    for _ in in_order(part, blocks(last - first, BLOCK)):
        pass
    return found if (begin, end) == (0, len(sets)) else found[:, begin:end].copy()


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy where it may only be read: for such ones machine code would be made anew."""
    return np.require(array, requirements="W")
