"""Geometric mean of query-proxy and proxy-target similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.rerankers.contract import MeanReranker


class GeometricMean(MeanReranker):
    """sqrt(s1 s3), best proxy (section 3.3 of the paper).

    A negative cosine counts as 0: a root knows no sign.
    """

    stored_name = "geometric_mean"

    def mean(self, s1: NDArray[np.float64], s3: NDArray[np.float64]) -> NDArray[np.float64]:
        """sqrt(s1 s3)."""
        return np.sqrt(np.maximum(s1, 0) * np.maximum(s3, 0))
