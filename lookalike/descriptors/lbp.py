"""Local binary patterns: how often each small light-dark pattern occurs in each region of a face."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors.contract import Descriptor, Picture, Vector, checked_picture
from lookalike.errors import BadInput
from lookalike.kernels.binary_patterns import uniform_patterns

MOST_POINTS = 24
# ITU-R 601: 0.299 R + 0.587 G + 0.114 B, in 65536ths, so that equal channels keep their value.
GRAY_WEIGHTS = np.array([19595, 38470, 7471], dtype=np.int64)


class Lbp(Descriptor):
    """Counts of uniform local binary patterns in the cells of a grid [1]_.

    Each pixel is compared with `points` neighbours on a circle; a neighbour at least as bright is
    a 1. A pattern is uniform if it turns from 0 to 1 at most once around the circle. The bins of
    one cell are: all 0; the uniform patterns, shorter runs of 1 first; all 1; everything else:
    ``points * (points - 1) + 3`` bins, which is 59 for 8 points.

    The numbers are plain counts, cell after cell along the rows of the grid, neither normalised
    per cell nor rooted: the published baseline is reproduced with these. Cell borders are
    ``i * height // rows``, so cells may differ by one pixel. Every pixel counts, also near the
    edge; what lies beyond the edge is taken as black. Adding brightness therefore changes nothing
    further than `radius` from the edge, and a little within it.

    Parameters
    ----------
    rows, columns : int
        Cells of the grid, from top to bottom and from left to right.
    radius : int
        Of the circle, in pixels.
    points : int
        Neighbours on the circle, 2 to 24.

    References
    ----------
    .. [1] T. Ahonen, A. Hadid, M. Pietikäinen, "Face description with local binary patterns:
       application to face recognition", IEEE PAMI 28(12), 2006.
    """

    stored_name = "lbp"
    prepared_by = "within:root=true"
    # From the hairline to the chin, without the ears. On 75 videos of 22 people of YouTube Faces this was
    # among the best of 11 regions, prepared and not (mAP .35 and .28, 2026-11-16); they differ by little.
    region = (40 / 192, 40 / 192, 152 / 192, 176 / 192)

    def __init__(self, rows: int = 6, columns: int = 5, radius: int = 2, points: int = 8) -> None:
        self.rows = rows
        self.columns = columns
        self.radius = radius
        self.points = points

    @property
    def dimension(self) -> int:
        """How many numbers describe a face: bins times cells."""
        self.check()
        return self.rows * self.columns * self._bins

    def describe(self, picture: Picture) -> Vector:
        """Count the patterns of one face; the counts sum to the number of its pixels.

        The picture has at least one pixel for each cell, and one whole circle. Raises BadInput if an
        option or the picture cannot be used.
        """
        self.check()
        circle = 2 * self.radius + 1
        picture = checked_picture(picture, max(self.rows, circle), max(self.columns, circle))
        patterns = uniform_patterns(_gray(picture), self.points, self.radius)
        height, width = patterns.shape
        cell = _cell_of(height, self.rows)[:, None] * self.columns + _cell_of(width, self.columns)
        bins = cell * self._bins + patterns
        return np.bincount(bins.ravel(), minlength=self.dimension).astype(np.float32)

    def check(self) -> None:
        """Refuse options that are out of range."""
        for name, least in (("rows", 1), ("columns", 1), ("radius", 1), ("points", 2)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
                raise BadInput(
                    f"option {name!r} of lbp must be a whole number from {least} up, got {given!r}"
                )
        if self.points > MOST_POINTS:
            raise BadInput(f"option 'points' of lbp may be at most {MOST_POINTS}, got {self.points}: take 8")

    @property
    def _bins(self) -> int:
        return self.points * (self.points - 1) + 3


def _gray(picture: Picture) -> Picture:
    if picture.ndim == 2:
        return picture
    # Half a unit is added first, so that the shift rounds to the nearest.
    return ((picture @ GRAY_WEIGHTS + 32768) >> 16).astype(np.uint8)


def _cell_of(length: int, cells: int) -> NDArray[np.int64]:
    """Cell of each pixel along one side: cell i starts at i * length // cells."""
    starts = np.arange(1, cells, dtype=np.int64) * length // cells
    return np.searchsorted(starts, np.arange(length), side="right").astype(np.int64)
