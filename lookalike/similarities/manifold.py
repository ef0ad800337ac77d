"""Nearest points of two appearance manifolds, with geodesics inside each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path

from lookalike.errors import BadInput, is_whole
from lookalike.similarities._exemplars import ExemplarSimilarity

# csgraph reads what is almost zero as "no edge"; two equal faces are this far apart instead.
TOUCHING = 1e-7


class Manifold(ExemplarSimilarity):
    """Best cosine between points of two sets; modes agree by the geodesic between them (section 2.3).

    Faces of a set are joined to their nearest neighbours, and by a spanning tree so that no part is cut off.
    The agreement of two faces is exp(-g / s): g their geodesic, s the mean geodesic of the set.

    Parameters
    ----------
    neighbours : int
        To how many nearest faces each face is joined.
    samples : int
        Sets with more faces are represented by at most this many, which bounds the geodesics; 0 keeps all.
    preimage : str
        ``nearest``, ``fixed-point`` or ``learned``.
    bandwidth : float, optional
        Width of the kernel of the selection; the median distance of two faces unless given.
    half : bool
        Keep faces in half precision: half of the memory and of the disk.
    exact : bool
        Compare all pairs for an index of any size; otherwise, from 20,000 sets on, pairs of near means.
    """

    stored_name = "manifold"

    def __init__(
        self,
        neighbours: int = 3,
        samples: int = 50,
        preimage: str = "nearest",
        bandwidth: float | None = None,
        half: bool = False,
        exact: bool = False,
    ) -> None:
        super().__init__(samples, preimage, bandwidth, half, exact)
        self.neighbours = neighbours

    def agreements(self, faces: NDArray[np.float32]) -> NDArray[np.float64]:
        """Decreasing function of all geodesics of the set."""
        if not is_whole(self.neighbours, 1):
            raise BadInput(f"neighbours must be a whole number of at least 1, got {self.neighbours!r}")
        count = len(faces)
        if count == 1:
            return np.ones((1, 1))
        wide = faces.astype(np.float64)
        products = wide @ wide.T
        # Lengths on the grid are not exactly 1; with their own squares, equal faces are exactly 0 apart.
        squares = products.diagonal()
        chords = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)) + TOUCHING
        np.fill_diagonal(chords, 0.0)
        geodesics = shortest_path(_graph(chords, self.neighbours), directed=False)
        spread = geodesics.sum() / (count * (count - 1))
        # Faces that all touch have no spread to speak of: they agree wholly.
        agreements: NDArray[np.float64] = (
            np.exp(-geodesics / spread) if spread > 1e-6 else np.ones_like(chords)
        )
        return agreements


def _graph(chords: NDArray[np.float64], neighbours: int) -> NDArray[np.float64]:
    """Edges to the nearest faces and along a minimum spanning tree; 0 means no edge."""
    nearest = np.argsort(chords, axis=1, kind="stable")[:, 1 : neighbours + 1]
    edges = np.zeros_like(chords)
    np.put_along_axis(edges, nearest, np.take_along_axis(chords, nearest, axis=1), axis=1)
    tree = minimum_spanning_tree(chords).toarray()
    return np.maximum(np.maximum(edges, edges.T), np.maximum(tree, tree.T))
