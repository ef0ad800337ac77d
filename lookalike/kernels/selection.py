"""Ten faces that stand for a video: kernel PCA, even steps, pre-images.

The variation inside one video is mostly one factor, such as the head turning. Faces are projected on their
first kernel principal component, the line between the two extreme projections is cut in even steps, and each
step is mapped back to a face (section 3.4 of the paper).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.rbf import feature_map, features, landmarks
from lookalike.kernels.threads import one_blas_thread, scipy_linalg

PREIMAGES: Final = ("nearest", "fixed-point", "learned")

# Below this part of the trace of the kernel, a component is rounding.
SMALLEST_ENERGY = 1e-12
# Ridge of the learned pre-image, per face.
RIDGE = 1e-3
MOST_STEPS = 100


@one_blas_thread()
def select(
    faces: Any, samples: int, preimage: str, bandwidth: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Choose at most ``samples`` faces that stand for all.

    Parameters
    ----------
    faces : array (n, d)
    samples : int
        Even steps to take; of two steps that end at the same real face, ``nearest`` keeps one.
    preimage : str
        ``nearest``: the real face whose projection is closest to the step. ``fixed-point``: the vector whose
        image is closest to the step in kernel space [1]_. ``learned``: ridge regression from projections to
        faces [2]_.
    bandwidth : float, optional
        Width of the kernel exp(-|x - y|² / (2 width²)); the median distance of two faces unless given.

    Returns
    -------
    chosen : array (m, d)
        The vectors that stand for the set.
    nearest : array (m,)
        For each, the real face whose projection is closest, in the order of the component.

    References
    ----------
    .. [1] S. Mika et al., "Kernel PCA and de-noising in feature spaces", NIPS 1998.
    .. [2] G. Bakır, J. Weston, B. Schölkopf, "Learning to find pre-images", NIPS 2003.
    """
    faces = np.asarray(faces, dtype=np.float64)
    kernel, width = _kernel(faces, bandwidth)
    values, vectors = _components(kernel, 1)
    if values[0] <= SMALLEST_ENERGY * len(faces):
        return faces[:1], np.zeros(1, dtype=np.int64)
    projections = vectors[:, 0] * np.sqrt(values[0])
    # Equal faces differ in their projections by rounding only: the first of them stands for all.
    grain = 1e-9 * np.ptp(projections)
    projections = np.rint(projections / grain) * grain
    steps = np.linspace(projections.min(), projections.max(), samples)
    nearest = np.abs(projections[None, :] - steps[:, None]).argmin(axis=1)
    if preimage == "nearest":
        _, first = np.unique(nearest, return_index=True)
        nearest = nearest[np.sort(first)]
        return faces[nearest], nearest
    if preimage == "learned":
        return _learned(faces, projections, steps), nearest
    return _fixed_points(faces, vectors[:, 0] / np.sqrt(values[0]), steps, nearest, width), nearest


@one_blas_thread()
def energies(faces: Any, components: int = 3, bandwidth: float | None = None) -> NDArray[np.float64]:
    """Energy of the leading kernel principal components, largest first; (components,)."""
    faces = np.asarray(faces, dtype=np.float64)
    kernel, _ = _kernel(faces, bandwidth)
    found = np.zeros(components)
    values, _ = _components(kernel, min(components, len(faces)))
    values = np.where(values > SMALLEST_ENERGY * len(faces), values, 0.0)
    found[: len(values)] = values
    return found


@one_blas_thread()
def projections(faces: Any, components: int = 2, bandwidth: float | None = None) -> NDArray[np.float64]:
    """Faces on their leading kernel principal components, as `select` sees the first; (n, components).

    Zero where there is no variation, or there are fewer faces than components.
    """
    faces = np.asarray(faces, dtype=np.float64)
    kernel, _ = _kernel(faces, bandwidth)
    values, vectors = _components(kernel, min(components, len(faces)))
    values = np.where(values > SMALLEST_ENERGY * len(faces), values, 0.0)
    found = np.zeros((len(faces), components))
    found[:, : len(values)] = vectors * np.sqrt(values)
    return found


def _kernel(faces: NDArray[np.float64], bandwidth: float | None) -> tuple[NDArray[np.float64], float]:
    squares = np.square(faces).sum(axis=1)
    distances = faces @ faces.T
    distances *= -2.0
    distances += squares[:, None]
    distances += squares[None, :]
    np.maximum(distances, 0.0, out=distances)
    if bandwidth is None:
        pairs = distances[np.triu_indices(len(faces), 1)]
        pairs = pairs[pairs > 1e-12]  # repeated faces say nothing about the width
        bandwidth = float(np.sqrt(np.median(pairs))) if len(pairs) else 1.0
    distances *= -0.5 / bandwidth**2
    return np.exp(distances, out=distances), bandwidth


def _components(kernel: NDArray[np.float64], count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leading eigenvalues and eigenvectors of the centred kernel; a large one is never decomposed whole."""
    size = len(kernel)
    if kernel.min() > 1.0 - 1e-12:  # identical faces: a zero operator, which ARPACK refuses
        return np.zeros(count), np.zeros((size, count))
    means = kernel.mean(axis=0)

    def centred(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        vector = vector.ravel() - vector.mean()
        product = kernel @ vector
        result: NDArray[np.float64] = product - product.mean()
        return result

    linalg = scipy_linalg()
    if size <= max(50, 2 * count + 1):
        whole = kernel - means[None, :] - means[:, None] + means.mean()
        values, vectors = linalg.eigh(whole, subset_by_index=(size - count, size - 1))
    else:
        from scipy.sparse.linalg import LinearOperator, eigsh

        operator = LinearOperator((size, size), matvec=centred, dtype=np.float64)
        # A fixed start makes the result a function of the faces; any start not orthogonal to it will do.
        values, vectors = eigsh(operator, k=count, v0=np.cos(np.arange(size)), which="LA")
    order = np.argsort(values)[::-1]
    return np.maximum(values[order], 0.0), vectors[:, order]


def _learned(
    faces: NDArray[np.float64], projections: NDArray[np.float64], steps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Kernel ridge regression from the projection to the face, in the span of a few projections."""
    spread = float(np.std(projections))
    line, gamma = projections[:, None] / spread, 0.5
    centres = line[landmarks(line, gamma, 1e-8, 50)]
    transform = feature_map(centres, gamma)
    known = features(line, centres, gamma, transform)
    mean = faces.mean(axis=0)
    system = known.T @ known + RIDGE * len(faces) * np.eye(known.shape[1])
    weights = scipy_linalg().solve(system, known.T @ (faces - mean), assume_a="pos")
    mapped: NDArray[np.float64] = (
        features(steps[:, None] / spread, centres, gamma, transform) @ weights + mean
    )
    return mapped


def _fixed_points(
    faces: NDArray[np.float64],
    direction: NDArray[np.float64],
    steps: NDArray[np.float64],
    nearest: NDArray[np.int64],
    width: float,
) -> NDArray[np.float64]:
    """Iterate z = sum g k(z, x) x / sum g k(z, x) from the nearest face; if that diverges, keep the face."""
    found = faces[nearest].copy()
    for row, step in enumerate(steps):
        weights = step * (direction - direction.mean()) + 1.0 / len(faces)
        start = found[row].copy()
        for _ in range(MOST_STEPS):
            near = weights * np.exp(-0.5 * np.square((faces - found[row]) / width).sum(axis=1))
            total = near.sum()
            if abs(total) < 1e-9 * np.abs(near).sum():
                found[row] = start
                break
            new = near @ faces / total
            moved = float(np.linalg.norm(new - found[row]))
            found[row] = new
            if moved < 1e-9:
                break
        if np.linalg.norm(found[row] - start) > 3 * width:
            found[row] = start
    return found
