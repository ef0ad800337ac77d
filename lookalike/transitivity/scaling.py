"""Scaling: the five numbers in units of their own spread in a gallery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput


class Scaling(NamedTuple):
    """What is taken off each number, and what it is then divided by."""

    centre: NDArray[np.float64]  # (5,)
    spread: NDArray[np.float64]  # (5,)

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> Self:
        """Mean and standard deviation of rows; a number that never changes is only moved."""
        if not len(rows):
            return cls(np.zeros(rows.shape[1]), np.ones(rows.shape[1]))
        spread = rows.std(axis=0)
        # What differs by rounding alone does not vary.
        return cls(rows.mean(axis=0), np.where(spread > 1e-9, spread, 1.0))

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scaled rows (..., 5)."""
        return (rows - self.centre) / self.spread

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As plain arrays."""
        return {"centre": self.centre, "spread": self.spread}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take over a stored scaling.

        Raises
        ------
        BadInput
            If the arrays are not those of a scaling.
        """
        try:
            found = cls(*(np.asarray(arrays[name], dtype=np.float64) for name in cls._fields))
        except (KeyError, ValueError, TypeError) as reason:
            raise BadInput(f"these arrays are not a stored scaling: {reason!r}") from reason
        if any(one.shape != (5,) or not np.isfinite(one).all() for one in found) or (found.spread <= 0).any():
            raise BadInput("these arrays are not a stored scaling: train again")
        return found
