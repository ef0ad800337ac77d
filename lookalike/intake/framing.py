"""Framing: how faces stand in ready-made crops, so that a face found in a photo is cut the same way.

Nobody says how crops were cut, and to descriptors that count patterns in the cells of a grid it is all that
matters. So it is measured: faces are found in some crops, and the aligned square is cut as they lie in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike.descriptors.contract import Descriptor, Picture, Region, Vector
from lookalike.intake.alignment import SIDE, similarity
from lookalike.intake.detector import Detector, Found
from lookalike.intake.pictures import LONGEST
from lookalike.intake.wrapped import WrappedDescriptor

# Faces must be found in this share of the crops; else the detector does not see what these crops show.
ENOUGH: Final = 1 / 3
# A picture is a crop up to so many times the size of those known, if its face is not much smaller in it.
LARGER: Final = 1.1
SMALLER: Final = 0.75
# Crops that were reduced to be kept were larger, nobody remembers how much: up to this side they are crops.
REDUCED: Final = 256


@dataclass(frozen=True)
class Framing:
    """How crops are cut.

    Parameters
    ----------
    region : tuple of four floats
        Left, top, right, bottom of a crop in the aligned square, as shares of its side; it may reach beyond.
    size : tuple of two ints
        Width and height of crops, in pixels.
    largest : tuple of two ints
        Width and height up to which a picture may be a crop.
    fills : float or None
        Which share of the height of a crop its face takes; None if the detector does not see faces in them.
    """

    region: Region
    size: tuple[int, int]
    largest: tuple[int, int]
    fills: float | None

    def is_crop(self, picture: Picture, detector: Detector) -> bool:
        """Whether a picture is a crop itself: as small as they are, without faces much smaller than theirs.

        One that shows no face to the detector may be one, as others are.
        """
        if not self.may_be_crop(*picture.shape[1::-1]):
            return False
        found = [] if self.fills is None else detector.find(picture)
        largest = max((face.box[3] for face in found), default=None)
        return largest is None or largest >= SMALLER * (self.fills or 0.0) * picture.shape[0]

    def may_be_crop(self, width: int, height: int) -> bool:
        """Whether a picture of this size may be a crop."""
        return width <= self.largest[0] and height <= self.largest[1]

    def cut(self, square: Picture) -> Picture:
        """Cut an aligned square as a crop; what lies beyond its edge is as the edge."""
        left, top, right, bottom = (SIDE * share for share in self.region)
        beyond = int(np.ceil(max(0.0, -left, -top, right - SIDE, bottom - SIDE)))
        around = ((beyond, beyond), (beyond, beyond), (0, 0))
        wide = Image.fromarray(np.pad(square, around, mode="edge"))
        box = (left + beyond, top + beyond, right + beyond, bottom + beyond)
        return np.asarray(wide.resize(self.size, Image.Resampling.LANCZOS, box=box))


def framing_of(crops: Sequence[Picture], detector: Detector, region: Region) -> Framing:
    """Measure how crops are cut.

    Parameters
    ----------
    crops : sequence of uint8 arrays (height, width) or (height, width, 3)
        At least one, as they are kept in a gallery.
    detector : Detector
        One that takes small faces.
    region : tuple of four floats
        Taken where too few crops show a face to the detector.
    """
    sizes = np.array([crop.shape[1::-1] for crop in crops])
    width, height = (int(side) for side in np.median(sizes, axis=0))
    largest = tuple(int(LARGER * side) for side in sizes.max(axis=0))
    if sizes.max() >= LONGEST:
        largest = REDUCED, REDUCED
    measured = []
    for crop in crops:
        faces = detector.find(crop)
        if faces:
            measured.append(_measured(crop, max(faces, key=lambda face: face.box[2] * face.box[3])))
    if len(measured) < max(1, ENOUGH * len(crops)):
        return Framing(region, (width, height), (largest[0], largest[1]), None)
    middle = np.median(np.array(measured), axis=0)
    x, y, half_width, half_height, fills = (float(number) for number in middle)
    found = (x - half_width, y - half_height, x + half_width, y + half_height)
    return Framing(found, (width, height), (largest[0], largest[1]), fills)


def _measured(crop: Picture, face: Found) -> NDArray[np.float64]:
    """Centre and half sides of a crop in the aligned square, and which share of its height the face takes."""
    height, width = crop.shape[:2]
    move = similarity(face.landmarks)
    centre = move[:, :2] @ (width / 2, height / 2) + move[:, 2]
    scale = float(np.hypot(move[0, 0], move[1, 0])) / SIDE
    return np.array([*(centre / SIDE), scale * width / 2, scale * height / 2, face.box[3] / height])


class FramedDescriptor(WrappedDescriptor):
    """A descriptor that sees aligned squares as it saw crops.

    Parameters
    ----------
    part : Descriptor
        What describes the crops.
    framing : Framing
        How they are cut.
    """

    # The framing cuts what the descriptor wants to see.
    region = Descriptor.region

    def __init__(self, part: Descriptor, framing: Framing) -> None:
        super().__init__(part)
        self.framing = framing

    def describe(self, picture: Picture) -> Vector:
        """Describe an aligned square."""
        return super().describe(self.framing.cut(picture))

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe aligned squares, one a row."""
        return super().describe_many([self.framing.cut(picture) for picture in pictures])
