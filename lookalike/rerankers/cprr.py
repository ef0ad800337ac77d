"""Cartesian product of ranking references: who is listed together belongs together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.method.tables import Lists, Row, Tables
from lookalike.rerankers.contract import ListReranker, check_count, ranked_together


class Cprr(ListReranker):
    """score(q, t) = sum_r w(r, q) w(r, t) + sum_{r not q, t} w(q, r) w(t, r): votes for pairs [1]_, [2]_.

    w(r, x) = k + 1 - (place of x in r's list), or 0 beyond place k; a set is first in its own list. So every
    set r votes for all pairs of its list (first sum, their Cartesian product) and for all pairs of those that
    list it (second sum, the product of its references). The lists are those of the gallery and the query
    taken as one collection. Sets that no vote joins with the query come last, in the order of the baseline.

    This is one pass. The publications first make the lists mutual by adding up the places both ways, and then
    repeat; that would re-rank the whole gallery anew for each query that is not in it.

    Parameters
    ----------
    neighbours : int
        Length k of the lists, the set itself counted, as far as there are so many. The authors' program takes
        20, for classes of dozens of pictures; a person has a few sets.

    References
    ----------
    .. [1] L. P. Valem, D. C. G. Pedronette, "Unsupervised similarity learning through Cartesian product of
       ranking references for image retrieval tasks", SIBGRAPI 2016.
    .. [2] L. P. Valem, D. C. G. Pedronette, J. Almeida, "Unsupervised similarity learning through Cartesian
       product of ranking references", Pattern Recognition Letters 114, 2018.
    """

    stored_name = "cprr"

    def __init__(self, neighbours: int = 5) -> None:
        self.neighbours = neighbours

    def check(self) -> None:
        """Neighbours in range; a list of nobody but the set itself joins nobody."""
        check_count("neighbours", self.neighbours, least=2)

    def reach(self) -> int:
        """As many as a list holds; the set itself is not stored."""
        return self.neighbours

    def rescored(self, row: Row, lists: Lists, tables: Tables) -> NDArray[np.float64]:
        """Count the votes for pairs with the query."""
        ranked, number = ranked_together(lists, row, self.neighbours)
        total, length = ranked.shape
        weights = self.neighbours - np.arange(length, dtype=np.float64)
        # Whole numbers, all of them: sums are exact in any order.
        voters, places = np.nonzero(ranked == number)
        votes = weights[places][:, None] * weights
        scores = np.bincount(ranked[voters].ravel(), votes.ravel(), minlength=total).astype(np.float64)
        # References that the query shares with each target; in the first column everybody is its own.
        shared = np.zeros(total)
        shared[ranked[number, 1:]] = weights[1:]
        scores += (shared[ranked[:, 1:]] * weights[1:]).sum(axis=1)
        return scores[: len(tables)]
