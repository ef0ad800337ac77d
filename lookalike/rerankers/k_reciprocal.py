"""K-reciprocal encoding: sets are alike that share their mutual neighbours."""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lookalike.errors import BadInput
from lookalike.method.neighbours import REACH, with_query
from lookalike.method.tables import Lists, Row, Tables, compare
from lookalike.rerankers.contract import ListReranker, check_count

Numbers = NDArray[np.int64]


class PairScores:
    """Similarities between sets of a gallery; what no list holds is compared once and remembered.

    A similarity has the same bits wherever it is computed, so answers do not depend on what was asked before.

    Parameters
    ----------
    lists : Lists
    tables : Tables
        The gallery of the lists.
    """

    def __init__(self, lists: Lists, tables: Tables) -> None:
        self.tables = tables
        keys = self._keys(np.arange(len(tables))[:, None], lists.sets).ravel()
        keys, first = np.unique(keys, return_index=True)
        self._known = keys, lists.scores.ravel()[first]

    def of(self, a: Numbers, b: Numbers, row: Row) -> NDArray[np.float64]:
        """Similarity of each pair; a set is alike to itself by 1.

        Parameters
        ----------
        a, b : arrays (m,)
            Numbers of sets; n stands for the query.
        row : Row
            The query against all n sets.
        """
        scores = np.ones(len(a))
        query = np.maximum(a, b) == len(self.tables)
        least = np.minimum(a, b)
        asked = query & (a != b)
        scores[asked] = row.scores[least[asked]]
        inside = ~query & (a != b)
        scores[inside] = self._between(a[inside], b[inside])
        return scores

    def _between(self, a: Numbers, b: Numbers) -> NDArray[np.float64]:
        wanted = self._keys(a, b)
        keys, scores = self._known
        missing = np.setdiff1d(wanted, keys)
        if len(missing):
            keys = np.concatenate([keys, missing])
            scores = np.concatenate([scores, self._compared(missing)])
            order = np.argsort(keys)
            keys, scores = keys[order], scores[order]
            self._known = keys, scores  # both at once: another thread sees the old ones or the new ones
        found: NDArray[np.float64] = scores[np.searchsorted(keys, wanted)]
        return found

    def _compared(self, keys: Numbers) -> NDArray[np.float64]:
        """Compare pairs that no list holds, all of one set at a time; keys in ascending order."""
        sets, similarity = self.tables.sets, self.tables.similarity
        low, high = np.divmod(keys, len(self.tables))
        parts = [
            compare(similarity, sets[number : number + 1], sets[high[low == number]]).scores[0]
            for number in np.unique(low)
        ]
        return np.concatenate(parts)

    def _keys(self, a: Numbers, b: Numbers) -> Numbers:
        """One number for each pair, the same both ways."""
        keys: Numbers = np.minimum(a, b) * len(self.tables) + np.maximum(a, b)
        return keys


# K-reciprocal encoding: sets are alike that share their mutual neighbours.


class _Known(NamedTuple):
    """What all queries of one gallery share."""

    lists: Lists
    pairs: PairScores
    codes: csr_array  # of the gallery: a member's query is in it


class KReciprocal(ListReranker):
    """score = 1 - (1 - weight) Jaccard(V_q, V_t) - weight d(q, t) / max d(q, .), with d = 1 - s [1]_.

    R(x, k): those among x's k nearest that have x among their k nearest, and x. R*(x): R(x, k1), and
    R(c, k1/2) of each c in R(x, k1) that has at least 2/3 of it in R(x, k1). The code of x is exp(-d(x, y))
    for y in R*(x) and 0 elsewhere, divided by its sum; V_x is the mean code of x and its k2 - 1 nearest. The
    Jaccard distance is 1 - sum min(V_q, V_t) / sum max(V_q, V_t). Gallery and query are one collection.

    The publication has squared Euclidean distances of unit vectors, 2 - 2s, each row divided by its largest.
    So do we for the query, whose row is known. Codes take 1 - s itself: rows of the gallery are not kept, and
    codes are divided by their sums, so that its scale hardly matters.

    Parameters
    ----------
    k1 : int
        Nearest sets that may be mutual; 20 in the publication.
    k2 : int
        Sets whose codes are averaged, the set itself counted; 6 in the publication.
    weight : float
        Of the baseline, 0 to 1; 0.3 in the publication.

    References
    ----------
    .. [1] Z. Zhong, L. Zheng, D. Cao, S. Li, "Re-ranking person re-identification with k-reciprocal
       encoding", CVPR 2017.
    """

    stored_name = "k_reciprocal"
    _known: _Known | None = None

    def __init__(self, k1: int = 20, k2: int = 6, weight: float = 0.3) -> None:
        self.k1 = k1
        self.k2 = k2
        self.weight = weight

    def check(self) -> None:
        """Both numbers of neighbours and the weight in range."""
        check_count("k1", self.k1)
        check_count("k2", self.k2)
        if isinstance(self.weight, bool) or not isinstance(self.weight, Real) or not 0 <= self.weight <= 1:
            raise BadInput(f"weight must be a number from 0 to 1, got {self.weight!r}")

    def reach(self) -> int:
        """More than k1: R* holds sets that are further away, and their similarities are needed."""
        return max(self.k1, self.k2, REACH)

    def rescored(self, row: Row, lists: Lists, tables: Tables) -> NDArray[np.float64]:
        """Compare the query's code with all others."""
        known = self._known
        if known is None or known.lists is not lists or known.pairs.tables is not tables:
            pairs = PairScores(lists, tables)
            known = self._known = _Known(lists, pairs, self._codes(lists.sets, pairs, row))
        joint, number = with_query(lists, row, max(self.k1, self.k2))
        codes = known.codes if row.member is not None else self._codes(joint.sets, known.pairs, row)
        own = codes[[number]]
        touched = codes[:, own.indices]
        smaller = np.minimum(touched.data, own.data[touched.indices])
        shared = np.bincount(_rows(touched), smaller, minlength=len(joint.sets))[: len(tables)]
        jaccard = 1.0 - shared / (2.0 - shared)  # codes have the sum 1, so min and max together have 2
        distances = 1.0 - row.scores
        largest = distances.max() if row.member is None else np.delete(distances, row.member).max()
        distances = distances / (largest if largest > 0 else 1.0)
        scores: NDArray[np.float64] = 1.0 - (1.0 - self.weight) * jaccard - self.weight * distances
        return scores

    def _codes(self, sets: Numbers, pairs: PairScores, row: Row) -> csr_array:
        """V of everybody whose neighbours are given; (m, m)."""
        near, half = _mutual(sets, self.k1), _mutual(sets, round(self.k1 / 2))
        # Of candidates c for x: how much of R(c, k1/2) is in R(x, k1). Counts are exact in any order.
        overlap = csr_array((near @ half.T).multiply(near))
        overlap.data = (3 * overlap.data >= 2 * half.sum(axis=1)[overlap.indices]).astype(float)
        expanded = csr_array(near + overlap @ half)
        expanded.eliminate_zeros()
        x = _rows(expanded)
        weights = np.exp(pairs.of(x, expanded.indices.astype(np.int64), row) - 1.0)
        sums = np.bincount(x, weights, minlength=len(sets))
        codes = csr_array((weights / sums[x], expanded.indices, expanded.indptr), shape=expanded.shape)
        averaged = _listed(sets, self.k2 - 1)
        mean = csr_array(averaged @ codes / averaged.sum(axis=1)[0])
        mean.sort_indices()
        return mean


def _listed(sets: Numbers, count: int) -> csr_array:
    """1 where a set is among the nearest `count` of another, or is it; (m, m)."""
    own = np.column_stack([np.arange(len(sets)), sets[:, :count]])
    starts = np.arange(0, own.size + 1, own.shape[1])
    return csr_array((np.ones(own.size), own.ravel(), starts), shape=(len(sets), len(sets)))


def _mutual(sets: Numbers, count: int) -> csr_array:
    """1 where two sets are among the nearest of each other, or are one; (m, m)."""
    listed = _listed(sets, count)
    return csr_array(listed.multiply(listed.T.tocsr()))


def _rows(matrix: csr_array) -> Numbers:
    """The row of each value."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
