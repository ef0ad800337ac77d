"""Where the faces of one set lie on its kernel components, and which of them are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.exact import plain_unit_rows
from lookalike.kernels.selection import projections, select


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
    places = projections(unit)
    if not 0 < samples < len(unit):
        return places, np.argsort(places[:, 0], kind="stable"), np.empty(0)
    _, chosen = select(unit, samples, "nearest")
    line = places[:, 0]
    # The sign of a component is arbitrary: the first face taken lies on the left.
    if line[chosen[0]] > line[chosen[-1]]:
        places = places * [-1.0, 1.0]
        line = places[:, 0]
    return places, chosen, np.linspace(line.min(), line.max(), samples)
