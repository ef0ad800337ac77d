"""Strengths: how much of what strangers say is subtracted, told by how transitive the gallery becomes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.triangles import count_triangles
from lookalike.transitivity.known import Known, nearest_known
from lookalike.transitivity.strangers import Strangers
from lookalike.transitivity.tables import PartialRow, Row

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Shares of the local mean that may be subtracted from both sides of a pair (chosen with labels).
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# A set that is near to everybody is known by its best pairs (chosen with labels).
HUB = 10
# Differences of so many standard deviations of a count of triangles do matter (chosen with labels).
SPREAD_OF_TRIANGLES = 0.5
# Values from which middle and spread of a strength are told.
MOST_VALUES = 1_000_000


class Strengths(NamedTuple):
    """Ways to weigh a pair against the strangers around it, and how much each is trusted."""

    factors: Values  # (v, 3): of the similarity, of the two means with a cohort, of cohort with cohort
    gains: Values  # (v,): trust by spread
    middles: Values  # (v,)
    hubs: Values  # (v, n): how near each set is to those nearest to it

    def of_row(self, row: Row | PartialRow, means: Values) -> Values:
        """Weigh a query against every set of its row; (m,)."""
        weighed = weigh(self.factors, row.scores, means)
        own = _hubs_of_row(weighed, row)
        hubs = self.hubs[:, row.sets] if isinstance(row, PartialRow) else self.hubs
        parts = weighed - (own[:, None] + hubs) / 2 - self.middles[:, None]
        # Added up in one order, on any number of threads.
        found: Values = (self.gains[:, None] * parts).sum(axis=0)
        return found

    def of_known(self, known: Known, means: Values) -> Values:
        """Weigh the pairs that are known; (m,)."""
        scores, owners = known.scores(), known.owners
        found = np.zeros(len(scores))
        for factors, gain, middle, hubs in zip(*self, strict=True):
            [weighed] = weigh(factors[None], scores, means)
            found += gain * (weighed - (hubs[owners] + hubs[known.sets]) / 2 - middle)
        return found


def shares_of_strangers() -> Values:
    """The factors of the strengths to choose from; (v, 3).

    For inner products, s - a (m + m') + a^2 mm is the product of two vectors, each without a times the mean
    of the strangers around it.
    """
    shares = np.array(SHARES)
    return np.stack([np.ones(len(shares)), shares, shares**2], axis=1)


def trust(triangles: Values) -> Values:
    """Share of each strength, by the closed triangles that it makes; most to those that make most."""
    most = triangles.max()
    shares = np.exp(-(most - triangles) / (SPREAD_OF_TRIANGLES * np.sqrt(most + 1)))
    found: Values = shares / shares.sum()
    return found


def choose(strangers: Strangers, means: Values, rows: list[Row], mutual: int) -> tuple[Strengths, Values]:
    """Try every strength on the gallery and trust those that make it transitive.

    Parameters
    ----------
    strangers : Strangers
    means : array (3, m)
        Of the pairs that are known.
    rows : list of Row
        Some sets of the gallery asked as queries, from which middle and spread are told.
    mutual : int
        How many nearest of each set are looked at for triangles.

    Returns
    -------
    strengths : Strengths
    triangles : array (v,)
        How many each strength closes.
    """
    known, factors = strangers.known, shares_of_strangers()
    scores, owners = known.scores(), known.owners
    hubs, triangles = np.empty((len(factors), len(known.levels))), np.empty(len(factors))
    for place, each in enumerate(factors):
        [weighed] = weigh(each[None], scores, means)
        hubs[place] = hubs_of_known(known, weighed)
        offset = (hubs[place][owners] + hubs[place][known.sets]) / 2
        near, _ = nearest_known(known, weighed - offset, mutual)
        triangles[place] = count_triangles(near)[0].sum() / 3
    middles, spreads = middle_and_spread(factors, hubs, strangers, rows)
    return Strengths(factors, trust(triangles) / spreads, middles, hubs), triangles


def hubs_of_known(known: Known, weighed: Values) -> Values:
    """Mean of each set's best pairs; (n,)."""
    width = min(HUB, len(known.levels) - 1)
    found: Values = nearest_known(known, weighed, width)[1].mean(axis=1)
    return found


def middle_and_spread(
    factors: Values, hubs: Values, strangers: Strangers, rows: list[Row]
) -> tuple[Values, Values]:
    """Median, and 1.4826 times the median distance from it, of each strength over the pairs of some rows."""
    total = len(hubs[0])
    step = -(-len(rows) * total // MOST_VALUES)
    kept = []
    for row in rows:
        weighed = weigh(factors, row.scores, strangers.around(row))
        values = weighed - (_hubs_of_row(weighed, row)[:, None] + hubs) / 2
        kept.append(np.delete(values, [] if row.member is None else row.member, axis=1)[:, ::step])
    values = np.concatenate(kept, axis=1)
    middles = np.median(values, axis=1)
    spreads = 1.4826 * np.median(np.abs(values - middles[:, None]), axis=1)
    return middles, np.where(spreads > 0, spreads, 1.0)


def weigh(factors: Values, scores: Values, means: Values) -> Values:
    """Each way of weighing pairs of known similarity and means; (v, pairs)."""
    plain, with_cohort, between = factors.T[:, :, None]
    found: Values = plain * scores - with_cohort * (means[0] + means[1]) + between * means[2]
    return found


def _hubs_of_row(weighed: Values, row: Row | PartialRow) -> Values:
    others = weighed if row.member is None else weighed[:, row.sets != row.member]
    width = min(HUB, others.shape[1])
    # In their order, so that a sum does not depend on who else was there.
    best = np.sort(np.partition(-others, width - 1, axis=1)[:, :width], axis=1)
    found: Values = -best.mean(axis=1)
    return found
