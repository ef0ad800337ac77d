"""Adaptive symmetric score normalisation: how unusual a similarity is for either of the two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.method.neighbours import without_query
from lookalike.method.tables import Lists, Row, Tables, nearest_to
from lookalike.rerankers.contract import ListReranker, check_count

# Similarities lie on a grid and are true to about 1e-7: a smaller spread of a cohort is no spread.
LEAST_SPREAD = 1e-6


class AsNorm(ListReranker):
    """score(q, t) = ((s - mu_q) / sd_q + (s - mu_t) / sd_t) / 2 over the cohort of each [1]_, [2]_.

    The cohort of a set are its nearest gallery sets; t is not in q's cohort and q not in t's, so that a
    pair is judged by third parties only. sd is that of the cohort as it is (divided by its size). A cohort of
    one set, or of copies, has none: its half is then the plain difference s - mu, a vote close to 0, instead
    of an infinite one.

    Parameters
    ----------
    cohort : int
        Size of a cohort, as far as there are so many sets. For voices a few hundred are usual, out of
        thousands of speakers.

    References
    ----------
    .. [1] S. Cumani, P. D. Batzu, D. Colibro, C. Vair, P. Laface, V. Vasilakakis, "Comparison of speaker
       recognition approaches for real applications", Interspeech 2011.
    .. [2] P. Matějka, O. Novotný, O. Plchot, L. Burget, M. Diez Sánchez, J. Černocký, "Analysis of score
       normalization in multilingual speaker recognition", Interspeech 2017.
    """

    stored_name = "as_norm"

    def __init__(self, cohort: int = 50) -> None:
        self.cohort = cohort

    def check(self) -> None:
        """A cohort in range."""
        check_count("cohort", self.cohort)

    def reach(self) -> int:
        """One more than wanted: the query is passed over."""
        return self.cohort + 1

    def rescored(self, row: Row, lists: Lists, tables: Tables) -> NDArray[np.float64]:
        """Mean of the two standard scores."""
        of_targets = without_query(lists, row.member, self.cohort).scores
        of_query = self._query_cohorts(row)
        return 0.5 * (_standard(row.scores, of_query) + _standard(row.scores, of_targets))

    def _query_cohorts(self, row: Row) -> NDArray[np.float64]:
        """The query's cohort for each target, which is passed over; (n, cohort)."""
        order = nearest_to(row, self.cohort + 1)
        nearest = row.scores[order]
        cohorts = np.repeat(nearest[None, :-1], len(row.scores), axis=0)
        # The target in place i leaves it to the next one, and so do those behind it.
        for place, target in enumerate(order[:-1]):
            cohorts[target, place:] = nearest[place + 1 :]
        return cohorts


def _standard(scores: NDArray[np.float64], cohorts: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many standard deviations of its cohort each score lies above the cohort's mean; (n,)."""
    spread = cohorts.std(axis=1)
    found: NDArray[np.float64] = (scores - cohorts.mean(axis=1)) / np.where(
        spread > LEAST_SPREAD, spread, 1.0
    )
    return found
