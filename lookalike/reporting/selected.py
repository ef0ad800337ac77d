"""Where the faces of one set lie on its kernel components, and which of them are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from lookalike.kernels.exact import plain_unit_rows
from lookalike.kernels.selection import SMALLEST_ENERGY, select
from lookalike.kernels.threads import one_blas_thread

# Up to this size the whole decomposition is quicker.
SMALL = 300


@one_blas_thread()
def picture_of(
    faceset_faces: NDArray[np.floating[Any]], samples: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Repeat the choice of faces of one set, for a picture of it.

    Parameters
    ----------
    faceset_faces : array (n, d)
        Faces as the set holds them.
    samples : int
        Even steps; 0 keeps all faces. As for the similarities, a set with no more faces keeps all.

    Returns
    -------
    projections : array (n, 2)
        First two kernel principal components; zero where there is no variation.
    chosen : array (m,)
        Faces taken, in the order of the first component.
    evenly : array (samples,)
        The even steps on the first component; empty if all faces are kept.
    """
    unit = plain_unit_rows(faceset_faces)
    projections = _projections(unit)
    if not 0 < samples < len(unit):
        return projections, np.argsort(projections[:, 0], kind="stable"), np.empty(0)
    _, chosen = select(unit, samples, "nearest")
    line = projections[:, 0]
    # The sign of a component is arbitrary: the first face taken lies on the left.
    if line[chosen[0]] > line[chosen[-1]]:
        projections = projections * [-1.0, 1.0]
        line = projections[:, 0]
    return projections, chosen, np.linspace(line.min(), line.max(), samples)


def _projections(unit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kernel PCA as `select` does it (the median distance is the width of the kernel), two components."""
    size = len(unit)
    found = np.zeros((size, 2))
    squares = np.maximum(2.0 - 2.0 * (unit @ unit.T), 0.0)
    apart = squares[np.triu_indices(size, 1)]
    apart = apart[apart > 1e-12]  # repeated faces say nothing about the width
    if not len(apart):
        return found
    kernel = np.exp(squares * (-0.5 / np.median(apart)))
    means = kernel.mean(axis=0)
    centred = kernel - means[None, :] - means[:, None] + means.mean()
    count = min(2, size)
    if size <= SMALL:
        values, vectors = scipy.linalg.eigh(centred, subset_by_index=(size - count, size - 1))
    else:
        # A fixed start makes the result a function of the faces.
        values, vectors = eigsh(centred, k=count, v0=np.cos(np.arange(size)), which="LA")
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    values = np.where(values > SMALLEST_ENERGY * size, values, 0.0)
    found[:, :count] = vectors * np.sqrt(values)
    return found
