"""One picture of one person: painted back to front, lit, photographed."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.worlds import features, hair, head, light, marks, worn
from lookalike.worlds.canvas import SUPERSAMPLE, Canvas
from lookalike.worlds.people import Person
from lookalike.worlds.rooms import room
from lookalike.worlds.views import Expression, Light, Style, View, Worn

SMALLEST: Final = 32

__all__ = ["SMALLEST", "Expression", "Light", "Style", "View", "Worn", "check_size", "draw_face", "painted"]


def draw_face(person: Person, view: View, size: int = 96) -> NDArray[np.uint8]:
    """Draw a person as one view shows them.

    Parameters
    ----------
    person : Person
        Who.
    view : View
        Pose, light, expression, what is worn, the camera's faults.
    size : int
        Width and height, at least `SMALLEST`.

    Returns
    -------
    array (size, size, 3)
        Red, green, blue bytes; the same for the same arguments.
    """
    return light.photographed(light.lit(painted(person, view, size)), view)


def painted(person: Person, view: View, size: int) -> Canvas:
    """Paint a person back to front, not yet lit: a canvas that knows which part of it is the person.

    Parameters
    ----------
    person, view, size : Person, View, int
        As for `draw_face`.
    """
    check_size(size)
    canvas = Canvas(person, view, room(view.style.room, view.style.clutter, size, SUPERSAMPLE))
    hair.paint_hair_behind(canvas)
    head.paint_shoulders(canvas)
    head.paint_head(canvas)
    marks.paint_marks(canvas)
    hair.paint_beard(canvas)
    features.paint_mouth(canvas)
    features.paint_eyes(canvas)
    features.paint_nose(canvas)
    features.paint_brows(canvas)
    hair.paint_hair_before(canvas)
    worn.paint_hat(canvas)
    worn.paint_glasses(canvas)
    worn.paint_microphone(canvas)
    return canvas


def check_size(size: int) -> None:
    """Refuse pictures too small to hold a face."""
    if size < SMALLEST:
        raise BadInput(
            f"a drawn face is {SMALLEST} pixels wide or more, got size {size}: ask for a larger picture"
        )
