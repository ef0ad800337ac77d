"""Cross-domain similarity local scaling: nobody is near to everybody."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.method.neighbours import without_query
from lookalike.method.tables import Lists, Row, Tables, nearest_to
from lookalike.rerankers.contract import ListReranker, check_count


class Csls(ListReranker):
    """score(q, t) = 2 s(q, t) - r(q) - r(t), r(x) = mean of s over x's nearest gallery sets [1]_.

    A hub, a set that is alike to all and sundry, has a large r and falls. r(q) is the same for all targets:
    it makes scores of different queries comparable, not the order. The gallery is that without the query.

    Parameters
    ----------
    neighbours : int
        Over how many nearest sets r is the mean, as far as there are so many; 10 in the publication.

    References
    ----------
    .. [1] A. Conneau, G. Lample, M. Ranzato, L. Denoyer, H. Jégou, "Word translation without parallel data",
       ICLR 2018.
    """

    stored_name = "csls"

    def __init__(self, neighbours: int = 10) -> None:
        self.neighbours = neighbours

    def check(self) -> None:
        """Neighbours in range."""
        check_count("neighbours", self.neighbours)

    def reach(self) -> int:
        """One more than wanted: the query is passed over."""
        return self.neighbours + 1

    def rescored(self, row: Row, lists: Lists, tables: Tables) -> NDArray[np.float64]:
        """2 s - r(q) - r(t)."""
        near_targets = without_query(lists, row.member, self.neighbours).scores.mean(axis=1)
        near_query = row.scores[nearest_to(row, self.neighbours)].mean()
        return 2.0 * row.scores - near_query - near_targets
