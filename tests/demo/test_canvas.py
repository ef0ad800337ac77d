"""Canvas: where points of the face land in the picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from lookalike.demo.canvas import (
    HALF_PICTURE,
    SUPERSAMPLE,
    Canvas,
    ellipse,
    hair_colour,
    iris_colour,
    lip_colour,
    mirrored,
    mix,
    ribbon,
    shade,
    skin_colour,
    smooth,
)
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


# Colours: each trait pulls the colour the way its name says.

PERSON = draw_person(0, 0)


def test_mix_and_shade_by_hand() -> None:
    black, white = np.zeros(3), np.full(3, 200.0)
    np.testing.assert_allclose(mix(black, white, 0.25), 50)
    np.testing.assert_allclose(mix(black, white, 7), 200)
    np.testing.assert_allclose(shade(white, 2), 255)


def test_tone_darkens_skin_and_age_greys_hair() -> None:
    tones = [
        skin_colour(replace(PERSON, skin=replace(PERSON.skin, tone=tone))).mean() for tone in (0, 0.5, 1)
    ]
    assert tones == sorted(tones, reverse=True)
    old = hair_colour(replace(PERSON, skin=replace(PERSON.skin, age=1.0)))
    young = hair_colour(replace(PERSON, skin=replace(PERSON.skin, age=0.0)))
    assert old.mean() > young.mean()


def test_every_person_has_paintable_colours() -> None:
    for index in range(40):
        person = draw_person(2, index)
        for colour in (
            skin_colour(person),
            hair_colour(person),
            iris_colour(person),
            lip_colour(person),
        ):
            assert colour.min() >= 0
            assert colour.max() < 256


# Curves: numbers worked by hand.


def test_curve_passes_through_its_points() -> None:
    points = [(0.0, 0.0), (1.0, 2.0), (3.0, 1.0), (4.0, 4.0)]
    np.testing.assert_allclose(smooth(points, steps=5)[::5], points, atol=1e-12)
    np.testing.assert_allclose(smooth(points, closed=True, steps=5)[::5], points, atol=1e-12)


def test_curve_through_a_line_stays_on_it() -> None:
    line = smooth([(0, 0), (1, 1), (2, 2), (3, 3)], steps=6)
    np.testing.assert_allclose(line[:, 0], line[:, 1], atol=1e-12)


def test_mirror_image_shares_the_points_on_the_axis() -> None:
    np.testing.assert_allclose(mirrored([(0, 0), (1, 1), (0, 2)]), [(0, 0), (1, 1), (0, 2), (-1, 1)])


def test_ribbon_of_a_level_line_is_a_rectangle() -> None:
    outline = ribbon(np.array([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]), 0.5)
    np.testing.assert_allclose(outline, [(0, 0.25), (1, 0.25), (2, 0.25), (2, -0.25), (1, -0.25), (0, -0.25)])


def test_many_ribbons_equal_one_by_one() -> None:
    paths = np.random.default_rng(0).normal(size=(3, 6, 2))
    np.testing.assert_allclose(ribbon(paths, 0.2), [ribbon(path, 0.2) for path in paths])


def test_ellipse_has_its_axes() -> None:
    points = ellipse(1.0, 2.0, 3.0, 0.5, points=40)
    np.testing.assert_allclose(np.ptp(points, axis=0), (6.0, 1.0), atol=1e-9)
