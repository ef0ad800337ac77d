"""Maximum correlation: the best cosine between any vectors of two subspaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.exact import snapped
from lookalike.similarities._subspaces import SubspaceSimilarity, largest_at_most
from lookalike.similarities.contract import Matches


class MaxCorrelation(SubspaceSimilarity):
    """sim(A, B) = largest singular value of B_A^T B_B (section 3.3 of the paper).

    The modes are the first pair of canonical vectors, in the coordinates of each set's basis; two modes of
    a set agree by the absolute cosine, because the sign of a singular vector means nothing.
    """

    stored_name = "max_correlation"

    @property
    def mode_shape(self) -> tuple[int, ...]:
        """A unit vector of coordinates."""
        return (self.dimension,)

    def at_most(self, products: NDArray[np.float64], ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """A bound of the largest singular value that needs no decomposition."""
        found = np.empty((products.shape[0], products.shape[2]))
        largest_at_most(products, found)
        return snapped(found)

    def from_singular(
        self, left: NDArray[Any], values: NDArray[Any], right: NDArray[Any], ranks: NDArray[np.int64]
    ) -> Matches:
        """The first singular pair."""
        return Matches(snapped(values[..., 0]), left[..., 0], right[..., 0])

    def closeness(self, length: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cosine of a unit vector with its projection: the length itself."""
        return snapped(length)

    def agreements(self, modes: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
        """Absolute cosine of two vectors, because the sign of a singular vector means nothing."""
        # Summed component by component, so that one pair and many give the same bits.
        total = np.zeros(len(modes))
        for column in range(modes.shape[1]):
            total += modes[:, column] * others[:, column]
        return np.minimum(np.abs(total), 1.0)
