"""Mirroring: which numbers of a grid of local binary patterns those of the mirror image are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.patterns import bins_of


def mirrored_patterns(rows: int, columns: int, points: int) -> NDArray[np.intp]:
    """Where each number of the description of a mirrored picture stands in that of the picture.

    Cells change places from left to right, and a neighbour at angle a becomes the one at 180 degrees - a.
    The bins of a cell are: all 0; the uniform patterns, shorter runs of 1 first; all 1; everything else.

    Parameters
    ----------
    rows, columns : int
        Cells of the grid.
    points : int
        Neighbours on the circle, an even number, so that each has a mirror image.

    Returns
    -------
    int array (rows * columns * (points * (points - 1) + 3),)
        A permutation p that undoes itself: ``description[p]`` is that of the mirrored picture.
    """
    bins = points * (points - 1) + 3
    mirrored = np.arange(bins)
    for ones in range(1, points):
        for start in range(points):
            run = (start + np.arange(ones)) % points
            mirrored[_bin_of(run, points)] = _bin_of((points // 2 - run) % points, points)
    cells = np.arange(rows * columns).reshape(rows, columns)[:, ::-1].ravel()
    return (cells[:, None] * bins + mirrored).ravel()


def _bin_of(ones: NDArray[np.intp], points: int) -> int:
    """Bin of the uniform pattern with ones at these places."""
    return int(bins_of(np.isin(np.arange(points), ones)))
