"""Frames with drawn people at known places, for the tests of what looks at frames."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from lookalike.demo.drawing import draw_face
from lookalike.demo.people import Person, View, draw_person


@functools.cache
def face(number: int, yaw: float = 0.0, size: int = 96) -> NDArray[np.uint8]:
    """A person of world 0, as one view shows them."""
    return draw_face(person(number), View(yaw=yaw), size)


@functools.cache
def person(number: int) -> Person:
    return draw_person(0, number)


def frame(
    *faces: tuple[NDArray[np.uint8], int, int], height: int = 240, width: int = 320, shade: int = 110
) -> NDArray[np.uint8]:
    """A plain frame with faces pasted at (left, top)."""
    made = np.full((height, width, 3), shade, np.uint8)
    for picture, left, top in faces:
        made[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return made
