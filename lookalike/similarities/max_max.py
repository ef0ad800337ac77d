"""Maximum maximorum: the best cosine over all pairs of faces of two sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.exact import cosines
from lookalike.similarities._exemplars import ExemplarSimilarity


class MaxMax(ExemplarSimilarity):
    """sim(A, B) = max over f in A, g in B of cos(f, g) (section 3.3 of the paper).

    The mode of a set is its face in the best pair; two modes agree by the cosine of their faces.

    Parameters
    ----------
    samples : int
        Sets with more faces are represented by at most this many; 0 keeps all.
    preimage : str
        ``nearest`` (a real face, so that evidence is a real picture), ``fixed-point`` or ``learned``.
    bandwidth : float, optional
        Width of the kernel of the selection; the median distance of two faces unless given.
    half : bool
        Keep faces in half precision: half of the memory and of the disk.
    exact : bool
        Compare all pairs for an index of any size; otherwise, from 20,000 sets on, pairs of near means.
    """

    stored_name = "max_max"

    def agreements(self, faces: NDArray[np.float32]) -> NDArray[np.float64]:
        """Cosines of the faces."""
        table = cosines(faces, faces)
        np.fill_diagonal(table, 1.0)
        return table
