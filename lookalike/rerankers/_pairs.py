"""Similarities of chosen pairs: looked up where a list holds them, compared where none does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.transitivity.tables import Lists, Row, Tables, compare

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
            compare(similarity, sets[one : one + 1], sets[high[low == one]]).scores[0]
            for one in np.unique(low)
        ]
        return np.concatenate(parts)

    def _keys(self, a: Numbers, b: Numbers) -> Numbers:
        """One number for each pair, the same both ways."""
        keys: Numbers = np.minimum(a, b) * len(self.tables) + np.maximum(a, b)
        return keys
