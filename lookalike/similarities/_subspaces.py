"""Sets kept as linear subspaces: what `max_correlation` and `dffs` share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_whole
from lookalike.faceset import Faces, checked_faces
from lookalike.kernels.exact import cosines, on_fine_grid, on_grid, plain_unit_rows
from lookalike.kernels.svd import principal_directions, symmetric_singular_pairs
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

# Every pair of sets is decomposed at this size: beyond it, comparing would take for ever.
MOST_DIMENSIONS = 50


class SubspaceSimilarity(SetSimilarity):
    """Compare sets through the singular pairs between their principal subspaces.

    A mode is a matrix (dimension, columns) of orthonormal coordinates in the set's own basis; unused rows
    and columns are zero.

    Parameters
    ----------
    dimension : int
        Most directions kept for a set; a set that spans fewer is used at the dimension it has.
    centre : bool
        Whether the mean face is subtracted before the directions are found.
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
