"""Quadratic mean of query-proxy and proxy-target similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.rerankers.contract import MeanReranker


class QuadraticMean(MeanReranker):
    """sqrt((s1² + s3²) / 2), best proxy (section 3.3 of the paper).

    A negative cosine counts as 0: squared, two dissimilarities would count as likeness.
    """

    stored_name = "quadratic_mean"

    def mean(self, s1: NDArray[np.float64], s3: NDArray[np.float64]) -> NDArray[np.float64]:
        """sqrt((s1² + s3²) / 2)."""
        return np.sqrt((np.maximum(s1, 0) ** 2 + np.maximum(s3, 0) ** 2) / 2)
