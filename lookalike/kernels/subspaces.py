"""Principal bases of sets of vectors, and the singular pairs between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.jacobi import singular_pairs_of_all
from lookalike.kernels.threads import one_blas_thread

Floats = NDArray[np.floating[Any]]

# Directions whose singular value is this far below the first are noise of the float32 descriptors.
SMALLEST_RATIO = 1e-6


@one_blas_thread()
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
    """Singular values and vectors of a stack of small matrices by LAPACK, the twin of the compiled loop.

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


def symmetric_singular_pairs(
    products: Floats,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Singular pairs of square matrices; a matrix and its transpose give the same bits, sides exchanged.

    These are the two ways round to compare two sets. Of the two, that one is decomposed whose first entry
    that differs from the other's is the larger.
    """
    turned = np.swapaxes(products, -1, -2)
    differences = (products - turned).reshape(*products.shape[:-2], products.shape[-1] ** 2)
    first = np.take_along_axis(differences, (differences != 0).argmax(axis=-1)[..., None], axis=-1)
    turn = (first < 0)[..., None]
    matrices = np.ascontiguousarray(np.where(turn, turned, products), dtype=np.float64)
    size = matrices.shape[-1]
    left, right = np.empty_like(matrices), np.empty_like(matrices)
    values = np.empty(matrices.shape[:-1])
    square, flat = (-1, size, size), (-1, size)
    singular_pairs_of_all(
        matrices.reshape(square), left.reshape(square), values.reshape(flat), right.reshape(square)
    )
    return np.where(turn, right, left), values, np.where(turn, left, right)
