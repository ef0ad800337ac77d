"""How far a measured share or mean may be from the true one: 95 % intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Quantile of the normal distribution that leaves 2.5 % on each side.
Z = 1.959963984540054


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Interval for a share, which holds for few trials and for shares of 0 and 1 [1]_.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22,
       1927.
    """
    share, square = hits / total, Z * Z / total
    centre = (share + square / 2) / (1 + square)
    half = Z * np.sqrt(share * (1 - share) / total + square / (4 * total)) / (1 + square)
    # At the ends the interval begins or ends exactly there, but for rounding.
    low = float(centre - half) if hits else 0.0
    return low, float(centre + half) if hits < total else 1.0


def around_mean(values: NDArray[Any]) -> tuple[float, float]:
    """Mean plus and minus 1.96 standard errors; NaN for a single value, which says nothing of its spread."""
    if len(values) < 2:
        return float("nan"), float("nan")
    half = Z * float(np.std(values, ddof=1)) / np.sqrt(len(values))
    middle = float(np.mean(values))
    return float(middle - half), float(middle + half)
