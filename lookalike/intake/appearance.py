"""Appearance: a short description of an aligned square that tells the faces of one shot apart, cheaply.

Half of it is a gray patch, compared by correlation: features, hair, what is around. The other half is which
colours there are, wherever they are: a head that turns keeps them. Measured on 75 filmed videos of five
frames that lie seconds apart: the likeness of neighbouring frames is .42 or more, and .64 or more for 95 of
100 (by the patch alone -.13 and .34; a turn of the head was enough). That of frames of different people, who
are in other places, is .31 in the middle and under .58 for 95 of 100. People who share a stage and its light
are more alike, .56 to .76 in the one video that has such.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.intake.alignment import SIDE
from lookalike.intake.detector import opencv

PATCH: Final = 24  # side of the gray patch
GRID: Final = 48  # side of the picture whose colours are counted
LEVELS: Final = (4, 8, 8)  # of brightness, red against green, blue against both
# Colours of faces and rooms lie in the middle half of both axes; what is outside counts as on its edge.
NARROW: Final = 64.0


def look(square: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Describe an aligned square.

    Parameters
    ----------
    square : uint8 array (192, 192, 3)
        As `lookalike.intake.alignment.align` makes it.

    Returns
    -------
    float32 array (832,)
        Of length 1, or less where there is nothing to see; the likeness of two is their dot product.
    """
    if square.shape != (SIDE, SIDE, 3):
        raise BadInput(f"an aligned square has shape {(SIDE, SIDE, 3)}, got {square.shape}")
    cv2 = opencv()
    colours = cv2.resize(square, (GRID, GRID), interpolation=cv2.INTER_AREA).astype(np.float32)
    luma = colours @ np.array([0.299, 0.587, 0.114], np.float32)
    gray = cv2.resize(luma, (PATCH, PATCH), interpolation=cv2.INTER_AREA).ravel()
    return np.concatenate([_unit(gray - gray.mean()), _unit(np.sqrt(_counts(colours)))]) * np.sqrt(0.5)


def _counts(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    red, green, blue = np.moveaxis(colours, 2, 0)
    bright, reddish, bluish = LEVELS
    places = (
        (red + green + blue) / 768 * bright,
        ((red - green) / 2 + NARROW) / (2 * NARROW) * reddish,
        ((blue - (red + green) / 2) / 2 + NARROW) / (2 * NARROW) * bluish,
    )
    bins = [place.astype(int).clip(0, most - 1) for place, most in zip(places, LEVELS, strict=True)]
    flat = np.ravel_multi_index(tuple(bins), LEVELS).ravel()
    return np.bincount(flat, minlength=bright * reddish * bluish).astype(np.float32)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    # A gray level is the least that counts as contrast, so that rounding of a plain square is not blown up.
    return vector / max(float(np.linalg.norm(vector)), 1.0)
