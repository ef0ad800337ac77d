"""Canvas: where points of the face land in the picture."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from lookalike.demo.canvas import HALF_PICTURE, SUPERSAMPLE, Canvas
from lookalike.demo.people import View, draw_person

SIDE = 64 * SUPERSAMPLE


def canvas(view: View) -> Canvas:
    return Canvas(draw_person(0, 0), view, Image.new("RGB", (SIDE, SIDE)))


def test_one_unit_from_the_front() -> None:
    origin, right, below = canvas(View()).around([(0, 0), (1, 0), (0, 1)])
    unit = SIDE / 2 / HALF_PICTURE
    np.testing.assert_allclose(right - origin, (unit, 0), atol=1e-9)
    np.testing.assert_allclose(below - origin, (0, unit), atol=1e-9)


def test_roll_turns_clockwise() -> None:
    origin, right = canvas(View(roll=90)).around([(0, 0), (1, 0)])
    # A quarter turn clockwise takes what was right of the middle below it.
    np.testing.assert_allclose(right - origin, (0, SIDE / 2 / HALF_PICTURE), atol=1e-9)


def test_nearer_points_move_further_when_the_head_turns() -> None:
    turned = canvas(View(yaw=20))
    flat, nose = turned.on_face([(0, 0)])[0], turned.on_face([(0, 0)], 0.3)[0]
    assert nose[0] - flat[0] == pytest.approx(0.3 * np.sin(np.radians(20)) * turned.unit)


def test_outlines_at_once_equal_one_by_one() -> None:
    turned = canvas(View(yaw=15, pitch=-8, roll=4))
    shapes = [np.array([(0.1, 0.2), (0.3, -0.1)]), np.array([(0.0, 0.5), (-0.2, 0.1), (0.3, 0.3)])]
    for together, alone in zip(turned.on_face_each(shapes), map(turned.on_face, shapes), strict=True):
        np.testing.assert_allclose(together, alone)


def test_only_solid_paint_hides_the_room() -> None:
    square = np.array([(0, 0), (SIDE, 0), (SIDE, SIDE), (0, SIDE)], dtype=float)
    painted = canvas(View())
    painted.fill(square, np.array((200.0, 100.0, 0.0)), alpha=0.5)
    picture, solid = painted.finished()
    np.testing.assert_allclose(picture[:, 32, 32], (100, 50, 0), atol=2)
    assert solid.max() == 0
    painted.fill(square, np.array((200.0, 100.0, 0.0)), solid=True)
    picture, solid = painted.finished()
    np.testing.assert_allclose(picture[:, 32, 32], (200, 100, 0))
    np.testing.assert_allclose(solid[1:-1, 1:-1], 1)
