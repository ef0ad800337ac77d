"""Alignment: a face wherever it stands in a picture becomes a square of fixed geometry, upright.

The square shows the whole head, so that every descriptor finds in it the part that it was made for: a
descriptor names the part as shares of the side, and `cut` takes it out.
"""

from __future__ import annotations

import io
import math
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike.errors import BadInput
from lookalike.faceset import Sighting
from lookalike.ingest.detect import opencv
from lookalike.ingest.pictures import checked

SIDE: Final = 192
# Where the landmarks of a face lie in the square: the template of ArcFace, which has a side of 112, enlarged
# by half and moved so that there is room for forehead and chin.
TEMPLATE: Final[NDArray[np.float64]] = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]
) * 1.5 + (12.0, 8.0)
TEMPLATE.setflags(write=False)
QUALITY: Final = 85  # of a kept square: about 3 kB
# How hard the encoder tries, 0 to 6: 2 takes 1.8 ms instead of the 4.7 ms of its own choice, 4, for 3 % more.
EFFORT: Final = 2


def align(picture: NDArray[np.uint8], landmarks: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Turn, scale and move a face onto the template: (192, 192, 3) in RGB, black where there is no picture.

    The similarity (no shear, no mirror) is the one of least squares. Faces much larger than the square
    are first averaged over blocks of pixels: taking every tenth pixel would make patterns that are not
    there. The picture is RGB or gray, the landmarks (5, 2) are as `lookalike.ingest.detect.Found` has
    them. Raises BadInput if these are not finite, all in one place or away from the picture, or this is
    no picture.
    """
    given, cv2 = checked(picture), opencv()
    move = similarity(landmarks)
    left, top, right, bottom = _reach(move, given)
    # So many pixels of the picture become one; a hair more, for whole numbers that rounding made smaller.
    block = max(1, math.floor(1 / math.hypot(move[0, 0], move[1, 0]) + 1e-6))
    part = given[top:bottom, left:right]
    # Less than a block at the right and lower edge is left out: it would be less than a pixel of the square.
    columns, rows = part.shape[1] // block, part.shape[0] // block
    if not (columns and rows):
        raise BadInput("the landmarks of a face lie away from the picture: give those of this picture")
    if block > 1:
        part = cv2.resize(
            part[: rows * block, : columns * block], (columns, rows), interpolation=cv2.INTER_AREA
        )
    # Pixel u of the part has its centre at block * u + (block - 1) / 2 + left in the picture.
    centre = np.array([left, top]) + (block - 1) / 2
    onto = np.column_stack([move[:, :2] * block, move[:, :2] @ centre + move[:, 2]])
    square = cv2.warpAffine(part, onto, (SIDE, SIDE), flags=cv2.INTER_LINEAR)
    return square if square.ndim == 3 else np.repeat(square[:, :, None], 3, axis=2)


def similarity(landmarks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the similarity of least squares that moves landmarks onto the template.

    In complex numbers it is z -> a z + b, and a is a regression through the origin of centred points. It
    is returned as (2, 3), a turn and scale, and a translation, to be applied to x, y. Raises BadInput if
    the landmarks are not five finite points that differ.
    """
    points = np.asarray(landmarks, dtype=np.float64)
    if points.shape != (5, 2) or not np.isfinite(points).all():
        raise BadInput(f"a face has five landmarks of two finite numbers, got {np.shape(landmarks)}")
    source, target = points @ (1, 1j), TEMPLATE @ (1, 1j)
    centred = source - source.mean()
    spread = float(np.sum(np.abs(centred) ** 2))
    turn = complex(np.sum(centred.conj() * target)) / spread if spread > 0 else 0j
    # A mirrored face, or one whose eyes and mouth changed places, may fit no better than a point.
    if not math.isfinite(spread) or abs(turn) * math.sqrt(spread) < 1.0:
        raise BadInput("the landmarks of a face lie in one place or in no order of a face: detect it again")
    shift = complex(target.mean() - turn * source.mean())
    return np.array([[turn.real, -turn.imag, shift.real], [turn.imag, turn.real, shift.imag]])


def encode_square(square: NDArray[np.uint8]) -> bytes:
    """Make an aligned square into the bytes that are kept: WebP."""
    encoded = io.BytesIO()
    Image.fromarray(checked(square)).save(encoded, "WEBP", quality=QUALITY, method=EFFORT)
    return encoded.getvalue()


def _reach(move: NDArray[np.float64], picture: NDArray[np.uint8]) -> tuple[int, int, int, int]:
    """Return left, top, right, bottom of what the square shows of the picture, with a pixel to spare."""
    height, width = picture.shape[:2]
    corners = np.array([[-1, -1], [SIDE, -1], [-1, SIDE], [SIDE, SIDE]], dtype=np.float64)
    back = np.linalg.solve(move[:, :2], (corners - move[:, 2]).T)
    limits = np.array([[width], [height]])
    low = np.clip(np.floor(back.min(axis=1, keepdims=True)), 0, limits).astype(int).ravel()
    high = np.clip(np.ceil(back.max(axis=1, keepdims=True)) + 1, 0, limits).astype(int).ravel()
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


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
    """Tell how well a face was seen: its aligned square, and landmarks, box and score as `Found` has them."""
    if square.shape != (SIDE, SIDE, 3):
        raise BadInput(f"an aligned square has shape {(SIDE, SIDE, 3)}, got {square.shape}")
    face = square[FACE] @ np.array([0.299, 0.587, 0.114])
    return Sighting(box, score, sharpness(face), float(face.mean()) / 255, turn(landmarks), time)


def sharpness(face: NDArray[np.float64]) -> float:
    """Measure detail against contrast, from 0 to 1, in gray levels (rows, columns) of the aligned square.

    The detail is what the Laplacian leaves; divided by the contrast, it is the same for dim and bright
    pictures. A face of few pixels that was enlarged into the square has little detail, like one that was
    blurred.
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
