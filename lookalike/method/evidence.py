"""Evidence: who had a say in one answer, and how much each added to its score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.cohorts import residual_of
from lookalike.method.agreement import Agreed, Agreement
from lookalike.method.kin import Kin, Strangers, Strengths
from lookalike.method.tables import Row, nearest_to

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


class Group(NamedTuple):
    """Sets on one side of a pair, with the chance that each is kin of it, and what it added."""

    sets: Numbers  # (k,)
    chances: Values  # (k,): none but for kin
    moved: Values  # (k,)

    def times(self, scale: float) -> Group:
        """The same on another scale."""
        return self._replace(moved=scale * self.moved)


Sides = tuple[Group, Group]  # of the query, of the target


class Evidence(NamedTuple):
    """What a score is made of: single numbers and all that is in groups add up to it."""

    alone: float  # the baseline of the pair, on the scale of the score
    everybody: float  # how near the target is to everybody, against an ordinary set
    strangers: Sides | None  # none where nothing is subtracted
    kin: Sides
    neighbours: Group  # whom the lists around both name: what they have of the agreement of the two
    mutual: float  # what the two themselves have of it, being named around each other
    trust: float  # the most that neighbours and mutual could be together
    before_kin: Values  # (n,): what all sets are ordered by with strangers subtracted and nobody pooled
    before_lists: Values  # (n,): and with kin pooled


def neighbours_shared(agreement: Agreement, agreed: Agreed, row: Row, target: int) -> Group:
    """Whom the vectors of query and target both name, and what each has of the agreement.

    The two themselves are left out: they have the rest of it. The row has pooled values.
    """
    columns = agreed.columns
    lesser = np.minimum(agreed.entries, agreement.entries_of(target, columns) / agreed.shrunk[target])
    shared = float(lesser.sum() + agreed.own[target])
    named = (lesser > 0) & (columns != target) & (columns != row.member)
    return Group(columns[named], np.empty(0), agreed.values[target] * lesser[named] / (shared or 1.0))


def strangers_moved(strangers: Strangers, strengths: Strengths, row: Row, target: int) -> Sides:
    """The cohorts of query and target; a stranger who is as alike as everybody moves nothing.

    What cohorts have with each other counts for both, half each.
    """
    known, skip, width = strangers.known, strangers.skip, strangers.width
    ours = nearest_to(row, strangers.lists.shape[1])
    ours = ours[ours != target][skip : skip + width]
    theirs = strangers.lists[target]
    theirs = theirs[theirs != row.member][skip : skip + width]
    _, subtracted, given_back = strengths.gains @ strengths.factors
    between = np.array([[residual_of(*known[:3], int(r), int(p)) for p in theirs] for r in ours])
    beyond = row.scores - known.level - known.levels
    with_query = beyond[theirs] - np.median(beyond)  # a query has a level too
    with_target = np.array([residual_of(*known[:3], int(r), target) for r in ours])
    by_ours = (given_back * between.mean(axis=1) / 2 - subtracted * with_target) / width
    by_theirs = (given_back * between.mean(axis=0) / 2 - subtracted * with_query) / width
    nobody = np.empty(0)
    return Group(ours, nobody, by_ours), Group(theirs, nobody, by_theirs)


def kin_moved(kin: Kin, row: Row, target: int) -> Sides:
    """The kin of query and target; the row has the values of the query with all sets before pooling.

    The pooled value is a mean over pairs of one of query and its kin with one of target and its kin. What a
    pair has beyond the value of query and target, times its weight, is what it added: that is its kin's, and
    where both are kin, each has half.
    """
    near, chances = kin.of_row(row)
    ours, our_chances = near[near != target], chances[near != target]
    others = kin.sets[target] != (-1 if row.member is None else row.member)
    theirs, their_chances = kin.sets[target][others], kin.chances[target][others]
    known, columns = kin.known, np.append(target, theirs)
    table = np.array(
        [
            row.scores[columns],
            *([residual_of(*known[:2], kin.values, int(r), int(p)) for p in columns] for r in ours),
        ]
    )
    by_ours, by_theirs = added_by_pairs(table, np.append(1.0, our_chances), np.append(1.0, their_chances))
    return Group(ours, our_chances, by_ours), Group(theirs, their_chances, by_theirs)


def added_by_pairs(table: Values, rows: Values, columns: Values) -> tuple[Values, Values]:
    """What rows and columns but the first add to the first entry of a table, on the way to its weighted mean.

    Parameters
    ----------
    table : array (r, c)
    rows, columns : arrays (r,), (c,)
        Weights.

    Returns
    -------
    by_rows, by_columns : arrays (r - 1,), (c - 1,)
        Together they sum to the mean less the first entry.
    """
    weights = np.outer(rows, columns) / (rows.sum() * columns.sum())
    added = weights * (table - table[0, 0])
    halves = added[1:, 1:] / 2
    return added[1:, 0] + halves.sum(axis=1), added[0, 1:] + halves.sum(axis=0)
