"""Arithmetic mean of query-proxy and proxy-target similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.parameters import PROXIES
from lookalike.rerankers._means import MeanReranker


class ArithmeticMean(MeanReranker):
    """(s1 + s3) / 2, best proxy (section 3.3 of the paper).

    Parameters
    ----------
    proxies : int
        Proxies of each target, k_p.
    with_baseline : bool
        Whether the baseline may overrule the best proxy.
    """

    def __init__(self, proxies: int = PROXIES, with_baseline: bool = False) -> None:
        super().__init__(proxies, with_baseline)

    def mean(self, s1: NDArray[np.float64], s3: NDArray[np.float64]) -> NDArray[np.float64]:
        """(s1 + s3) / 2."""
        return (s1 + s3) / 2
