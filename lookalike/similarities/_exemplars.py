"""Sets kept as exemplars: which faces stand for a video, and what `max_max` and `manifold` share.

The variation inside one video is mostly one factor, such as the head turning. Faces are projected on their
first kernel principal component, the line between the two extreme projections is cut in even steps, and each
step is mapped back to a face (section 3.4 of the paper).

The best pair of faces makes the score and the modes; parts differ in how alike two faces of one set are.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_positive, is_whole
from lookalike.faceset import Faces, checked_faces, evenly
from lookalike.kernels.exact import cosines, half_rows, lengths_of, plain_unit_rows, unit_rows
from lookalike.kernels.neighbours import pairs_reaching
from lookalike.kernels.screening import (
    Screen,
    all_matches,
    error_bound,
    known_lengths,
    match_pairs,
    widened,
)
from lookalike.kernels.svr import feature_map, features, landmarks
from lookalike.kernels.threads import one_blas_thread, scipy_linalg
from lookalike.parameters import SAMPLES
from lookalike.similarities.contract import (
    MOST_COMPARED,
    Examples,
    Match,
    Matches,
    Mode,
    NearMatches,
    Prepared,
    PreparedSets,
    Products,
    SetSimilarity,
    wanted,
)

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
    values, _ = _spectrum(faces, components, bandwidth)
    return np.pad(values, (0, components - len(values)))


@one_blas_thread()
def projections(faces: Any, components: int = 2, bandwidth: float | None = None) -> NDArray[np.float64]:
    """Faces on their leading kernel principal components, as `select` sees the first; (n, components).

    Zero where there is no variation, or there are fewer faces than components.
    """
    values, vectors = _spectrum(faces, components, bandwidth)
    return np.pad(vectors * np.sqrt(values), ((0, 0), (0, components - len(values))))


def _spectrum(
    faces: Any, components: int, bandwidth: float | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leading eigenvalues and eigenvectors of the kernel of some faces; what is but rounding is zero."""
    faces = np.asarray(faces, dtype=np.float64)
    kernel, _ = _kernel(faces, bandwidth)
    values, vectors = _components(kernel, min(components, len(faces)))
    return np.where(values > SMALLEST_ENERGY * len(faces), values, 0.0), vectors


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


class ExemplarSimilarity(SetSimilarity):
    """Largest cosine between a face of one set and a face of the other; a mode is a face number.

    Parts say what their parameters are. Faces are chosen by kernel PCA, in even steps (section 3.4).
    """

    compares_faces = True
    # Left out of the written name at its default, so that tables from before it existed are found again.
    added_options = ("half", "exact")

    def __init__(
        self,
        samples: int = SAMPLES,
        preimage: str = "nearest",
        bandwidth: float | None = None,
        half: bool = False,
        exact: bool = False,
    ) -> None:
        self.exact = exact
        self.samples = samples
        self.preimage = preimage
        self.bandwidth = bandwidth
        self.half = half

    def prepare(self, faces: Faces) -> Prepared:
        """Keep the chosen faces at unit length, and the table of how alike they are among themselves."""
        if not is_whole(self.samples, 0) or self.samples == 1:
            raise BadInput(f"samples must be 0 (all faces) or at least 2, got {self.samples!r}")
        if self.preimage not in PREIMAGES:
            raise BadInput(f"preimage must be one of {', '.join(PREIMAGES)}, got {self.preimage!r}")
        if self.bandwidth is not None and not is_positive(self.bandwidth):
            raise BadInput(f"bandwidth must be a number greater than 0, got {self.bandwidth!r}")
        for name in ("half", "exact"):
            if not isinstance(getattr(self, name), bool):
                raise BadInput(f"{name} must be True or False, got {getattr(self, name)!r}")
        all_faces = checked_faces(faces, "the set")
        spread = evenly(len(all_faces), MOST_COMPARED)
        unit = plain_unit_rows(all_faces[spread])
        chosen = np.arange(len(unit))
        if 0 < self.samples < len(unit):
            unit, chosen = select(unit, self.samples, self.preimage, self.bandwidth)
        kept = unit_rows(unit)
        # Agreements are those of the faces before they are halved.
        found = {"agreements": self.agreements(kept).ravel(), "chosen": spread[chosen].astype(np.int64)}
        if not self.half:
            return {"faces": kept, **found}
        halves = half_rows(unit)
        return {"faces": halves, "lengths": lengths_of(halves), **found}

    @abstractmethod
    def agreements(self, faces: NDArray[np.float32]) -> NDArray[np.float64]:
        """How alike the faces of one set are, each with each; (n, n), at most 1, 1 on the diagonal."""

    def faces(self, sets: PreparedSets) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The faces kept."""
        return sets.arrays["faces"], sets.starts["faces"]

    def sizes(self, sets: PreparedSets) -> NDArray[np.int64]:
        """Number of faces kept."""
        return np.diff(sets.starts["faces"])

    def match(self, a: Prepared, b: Prepared) -> Match:
        """Best pair of faces."""
        return self.match_as_batch(a, b)

    def match_many(self, a: PreparedSets, b: PreparedSets) -> Matches:
        """Best pair of faces for every pair of sets: one multiplication, then one exact product each."""
        return Matches(*all_matches(*self.faces(a), *self.faces(b), *_lengths(a.arrays, b.arrays)))

    def match_near(
        self,
        a: PreparedSets,
        b: PreparedSets,
        floors_a: NDArray[np.float64],
        floors_b: NDArray[np.float64],
        count: int,
        upper: bool = False,
    ) -> NearMatches:
        """One multiplication in single precision; only what may be near is finished exactly."""
        screen = Screen(*self.faces(a), *self.faces(b), *_lengths(a.arrays, b.arrays))
        sets_a, sets_b = wanted(screen.scores, floors_a, floors_b, count, upper, 2 * screen.error)
        scores, modes_a, modes_b = screen.finish(sets_a, sets_b)
        return NearMatches(sets_a, sets_b, scores, modes_a, modes_b)

    def match_rounded(
        self,
        a: PreparedSets,
        b: PreparedSets,
        floors_a: NDArray[np.float64],
        floors_b: NDArray[np.float64],
        count: int,
        upper: bool,
        products: Products,
    ) -> NearMatches:
        """Only what may reach a floor, and of that only faces that may be the best, is finished exactly."""
        units = int(products.off / products.unit) + 2  # the products and the largest are off
        lengths = _lengths(a.arrays, b.arrays)
        screen = Screen(*self.faces(a), *self.faces(b), *lengths, products=products.values, error=units)
        low_a, low_b = (
            np.clip(np.floor(some / products.unit) - units, -(2**30), 2**30).astype(np.int32)
            for some in (floors_a, floors_b)
        )
        room = np.empty((2, screen.scores.size), dtype=np.int64)
        found = pairs_reaching(screen.scores, low_a, low_b, 0 if upper else len(a), room)
        sets_a, sets_b = room[:, :found].copy()
        least = np.minimum(low_a[sets_a], low_b[sets_b])
        scores, modes_a, modes_b = screen.finish(sets_a, sets_b, least)
        kept = (scores >= floors_a[sets_a]) | (scores >= floors_b[sets_b])
        return NearMatches(sets_a[kept], sets_b[kept], scores[kept], modes_a[kept], modes_b[kept])

    @property
    def by_means(self) -> bool:
        """Unless all pairs are to be compared."""
        return not self.exact

    def match_pairs(
        self,
        sets: PreparedSets,
        sets_a: NDArray[np.int64],
        sets_b: NDArray[np.int64],
        floors: NDArray[np.float64],
    ) -> NearMatches:
        """Products in single precision; a pair that reaches its floor is finished exactly."""
        faces, starts = self.faces(sets)
        if faces.dtype == np.float16:
            # Halves are converted: only those that are compared.
            chosen, where = np.unique(np.concatenate([sets_a, sets_b]), return_inverse=True)
            some = sets[chosen]
            (faces, starts), lengths = self.faces(some), some.arrays.get("lengths")
            pairs = where[: len(sets_a)], where[len(sets_a) :]
        else:
            lengths, pairs = sets.arrays.get("lengths"), (sets_a, sets_b)
        long = known_lengths(faces, lengths)
        margin = 2 * error_bound(faces.shape[1], *(() if lengths is None else (long, long)))
        scores = np.empty(len(sets_a))
        modes_a, modes_b = (np.zeros(len(sets_a), dtype=np.int64) for _ in range(2))
        match_pairs(
            widened(faces), np.asarray(starts), long, *pairs, floors, margin, scores, modes_a, modes_b
        )
        kept = scores > -np.inf
        return NearMatches(sets_a[kept], sets_b[kept], scores[kept], modes_a[kept], modes_b[kept])

    def agreement(self, a: Prepared, mode: Mode, other: Mode) -> float:
        """Look the two faces up in the set's own table."""
        return float(a["agreements"][int(mode) * len(a["faces"]) + int(other)])

    def agreement_many(
        self, sets: PreparedSets, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Look all of them up at once."""
        lengths = np.diff(sets.starts["faces"])
        places = sets.starts["agreements"][which] + modes * lengths[which] + others
        found: NDArray[np.float64] = sets.arrays["agreements"][places]
        return found

    def exemplar(self, a: Prepared, mode: Mode) -> int:
        """The face itself."""
        return int(a["chosen"][int(mode)])

    def examples(self, reference: Prepared, proxy: Prepared) -> Examples:
        """Pairs of faces of one set stand for query and target, or query and proxy (section 2.4.1)."""
        s3, tp, pt = self.match(reference, proxy)
        across = _cosines(reference, proxy)  # (n_r, n_p)
        within_r, within_p = _table(reference), _table(proxy)

        # Positive: face a of the reference plays the query, face b is the target's mode for it.
        a, b = _ordered_pairs(len(across))
        pq = across.argmax(axis=1)
        near = across.max(axis=1)
        cos_r = _cosines(reference, reference)
        positives = np.column_stack(
            [near[a], cos_r[a, b], np.full(len(a), s3), within_p[pq[a], pt], within_r[b, tp]]
        )
        # Negative: face a of the proxy plays the query, face b is the proxy's mode for it.
        a, b = _ordered_pairs(across.shape[1])
        tq = across.argmax(axis=0)
        near = across.max(axis=0)
        cos_p = _cosines(proxy, proxy)
        negatives = np.column_stack(
            [cos_p[a, b], near[a], np.full(len(a), s3), within_p[b, pt], within_r[tq[a], tp]]
        )
        return Examples(positives, negatives)


def _lengths(a: Prepared, b: Prepared) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Lengths of the faces of a and b, if they are halves."""
    return a.get("lengths"), b.get("lengths")


def _cosines(a: Prepared, b: Prepared) -> NDArray[np.float64]:
    return cosines(a["faces"], b["faces"], *_lengths(a, b))


def _table(prepared: Prepared) -> NDArray[np.float64]:
    count = len(prepared["faces"])
    table: NDArray[np.float64] = prepared["agreements"].reshape(count, count)
    return table


def _ordered_pairs(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    a, b = np.nonzero(~np.eye(count, dtype=bool))
    return a, b
