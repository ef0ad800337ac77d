"""Singular values and vectors of very many small matrices, and principal bases of sets of vectors.

One-sided rotations make the columns of a matrix orthogonal to each other; their lengths are then the singular
values. For matrices of six rows this takes half the time of a call of LAPACK, and most pairs of subspaces do
not even need that: a bound tells that they are far.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled
from lookalike.kernels.threads import one_blas_thread

Doubles = NDArray[np.float64]

# Columns whose cosine is smaller than this are orthogonal; rotations square it, so few sweeps are needed.
ORTHOGONAL: Final = 1e-15
MOST_SWEEPS: Final = 40
# A column this much shorter than the longest has no direction of its own.
NOTHING: Final = 1e-13


@compiled
def largest_at_most(products: Doubles, found: Doubles) -> None:
    """Upper bound of the largest singular value of each matrix products[i, :, j, :]; into found (n_a, n_b).

    With G = M^T M, the eighth root of the trace of G^4 is at least the largest singular value and, for r
    columns, at most r^(1/8) times it: enough to tell which pairs are far, for a tenth of the work.
    """
    first, rows, second, columns = products.shape
    gram = np.empty((columns, columns))
    for i in range(first):
        for j in range(second):
            for p in range(columns):
                for q in range(p, columns):
                    total = 0.0
                    for k in range(rows):
                        total += products[i, k, j, p] * products[i, k, j, q]
                    gram[p, q] = total
                    gram[q, p] = total
            trace = 0.0
            for p in range(columns):
                for q in range(p, columns):
                    total = 0.0
                    for k in range(columns):
                        total += gram[p, k] * gram[q, k]
                    trace += total * total * (1.0 if p == q else 2.0)
            # A little more than the rounding of the sums.
            found[i, j] = np.sqrt(np.sqrt(np.sqrt(trace))) * (1.0 + 1e-12)


@compiled
def singular_pairs_of_all(matrices: Doubles, left: Doubles, values: Doubles, right: Doubles) -> None:
    """Singular values, largest first, and vectors as columns, of square matrices (m, r, r).

    Into left (m, r, r), values (m, r), right (m, r, r). Of equal values that of the lower column comes first.
    """
    size = matrices.shape[1]
    work, turned = np.empty((size, size)), np.empty((size, size))
    lengths = np.empty(size)
    for number in range(len(matrices)):
        _take_columns(matrices[number], work)
        turned[:] = 0.0
        for column in range(size):
            turned[column, column] = 1.0
        _make_orthogonal(work, turned)
        for column in range(size):
            lengths[column] = _length(work[column])
        order = np.argsort(-lengths, kind="mergesort")
        for place in range(size):
            column = order[place]
            values[number, place] = lengths[column]
            right[number, :, place] = turned[column]
            if lengths[column] > NOTHING * lengths[order[0]]:
                for row in range(size):
                    left[number, row, place] = work[column, row] / lengths[column]
            else:
                _complete(left[number], place)


@compiled
def _take_columns(matrix: Doubles, work: Doubles) -> None:
    """Columns as rows of work, where they lie in one piece."""
    for column in range(work.shape[0]):
        for row in range(work.shape[1]):
            work[column, row] = matrix[row, column]


@compiled
def _make_orthogonal(work: Doubles, turned: Doubles) -> None:
    """Rotate pairs of rows of work until all are orthogonal; turned, unless it is empty, goes along."""
    size = work.shape[0]
    for _ in range(MOST_SWEEPS):
        rotated = False
        for p in range(size - 1):
            for q in range(p + 1, size):
                alpha, beta, gamma = 0.0, 0.0, 0.0
                for k in range(work.shape[1]):
                    alpha += work[p, k] * work[p, k]
                    beta += work[q, k] * work[q, k]
                    gamma += work[p, k] * work[q, k]
                if abs(gamma) <= ORTHOGONAL * np.sqrt(alpha * beta) or gamma == 0.0:
                    continue
                rotated = True
                # tan, cos and sin of the angle that makes the two orthogonal.
                zeta = (beta - alpha) / (2.0 * gamma)
                tangent = (1.0 if zeta >= 0.0 else -1.0) / (abs(zeta) + np.sqrt(1.0 + zeta * zeta))
                cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
                _rotate(work[p], work[q], cosine, cosine * tangent)
                if turned.shape[0] > 0:
                    _rotate(turned[p], turned[q], cosine, cosine * tangent)
        if not rotated:
            return


@compiled
def _rotate(a: Doubles, b: Doubles, cosine: float, sine: float) -> None:
    for k in range(len(a)):
        first = a[k]
        a[k] = cosine * first - sine * b[k]
        b[k] = sine * first + cosine * b[k]


@compiled
def _length(vector: Doubles) -> float:
    total = 0.0
    for k in range(len(vector)):
        total += vector[k] * vector[k]
    return np.sqrt(total)


@compiled
def _complete(left: Doubles, place: int) -> None:
    """Put a unit vector into a column that is orthogonal to those before it: any would do."""
    size = left.shape[0]
    found = np.empty(size)
    for axis in range(size):
        found[:] = 0.0
        found[axis] = 1.0
        # Twice, because once is not orthogonal to the last bit.
        for _ in range(2):
            for column in range(place):
                inner = 0.0
                for row in range(size):
                    inner += found[row] * left[row, column]
                for row in range(size):
                    found[row] -= inner * left[row, column]
        length = _length(found)
        if length > 0.5 / np.sqrt(size):
            for row in range(size):
                left[row, place] = found[row] / length
            return


# Principal bases of sets of vectors, and the singular pairs between them.


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
