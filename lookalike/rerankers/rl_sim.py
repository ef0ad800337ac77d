"""Similarity of ranked lists: sets of one person have the same neighbours in the same order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.method.tables import Lists, Row, Tables
from lookalike.rerankers.contract import ListReranker, check_count, ranked_together


class RlSim(ListReranker):
    """score(q, t) = mean over depths d = 1 ... k of |N_d(q) and N_d(t)| / d, the intersection measure [1]_.

    N_d(x) are the first d sets of x's ranked list, x itself first, in the gallery and the query taken as one
    collection. What both lists hold near their heads counts at every greater depth, hence most. Lists that
    share nobody score 0: such sets come last, in the order of the baseline.

    This is one pass. The publication re-ranks every set of the collection by this score and repeats, three
    times; a later pass would have to re-rank the whole gallery anew for each query that is not in it.

    Parameters
    ----------
    neighbours : int
        Depth k of the lists, the set itself counted, as far as there are so many; 15 in the publication.

    References
    ----------
    .. [1] D. C. G. Pedronette, R. da S. Torres, "Image re-ranking and rank aggregation based on similarity of
       ranked lists", Pattern Recognition 46(8), 2013.
    """

    stored_name = "rl_sim"

    def __init__(self, neighbours: int = 15) -> None:
        self.neighbours = neighbours

    def check(self) -> None:
        """Neighbours in range."""
        check_count("neighbours", self.neighbours)

    def reach(self) -> int:
        """As many as a list holds; the set itself is not stored."""
        return self.neighbours

    def rescored(self, row: Row, lists: Lists, tables: Tables) -> NDArray[np.float64]:
        """Overlap with the query's list, without walking through the depths."""
        ranked, number = ranked_together(lists, row, self.neighbours)
        depth = ranked.shape[1]
        # A set at places a and b of the two lists is shared from depth max(a, b) on: it adds the sum of 1/d
        # from there to k. shared[m] is that sum from depth m + 1 on, and 0 for sets that one list lacks.
        shared = np.append(np.cumsum(1.0 / np.arange(depth, 0, -1))[::-1], 0.0)
        place = np.full(len(ranked), depth)
        place[ranked[number]] = np.arange(depth)
        deeper = np.maximum(place[ranked], np.arange(depth))
        scores: NDArray[np.float64] = shared[deeper].sum(axis=1) / depth
        return scores[: len(tables)]
