"""Detector: the faces of one picture, with five landmarks each, found by YuNet.

OpenCV's number of threads is a setting of the whole process, so it is left alone here: who runs several
detectors in parallel calls `cv2.setNumThreads(1)` once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.intake.yunet import INSTALL, open_network


@dataclass(frozen=True, eq=False)
class Found:
    """One face of a picture.

    Parameters
    ----------
    box : tuple of four floats
        Left, top, width and height in pixels of the picture; it may reach over the edge.
    landmarks : float64 array (5, 2)
        x and y of the eye that is left in the picture, the other eye, the tip of the nose, and the corners of
        the mouth, left in the picture first.
    score : float
        How sure the detector is, from 0 to 1.
    """

    box: tuple[float, float, float, float]
    landmarks: NDArray[np.float64]
    score: float


class Detector:
    """Finds faces; made once, used for many pictures, by any number of threads.

    Parameters
    ----------
    longest : int
        Pictures with a longer side are reduced to it before they are looked at: the time grows with the area.
    smallest : float
        Faces whose box has a smaller side than this, in pixels of the given picture, are left out.
    sure : float
        Faces with a lower score are left out.

    Raises
    ------
    BadInput
        If a number is out of range, or OpenCV or the file of the network is not installed.
    """

    def __init__(self, longest: int = 640, smallest: float = 24.0, sure: float = 0.6) -> None:
        if isinstance(longest, bool) or not isinstance(longest, int) or longest < 32:
            raise BadInput(f"the longest side must be a whole number from 32 up, got {longest!r}")
        if not smallest >= 0:
            raise BadInput(f"the smallest face must be 0 pixels or more, got {smallest!r}")
        if not 0 < sure < 1:
            raise BadInput(f"a detector is sure from a number between 0 and 1 on, got {sure!r}")
        self.longest = longest
        self.smallest = float(smallest)
        self.sure = float(sure)
        self._cv2 = opencv()
        self._network = open_network(self._cv2, self.sure)

    def find(self, picture: NDArray[np.uint8]) -> list[Found]:
        """Find the faces of a picture.

        Parameters
        ----------
        picture : uint8 array (height, width, 3) or (height, width)
            RGB or gray.

        Returns
        -------
        list of Found
            From left to right; the same for the same picture, whatever was looked at before.

        Raises
        ------
        BadInput
            If this is not such a picture.
        """
        given = checked(picture)
        height, width = given.shape[:2]
        if min(height, width) < max(self.smallest, 1):
            return []
        given, back = self._reduced(given)
        if given.ndim == 2:
            given = self._cv2.cvtColor(given, self._cv2.COLOR_GRAY2RGB)
        found = [_face(row, back) for row in self._network.rows(given)]
        kept = [face for face in found if face is not None and min(face.box[2:]) >= self.smallest]
        return sorted(kept, key=lambda face: (face.box, face.score))

    def _reduced(self, picture: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """A picture no longer than may be, and by how much its x and y are to be multiplied to get back."""
        sides = np.array(picture.shape[1::-1])
        if sides.max() <= self.longest:
            return picture, np.ones(2)
        # Means of whole blocks are quick, and so is interpolation of what is left, less than by half. Means
        # over areas of any size take five times as long and find the same: of 709 faces in three films and
        # 84 photos each way found 708 of the other's (2026-11-17).
        block = int(sides.max()) // self.longest
        blocks = np.maximum(sides // block, 1)
        used = np.minimum(blocks * block, sides)
        size = np.maximum(np.rint(sides * (self.longest / sides.max())), 1).astype(int)
        if block > 1:
            part = picture[: used[1], : used[0]]
            picture = self._cv2.resize(part, blocks.tolist(), interpolation=self._cv2.INTER_AREA)
        picture = self._cv2.resize(picture, size.tolist(), interpolation=self._cv2.INTER_LINEAR)
        # Sides are rounded one by one, so each has its own scale.
        return picture, used / size


def opencv() -> Any:
    """Import OpenCV.

    Raises
    ------
    BadInput
        If it cannot be imported.
    """
    try:
        import cv2
    except ImportError:
        raise BadInput(f"finding faces needs OpenCV, which cannot be imported: {INSTALL}") from None
    return cv2


def checked(picture: Any) -> NDArray[np.uint8]:
    """Refuse what is not a picture of bytes, gray or RGB; return it in one piece of memory."""
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8:
        kind = picture.dtype if isinstance(picture, np.ndarray) else type(picture).__name__
        raise BadInput(f"a picture must be an array of uint8, got {kind}: scale and convert it")
    if picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] != 3) or 0 in picture.shape:
        raise BadInput(
            f"a picture must have shape (height, width) or (height, width, 3), got {picture.shape}"
        )
    return np.ascontiguousarray(picture)


def _face(row: NDArray[np.float32], back: NDArray[np.float64]) -> Found | None:
    numbers = row.astype(np.float64)
    if not np.isfinite(numbers).all():
        return None
    points = numbers[:14].reshape(7, 2) * back
    left, top, width, height = points[:2].ravel().tolist()
    return Found((left, top, width, height), points[2:], float(min(max(numbers[14], 0.0), 1.0)))
