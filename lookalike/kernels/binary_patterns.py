"""Local binary patterns: the number of the pattern around each pixel, and of its mirror image.

References
----------
.. [1] T. Ojala, M. Pietikäinen, T. Mäenpää, "Multiresolution gray-scale and rotation invariant texture
   classification with local binary patterns", IEEE PAMI 24(7), 2002.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.threads import blocks

# Rows that are worked on at a time: what is computed on the way stays in the cache.
ROWS: Final = 32


def uniform_patterns(gray: NDArray[np.uint8], points: int, radius: int) -> NDArray[np.int64]:
    """Number the local binary pattern of each pixel.

    Neighbour i of a pixel lies at the angle 2 pi i / points, counted from the right against the clock, and
    has the brightness interpolated between the four pixels around it. Beyond the edge all is black.

    Parameters
    ----------
    gray : uint8 array (height, width)
    points : int
        Neighbours on the circle.
    radius : int
        Of the circle, in pixels.

    Returns
    -------
    int64 array (height, width)
        As `bins_of` numbers them.
    """
    height, width = gray.shape
    angles = 2 * np.pi * np.arange(points) / points
    # Rounded, so that neighbours that fall on a pixel are that pixel.
    steps = np.round([-radius * np.sin(angles), radius * np.cos(angles)], 5).T
    margin = radius + 1
    framed = np.pad(gray.astype(np.float64), margin)
    bins = np.empty((height, width), dtype=np.int64)
    across = np.arange(width)
    for rows in blocks(height, ROWS):
        along = np.arange(rows.start, rows.stop)
        signs = np.empty((points, len(along), width), dtype=bool)
        for point, (down, right) in enumerate(steps):
            top, left = margin + rows.start + math.floor(down), margin + math.floor(right)
            bottom, beside = margin + rows.start + math.ceil(down), margin + math.ceil(right)
            upper, lower = framed[top : top + len(along)], framed[bottom : bottom + len(along)]
            # Shares of the pixel below and of the pixel to the right.
            below, share = _share(along, down)[:, None], _share(across, right)
            high = (1 - share) * upper[:, left : left + width] + share * upper[:, beside : beside + width]
            low = (1 - share) * lower[:, left : left + width] + share * lower[:, beside : beside + width]
            signs[point] = (1 - below) * high + below * low >= gray[rows]
        bins[rows] = bins_of(signs)
    return bins


def bins_of(signs: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number patterns: uniform ones, which turn from 0 to 1 at most once around the circle, and the rest.

    The bins are: all 0; the uniform patterns, shorter runs of 1 first, each run by the turns of the circle
    that bring it to its start; all 1; everything else.

    Parameters
    ----------
    signs : bool array (points, ...)
        Whether each neighbour is at least as bright.

    Returns
    -------
    int64 array (...)
        From 0 to points * (points - 1) + 2.
    """
    points = len(signs)
    ones = signs.sum(axis=0, dtype=np.int64)
    turns = np.where(signs[0], ones - signs.argmin(axis=0), points - signs.argmax(axis=0))
    bins = 1 + (ones - 1) * points + turns
    bins = np.where(ones == 0, 0, np.where(ones == points, points * (points - 1) + 1, bins))
    changes = (signs[1:] != signs[:-1]).sum(axis=0)
    return np.where(changes > 2, points * (points - 1) + 2, bins)


def _share(pixels: NDArray[np.intp], step: float) -> NDArray[np.float64]:
    """How far from one pixel to the next each place is that lies so far behind a pixel."""
    places = pixels + step
    return places - np.floor(places)


# Mirroring: which numbers of a grid of local binary patterns those of the mirror image are.


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
