"""Sets kept as linear subspaces: bases of very many small matrices, and what is shared.

One-sided rotations make the columns of a matrix orthogonal to each other; their lengths are then the singular
values. For matrices of six rows this takes half the time of a call of LAPACK, and most pairs of subspaces do
not even need that: a bound tells that they are far.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_whole
from lookalike.faceset import Faces, checked_faces
from lookalike.kernels.compiled import compiled
from lookalike.kernels.exact import cosines, on_fine_grid, on_grid, plain_unit_rows
from lookalike.kernels.threads import one_blas_thread
from lookalike.parameters import DIMENSION
from lookalike.similarities.contract import (
    Examples,
    Match,
    Matches,
    Mode,
    NearMatches,
    Prepared,
    PreparedSets,
    SetSimilarity,
    reaching,
    wanted,
)

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
    """Leading right singular vectors (r, d) of the rows (n, d), orthonormal, strongest first.

    r is at most ``dimension``, and what the rows span. ``centre`` subtracts the mean row first.
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


# Every pair of sets is decomposed at this size: beyond it, comparing would take for ever.
MOST_DIMENSIONS = 50


class SubspaceSimilarity(SetSimilarity):
    """Compare sets through the singular pairs between their principal subspaces.

    A mode is a matrix (dimension, columns) of orthonormal coordinates in the set's own basis; unused rows
    and columns are zero. A set that spans fewer directions is used at the dimension it has; ``centre``
    subtracts the mean face before directions are found.
    """

    mode_type = np.float64
    version = 2  # decomposed by rotations, no longer by LAPACK

    def __init__(self, dimension: int = DIMENSION, centre: bool = False) -> None:
        self.dimension = dimension
        self.centre = centre

    def prepare(self, faces: Faces) -> Prepared:
        """Find the directions of the set; keep its faces for training rows and evidence."""
        if not is_whole(self.dimension, 1, MOST_DIMENSIONS):
            raise BadInput(
                f"dimension must be a whole number from 1 to {MOST_DIMENSIONS}, got {self.dimension!r}"
            )
        if not isinstance(self.centre, bool):
            raise BadInput(f"centre must be True or False, got {self.centre!r}")
        unit = plain_unit_rows(checked_faces(faces, "the set"))
        found = principal_directions(unit, self.dimension, self.centre)
        if not len(found):
            raise BadInput(
                f"a set of {len(unit)} face(s) without variation spans no centred subspace: "
                f"use centre=False or give more different faces"
            )
        directions = np.zeros((self.dimension, unit.shape[1]))
        directions[: len(found)] = found
        return {
            "directions": on_fine_grid(directions),
            "rank": np.array([len(found)]),
            "faces": on_grid(unit),
        }

    @abstractmethod
    def from_singular(
        self, left: NDArray[Any], values: NDArray[Any], right: NDArray[Any], ranks: NDArray[np.int64]
    ) -> Matches:
        """Scores and modes from the singular pairs of every pair of sets; ranks is the smaller dimension."""

    @abstractmethod
    def closeness(self, length: NDArray[np.float64]) -> NDArray[np.float64]:
        """Similarity of a unit vector to a subspace, from the length of its projection."""

    def sizes(self, sets: PreparedSets) -> NDArray[np.int64]:
        """Number of directions kept."""
        return np.diff(sets.starts["directions"])

    def match(self, a: Prepared, b: Prepared) -> Match:
        """Compare two subspaces."""
        return self.match_as_batch(a, b)

    def match_many(self, a: PreparedSets, b: PreparedSets) -> Matches:
        """One multiplication of all directions, then one small decomposition for each pair of sets."""
        products, ranks = self._products(a, b)
        return self.from_singular(*symmetric_singular_pairs(products.swapaxes(1, 2)), ranks)

    def match_near(
        self,
        a: PreparedSets,
        b: PreparedSets,
        floors_a: NDArray[np.float64],
        floors_b: NDArray[np.float64],
        count: int,
        upper: bool = False,
    ) -> NearMatches:
        """One multiplication of all directions; only pairs whose bound is high enough are decomposed."""
        products, ranks = self._products(a, b)
        matrices, bounds = products.swapaxes(1, 2), self.at_most(products, ranks)

        def scored(chosen: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Matches:
            return self.from_singular(*symmetric_singular_pairs(matrices[chosen]), ranks[chosen])

        # The best by their bounds come first: what they score, others must be able to reach.
        first = wanted(bounds, floors_a, floors_b, count, upper)
        known = np.full(bounds.shape, -np.inf)
        known[first] = scored(first).scores
        chosen = reaching(bounds, known, floors_a, floors_b, count, upper)
        return NearMatches(*chosen, *scored(chosen))

    @abstractmethod
    def at_most(self, products: NDArray[np.float64], ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Upper bound of the score of each pair, from products (n_a, r, n_b, r) of their directions."""

    def _products(self, a: PreparedSets, b: PreparedSets) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        products = cosines(a.arrays["directions"], b.arrays["directions"])
        ranks = np.minimum(a.arrays["rank"][:, None], b.arrays["rank"][None, :])
        return products.reshape(len(a), self.dimension, len(b), self.dimension), ranks

    @abstractmethod
    def agreements(self, modes: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
        """How alike ``modes[i]`` and ``others[i]`` are; one pair and many give the same bits; (m,)."""

    def agreement(self, a: Prepared, mode: Mode, other: Mode) -> float:
        """Compare two modes by their coordinates: the set itself is not needed."""
        return float(self.agreements(mode[None], other[None])[0])

    def agreement_many(
        self, sets: PreparedSets, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Compare all pairs of modes at once."""
        return self.agreements(modes, others)

    def exemplar(self, a: Prepared, mode: Mode) -> int:
        """The face with the longest projection on the mode."""
        spanned = mode.reshape(self.dimension, -1).T @ np.asarray(a["directions"], dtype=np.float64)
        return int(np.linalg.norm(np.asarray(a["faces"], dtype=np.float64) @ spanned.T, axis=1).argmax())

    def examples(self, reference: Prepared, proxy: Prepared) -> Examples:
        """Every face of one of the two sets plays the query (section 2.4.1)."""
        s3, tp, pt = self.match(reference, proxy)

        def rows(faces: NDArray[Any]) -> NDArray[np.float64]:
            on_p = cosines(faces, proxy["directions"])  # (n, dimension): projections in coordinates
            on_r = cosines(faces, reference["directions"])
            return np.column_stack(
                [
                    self.closeness(np.linalg.norm(on_p, axis=1)),
                    self.closeness(np.linalg.norm(on_r, axis=1)),
                    np.full(len(faces), s3),
                    self.closeness(self._within(on_p, pt)),
                    self.closeness(self._within(on_r, tp)),
                ]
            )

        return Examples(rows(reference["faces"]), rows(proxy["faces"]))

    def memorises(self, a: Prepared) -> bool:
        """No more faces than dimensions: the subspace holds every one of them."""
        return len(a["faces"]) <= self.dimension

    def _within(self, projections: NDArray[np.float64], mode: Mode) -> NDArray[np.float64]:
        """Length of each projection's direction inside the span of a mode; 0 if it has no direction."""
        whole = np.linalg.norm(projections, axis=1)
        part = np.linalg.norm(projections @ mode.reshape(self.dimension, -1), axis=1)
        return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
