"""Scoring: what a question makes of the sets that are to be ranked, before anybody puts them in order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.neighbours import best_first


@dataclass(frozen=True, eq=False)
class Scoring:
    """What a query, or several sets that ask together, make of the sets that are to be ranked.

    Attributes
    ----------
    targets : array (m,)
        Numbers of these sets, in increasing order; who asks is not among them.
    scores, baseline : arrays (m,)
        How sure the re-ranker is of each, and how alike it is by itself.
    through : array (m,)
        Number of the proxy that made the score; -1 if no single one did.
    chances : array (m,) or None
        How likely each shows the query's person, never more than a set that is ranked before; None if
        nothing can be said.
    sets : int
        How many sets could have been ranked: more than targets if there is a shortlist.
    """

    targets: NDArray[np.int64]
    scores: NDArray[np.float64]
    baseline: NDArray[np.float64]
    through: NDArray[np.int64]
    chances: NDArray[np.float64] | None
    sets: int

    def order(self, top: int | None = None) -> NDArray[np.int64]:
        """Places of the best targets; ties go to the baseline, then to the id, by which sets are numbered."""
        return best_first(self.scores, self.baseline, top)

    def of(self, targets: NDArray[np.int64]) -> Scoring:
        """The same of some of the targets, in increasing order."""
        if len(targets) == len(self.targets):
            return self
        where = np.searchsorted(self.targets, targets)
        return replace(
            self,
            targets=targets,
            scores=self.scores[where],
            baseline=self.baseline[where],
            through=self.through[where],
            chances=None if self.chances is None else self.chances[where],
        )
