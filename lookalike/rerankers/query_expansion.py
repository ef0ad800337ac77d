"""Alpha-weighted query expansion: the query and its nearest sets ask together."""

from __future__ import annotations

import numpy as np

from lookalike.errors import BadInput, is_positive
from lookalike.method.tables import Row, Tables, compare, nearest_to
from lookalike.rerankers.contract import Reranker, Scored, check_count


class QueryExpansion(Reranker):
    """score(q, t) = (s(q, t) + sum_i w_i s(r_i, t)) / (1 + sum_i w_i), w_i = s(q, r_i)^alpha [1]_.

    r_i are the query's nearest gallery sets; a target may be one of them and then speaks for itself too. A
    negative similarity has the weight 0. The publication adds up vectors; sets of faces need not be vectors,
    so here their similarities are added, which is the same for inner products.

    Unlike the other rivals it compares whole sets when asked: `neighbours` more rows for each query.

    Parameters
    ----------
    neighbours : int
        How many sets ask with the query, as far as there are so many. Five times as many are usual for
        buildings, of which a collection has hundreds of pictures; a person has a few sets.
    alpha : float
        Power of the similarity; 3 in the publication. The larger, the fewer sets matter.

    References
    ----------
    .. [1] F. Radenović, G. Tolias, O. Chum, "Fine-tuning CNN image retrieval with no human annotation",
       IEEE PAMI 41(7), 2019.
    """

    stored_name = "query_expansion"

    def __init__(self, neighbours: int = 10, alpha: float = 3) -> None:
        self.neighbours = neighbours
        self.alpha = alpha

    def check(self) -> None:
        """Neighbours and alpha in range."""
        check_count("neighbours", self.neighbours)
        if not is_positive(self.alpha):
            raise BadInput(f"alpha must be a number greater than 0, got {self.alpha!r}")

    def score(self, row: Row, tables: Tables) -> Scored:
        """All sets at once; with nobody to ask besides the target, the baseline stays."""
        nobody = np.full(len(tables), -1)
        if len(tables) - (row.member is not None) < 2:
            return Scored(row.scores.copy(), nobody)
        nearest = nearest_to(row, self.neighbours)
        weights = np.maximum(row.scores[nearest], 0.0) ** self.alpha
        asking = compare(tables.similarity, tables.sets[nearest], tables.sets).scores
        # A sum down the columns, not a matrix product: its order of terms does not depend on threads.
        total = row.scores + (weights[:, None] * asking).sum(axis=0)
        return Scored(total / (1.0 + weights.sum()), nobody)
