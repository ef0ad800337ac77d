"""Whitening: scatter of faces added up set by set, and the linear maps that even it out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.threads import one_blas_thread

Matrix = NDArray[np.float64]

# Faces that are multiplied together: large enough for the library, small beside the tables of d x d numbers.
BLOCK_ROWS = 1024
# Directions with less variance than this part of the largest are rounding errors.
TINY = 1e-9


class Scatter(NamedTuple):
    """How faces vary, told from all sets."""

    faces: int
    sets: int
    mean: Matrix  # (d,)
    within: Matrix  # (d, d): mean product of deviations of faces from the mean of their set
    total: Matrix  # (d, d): mean product of deviations of faces from the mean of all


def scatter(sets: Iterable[NDArray[np.floating]]) -> Scatter | None:
    """Add up the scatter of sets (n, d), each read once; None if there are none.

    Memory is that of two tables of d x d numbers and a block of faces, however many sets there are. Blocks
    are filled in the order of the sets and the library is held to one thread, so that the bits of the
    result depend on nothing but the sets.
    """
    with one_blas_thread():
        adding = _Adding()
        for faces in sets:
            adding.add(np.asarray(faces, dtype=np.float64))
        return adding.result()


class _Adding:
    """Tables that grow: deviations from the mean of the set, and means of sets from an origin.

    The origin is the first face. It changes nothing but rounding: columns that are the same in all faces
    come out as exactly zero.
    """

    def __init__(self) -> None:
        self.origin: Matrix | None = None
        self.counts: list[int] = []
        self.waiting: dict[str, list[Matrix]] = {"within": [], "between": []}

    def add(self, faces: Matrix) -> None:
        if self.origin is None:
            d = faces.shape[1]
            self.origin = faces[0].copy()
            self.sum = np.zeros(d)
            self.tables = {name: np.zeros((d, d)) for name in self.waiting}
        moved = faces - self.origin
        mean = moved.mean(axis=0)
        self.counts.append(len(faces))
        self.sum += len(faces) * mean
        # Identical faces vary by nothing, not by the rounding of their mean.
        same = np.ptp(moved, axis=0) == 0
        self._wait("within", np.where(same, 0.0, moved - mean))
        self._wait("between", np.sqrt(len(faces)) * mean[None])

    def result(self) -> Scatter | None:
        if self.origin is None:
            return None
        for name in self.waiting:
            self._multiply(name)
        faces = sum(self.counts)
        mean = self.sum / faces
        within = self.tables["within"] / faces
        total = within + self.tables["between"] / faces - np.outer(mean, mean)
        return Scatter(faces, len(self.counts), self.origin + mean, within, total)

    def _wait(self, name: str, rows: Matrix) -> None:
        self.waiting[name].append(rows)
        if sum(map(len, self.waiting[name])) >= BLOCK_ROWS:
            self._multiply(name)

    def _multiply(self, name: str) -> None:
        if self.waiting[name]:
            rows = np.concatenate(self.waiting[name])
            self.tables[name] += rows.T @ rows
            self.waiting[name] = []


class Directions(NamedTuple):
    """Principal directions of faces, those of most variance first; directions without variance left out."""

    variances: Matrix  # (r,)
    axes: Matrix  # (d, r)


def directions(total: Matrix) -> Directions:
    """Principal directions of a table of scatter (d, d)."""
    with one_blas_thread():
        variances, axes = np.linalg.eigh(total)
    variances, axes = variances[::-1], axes[:, ::-1]
    kept = int(np.count_nonzero(variances > TINY * max(float(variances[0]), 0.0))) if len(variances) else 0
    # A direction may point either way: its largest number is made positive, whatever the library returns.
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return Directions(variances[:kept], (axes * signs)[:, :kept])


def enough(variances: Matrix, share: float) -> int:
    """How many of the directions hold this share of all variance."""
    held = np.cumsum(variances) / variances.sum()
    return min(int(np.searchsorted(held, share)) + 1, len(variances))


def inverse_root(matrix: Matrix, floor: float) -> Matrix:
    """(M + floor I)^(-1/2) of a symmetric matrix without negative variances."""
    with one_blas_thread():
        variances, axes = np.linalg.eigh(matrix)
        root: Matrix = (axes / np.sqrt(np.maximum(variances, 0.0) + floor)) @ axes.T
    return root
