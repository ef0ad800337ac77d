"""Arithmetic mean of query-proxy and proxy-target similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.rerankers.contract import MeanReranker


class ArithmeticMean(MeanReranker):
    """(s1 + s3) / 2, best proxy (section 3.3 of the paper)."""

    stored_name = "arithmetic_mean"

    def mean(self, s1: NDArray[np.float64], s3: NDArray[np.float64]) -> NDArray[np.float64]:
        """(s1 + s3) / 2."""
        return (s1 + s3) / 2
