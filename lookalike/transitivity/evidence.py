"""Evidence: who was taken as kin and who as strangers for one answer, and how much each moved its score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.cohorts import residual_of
from lookalike.transitivity.kin import Kin
from lookalike.transitivity.lists import nearest_to
from lookalike.transitivity.strangers import Strangers
from lookalike.transitivity.strengths import Strengths
from lookalike.transitivity.tables import Row

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


class Group(NamedTuple):
    """Sets on one side of a pair, with the chance that each is kin of it, and what it did to the score."""

    sets: Numbers  # (k,)
    chances: Values  # (k,): none for strangers
    moved: Values  # (k,): the score as it is, less what it would be without this set


class Evidence(NamedTuple):
    """What made a score, beside the similarity itself."""

    before_kin: Values  # (n,): scores of all sets with strangers subtracted and nobody pooled
    kin_of_query: Group
    kin_of_target: Group
    strangers_of_query: Group
    strangers_of_target: Group


def strangers_moved(strangers: Strangers, strengths: Strengths, row: Row, target: int) -> tuple[Group, Group]:
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


def kin_moved(kin: Kin, row: Row, target: int) -> tuple[Group, Group]:
    """The kin of query and target; the row has the values of the query with all sets before pooling."""
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
    rows, weights = np.append(1.0, our_chances), np.append(1.0, their_chances)
    score = _mean(table, rows, weights)
    by_ours = [score - _mean(table, _without(rows, place + 1), weights) for place in range(len(ours))]
    by_theirs = [score - _mean(table, rows, _without(weights, place + 1)) for place in range(len(theirs))]
    return Group(ours, our_chances, np.array(by_ours)), Group(theirs, their_chances, np.array(by_theirs))


def _mean(table: Values, rows: Values, columns: Values) -> float:
    return float(rows @ table @ columns / (rows.sum() * columns.sum()))


def _without(weights: Values, place: int) -> Values:
    left = weights.copy()
    left[place] = 0.0
    return left
