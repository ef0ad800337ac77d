"""Quality: how well a face was seen, measured on its aligned square and its landmarks."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.intake.alignment import SIDE
from lookalike.sighting import Sighting

# Brows to chin, ear to ear, of the square: rows and columns that hold skin whoever it is, whatever the hair.
FACE: Final = (slice(48, 174), slice(36, 156))
# Detail is measured on a third of the square's resolution: there grain and compression weigh little, and
# blur of more than one pixel of a face of 64 still shows.
BLOCK: Final = 3
# Detail at which sharpness is one half: the median of 225 faces of filmed videos, about 75 pixels wide.
HALF: Final = 0.62
# Gray levels: less contrast than this is none.
PLAIN: Final = 4.0


def judge(
    square: NDArray[np.uint8],
    landmarks: NDArray[np.float64],
    box: tuple[float, float, float, float],
    score: float,
    time: float | None = None,
) -> Sighting:
    """Tell how well a face was seen.

    Parameters
    ----------
    square : uint8 array (192, 192, 3)
        The aligned face.
    landmarks : array (5, 2)
        In the picture it was found in.
    box : tuple of four floats
        Left, top, width, height in that picture.
    score : float
        How sure the detector was.
    time : float, optional
        Seconds from the start of the film.
    """
    if square.shape != (SIDE, SIDE, 3):
        raise BadInput(f"an aligned square has shape {(SIDE, SIDE, 3)}, got {square.shape}")
    face = square[FACE] @ np.array([0.299, 0.587, 0.114])
    return Sighting(box, score, sharpness(face), float(face.mean()) / 255, turn(landmarks), time)


def sharpness(face: NDArray[np.float64]) -> float:
    """Measure detail against contrast, from 0 to 1.

    The detail is what the Laplacian leaves; divided by the contrast, it is the same for dim and bright
    pictures. A face of few pixels that was enlarged into the square has little detail, like one that was
    blurred.

    Parameters
    ----------
    face : float array (rows, columns)
        Gray levels of a part of the aligned square.
    """
    rows, columns = (side // BLOCK for side in face.shape)
    small = face[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK).mean(axis=(1, 3))
    around = small[2:, 1:-1] + small[:-2, 1:-1] + small[1:-1, 2:] + small[1:-1, :-2]
    detail = float((around - 4 * small[1:-1, 1:-1]).std()) / max(float(small.std()), PLAIN)
    return detail / (detail + HALF)


def turn(landmarks: NDArray[np.float64]) -> float:
    """Measure how far a head is turned to its side, from 0 to 1.

    Half the distance of the eyes is 1: so far the nose lies from their middle, along the line through them,
    which tilts with the head. Looking up or down does not count.
    """
    eye, other, nose = np.asarray(landmarks, dtype=np.float64)[:3]
    across = other - eye
    apart = float(across @ across)
    aside = abs(float((nose - (eye + other) / 2) @ across)) * 2
    # Both eyes in one place are those of a head seen from the side.
    return min(1.0, aside / apart) if aside < apart else 1.0
