"""What the three simple means of the paper share."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.method.metafeatures import metafeatures
from lookalike.method.proxies import proxy_slots
from lookalike.method.tables import Row, Tables
from lookalike.parameters import PROXIES
from lookalike.rerankers.contract import Beliefs, Reranker, check_proxies


class MeanReranker(Reranker):
    """Belief of a proxy = a mean of s1 and s3; the paper found that it mostly hurts (section 3.5).

    Parameters
    ----------
    proxies : int
        Proxies of each target, k_p.
    with_baseline : bool
        Whether the baseline may overrule the best proxy; the paper's comparison is without.
    """

    def __init__(self, proxies: int = PROXIES, with_baseline: bool = False) -> None:
        self.proxies = proxies
        self.with_baseline = with_baseline

    def check(self) -> None:
        """Proxies in range, a truth value for the baseline."""
        check_proxies(self.proxies)
        if not isinstance(self.with_baseline, bool):
            raise BadInput(f"with_baseline must be True or False, got {self.with_baseline!r}")

    @abstractmethod
    def mean(self, s1: NDArray[np.float64], s3: NDArray[np.float64]) -> NDArray[np.float64]:
        """Combine how alike query and proxy are with how alike proxy and target are."""

    def beliefs(self, row: Row, tables: Tables) -> Beliefs:
        """The mean for every proxy."""
        slots = proxy_slots(tables.neighbours, self.proxies, row.member)
        features = metafeatures(row, tables, slots)
        said = self.mean(features[..., 0], features[..., 2])
        return Beliefs(np.take_along_axis(tables.neighbours.sets, slots, axis=1), slots, features, said, None)
