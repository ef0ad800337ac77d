"""What re-rankers share that read lists of neighbours instead of asking proxies one by one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.method.neighbours import nearest_lists, with_query
from lookalike.method.tables import Lists, Row, Tables
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Reranker, Scored


class ListReranker(Reranker):
    """Scores all sets at once from the query's row and the gallery's lists of neighbours.

    No label, no other query: a query sees the gallery and itself only.
    """

    @property
    def is_learnt(self) -> bool:
        """The lists are kept: they reach further than those of the index."""
        return True

    @abstractmethod
    def reach(self) -> int:
        """How many neighbours of each set are needed."""

    @abstractmethod
    def rescored(self, row: Row, lists: Lists, tables: Tables) -> NDArray[np.float64]:
        """Score every set; what a member's own place holds means nothing.

        Parameters
        ----------
        row : Row
            The query against all n sets.
        lists : Lists
            Neighbours of each set of the gallery, `reach` of them as far as there are so many; a query that
            is a member is in them: see `without_query` and `with_query`.
        tables : Tables
        """

    def fit(self, tables: Tables, rng: np.random.Generator, track: Track = silent) -> Self:
        """Take the lists over."""
        self.check()
        self.lists_ = nearest_lists(tables, self.reach(), track)
        return self

    def score(self, row: Row, tables: Tables) -> Scored:
        """All sets at once; with nobody to compare with, the baseline stays."""
        if not hasattr(self, "lists_"):
            raise BadInput("this re-ranker was not fitted: use open_search, or train it first")
        others = len(tables) - (row.member is not None)
        scores = row.scores.copy() if others < 2 else self.rescored(row, self.lists_, tables)
        return Scored(scores, np.full(len(tables), -1))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The lists."""
        return self.lists_._asdict()

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take over stored lists."""
        try:
            self.lists_ = Lists(arrays["sets"], arrays["scores"])
        except KeyError as reason:
            raise BadInput(f"the stored lists lack {reason}: train again") from reason
        return self


# Ranked lists of the gallery and the query as one collection, each headed by its own set.


def ranked_together(lists: Lists, row: Row, length: int) -> tuple[NDArray[np.int64], int]:
    """Return the first `length` sets of everybody's list, itself first, and the query's number.

    Parameters
    ----------
    lists : Lists
    row : Row
        The query against all n sets.
    length : int
        At least 1; shorter lists than that if there are fewer sets.

    Returns
    -------
    ranked : array (n, length), or (n + 1, length) with a query from outside
    number : int
        The row of the query.
    """
    joint, number = with_query(lists, row, length - 1)
    return np.column_stack([np.arange(len(joint.sets)), joint.sets]), number
