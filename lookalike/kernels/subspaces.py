"""Principal bases of sets of vectors, and the singular pairs between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

# Directions whose singular value is this far below the first are noise of the float32 descriptors.
SMALLEST_RATIO = 1e-6


def principal_directions(rows: Floats, dimension: int, centre: bool = False) -> NDArray[np.float64]:
    """Leading right singular vectors of the rows.

    Parameters
    ----------
    rows : array (n, d)
    dimension : int
        Most directions to return; fewer come back where the rows span fewer.
    centre : bool
        Whether the mean row is subtracted first.

    Returns
    -------
    array (r, d)
        Orthonormal rows, strongest first; r is 0 if the rows span nothing.
    """
    wide = np.asarray(rows, dtype=np.float64)
    if centre:
        wide = wide - wide.mean(axis=0)
    if wide.shape[0] <= wide.shape[1]:
        _, strengths, directions = np.linalg.svd(wide, full_matrices=False)
    else:
        # Many rows: R of a QR decomposition has the same right singular vectors and is only (d, d).
        _, strengths, directions = np.linalg.svd(np.linalg.qr(wide, mode="r"), full_matrices=False)
    # Unit rows of a single direction have strength sqrt(n); after centring the scale must not be relative
    # to the first strength, or noise around one repeated face would pass for a direction.
    scale = np.sqrt(np.square(np.asarray(rows, dtype=np.float64)).sum())
    kept = min(dimension, int((strengths > SMALLEST_RATIO * scale).sum()))
    return directions[:kept]


def singular_pairs(products: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Singular values and vectors of a stack of small matrices.

    Parameters
    ----------
    products : array (..., r, s)
        Inner products of two bases.

    Returns
    -------
    left : array (..., r, k), values : array (..., k), right : array (..., s, k)
        k = min(r, s), largest value first; vectors are columns.
    """
    left, values, right = np.linalg.svd(products, full_matrices=False)
    return left, values, np.swapaxes(right, -1, -2)
