"""Distance from feature space, from subspace to subspace, turned round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.exact import snapped
from lookalike.similarities._subspaces import SubspaceSimilarity
from lookalike.similarities.contract import Matches


class Dffs(SubspaceSimilarity):
    """1 - mean squared distance of unit vectors of one subspace to the other (section 2.3 of the paper).

    That is |B_A^T B_B|² / r (Frobenius norm, r the smaller dimension). The mode of a set is a subspace of its
    subspace, spanned by the leading half of its canonical vectors; modes agree by the same measure.
    """

    stored_name = "dffs"

    @property
    def mode_shape(self) -> tuple[int, ...]:
        """Columns are canonical vectors in coordinates; unused ones are zero."""
        return (self.dimension, (self.dimension + 1) // 2)

    def at_most(self, products: NDArray[np.float64], ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """The Frobenius norm is the score itself, but for rounding."""
        squares = np.einsum("ikjl,ikjl->ij", products, products)
        return snapped(squares / ranks * (1.0 + 1e-12))

    def from_singular(
        self, left: NDArray[Any], values: NDArray[Any], right: NDArray[Any], ranks: NDArray[np.int64]
    ) -> Matches:
        """Sum of squared canonical correlations, and the leading half of the canonical vectors."""
        squares = np.zeros(values.shape[:-1])
        for column in range(values.shape[-1]):
            squares += values[..., column] ** 2
        columns = self.mode_shape[1]
        kept = np.arange(columns) < (ranks[..., None] + 1) // 2  # (n_a, n_b, columns)
        return Matches(
            snapped(squares / ranks),
            np.where(kept[..., None, :], left[..., :columns], 0.0),
            np.where(kept[..., None, :], right[..., :columns], 0.0),
        )

    def closeness(self, length: NDArray[np.float64]) -> NDArray[np.float64]:
        """1 - squared distance of a unit vector to the subspace: its squared projection."""
        return snapped(length**2)

    def agreements(self, modes: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
        """The same measure between two smaller subspaces."""
        # Written as sums of columns, so that one pair and many give the same bits.
        total = np.zeros(len(modes))
        for i in range(modes.shape[2]):
            for j in range(others.shape[2]):
                product = np.zeros(len(modes))
                for row in range(modes.shape[1]):
                    product += modes[:, row, i] * others[:, row, j]
                total += product**2
        smaller = np.minimum(modes.any(axis=1).sum(axis=1), others.any(axis=1).sum(axis=1))
        return np.minimum(total / np.maximum(smaller, 1), 1.0)
