"""Drawing: each part of a view does to the picture what its name says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.demo.drawing import draw_face, photographed, room
from lookalike.demo.people import Expression, Light, Style, View, Worn, draw_person
from lookalike.errors import BadInput

PERSON = draw_person(0, 1)


def grey(view: View, size: int = 64, index: int = 1) -> NDArray[np.float64]:
    return np.asarray(draw_face(draw_person(0, index), view, size).mean(axis=2))


@pytest.mark.parametrize("size", [32, 65, 96])
def test_picture_is_bytes_of_the_size_asked_for(size: int) -> None:
    picture = draw_face(PERSON, View(), size)
    assert picture.shape == (size, size, 3)
    assert picture.dtype == np.uint8
    assert picture.max() > 180
    assert picture.min() < 70


def test_same_view_gives_the_same_bytes() -> None:
    view = View(yaw=10, noise=6, blur=0.01, grain=3, worn=Worn(glasses=1, hat=1, microphone=0.7))
    assert draw_face(PERSON, view).tobytes() == draw_face(PERSON, view).tobytes()


def test_grain_is_the_only_difference_between_grains() -> None:
    first, second = grey(View(noise=5, grain=1)), grey(View(noise=5, grain=2))
    assert 4 < np.std(first - second) < 9  # about 5 * sqrt(2)


def test_a_lamp_on_the_right_brightens_the_right_of_the_face() -> None:
    right = grey(View(light=Light(across=60, strength=0.8)))[20:50]
    left = grey(View(light=Light(across=-60, strength=0.8)))[20:50]
    assert (right - left)[:, 36:46].mean() > 15
    assert (right - left)[:, 18:28].mean() < -15


def test_level_and_warmth() -> None:
    assert grey(View(light=Light(level=0.5))).mean() < 0.7 * grey(View()).mean()
    warm = draw_face(PERSON, View(light=Light(warmth=1))).mean(axis=(0, 1))
    cold = draw_face(PERSON, View(light=Light(warmth=-1))).mean(axis=(0, 1))
    assert warm[0] - warm[2] > cold[0] - cold[2] + 20


def test_a_turned_head_moves_its_features_to_that_side() -> None:
    def eyes(yaw: float) -> float:
        # The whites of the eyes of a dark-skinned, bare face are its brightest spots.
        person = replace(PERSON, skin=replace(PERSON.skin, tone=1.0), hair=replace(PERSON.hair, length=0.0))
        dark = draw_face(person, View(yaw=yaw, light=Light(strength=0.0)), 96).min(axis=2)[30:62, 12:84]
        columns = np.flatnonzero((dark > 180).any(axis=0))
        return float(columns.mean())

    assert eyes(-25) < eyes(0) - 2
    assert eyes(25) > eyes(0) + 2


def test_blur_removes_detail() -> None:
    sharp, soft = grey(View()), grey(View(blur=0.03))
    assert np.abs(np.diff(soft)).mean() < 0.7 * np.abs(np.diff(sharp)).mean()


def test_shift_moves_the_face() -> None:
    plain, moved = grey(View(), 96), grey(View(shift=(1 / 32, 0)), 96)
    inner = slice(24, 72)
    assert np.abs(moved[inner, 27:75] - plain[inner, 24:72]).mean() < 6
    assert np.abs(moved[inner, 24:72] - plain[inner, 24:72]).mean() > 9


@pytest.mark.parametrize(
    ("view", "rows"),
    [
        (View(worn=Worn(glasses=1, tint=0.9)), slice(24, 40)),
        (View(worn=Worn(hat=1)), slice(0, 22)),
        (View(worn=Worn(microphone=0.9)), slice(44, 64)),
        (View(expression=Expression(talk=1.0)), slice(44, 60)),
        (View(expression=Expression(lids=0.1)), slice(26, 40)),
        (View(style=Style(room=5)), slice(0, 64)),
    ],
)
def test_what_changes_changes_where_it_is(view: View, rows: slice) -> None:
    changed = np.abs(grey(view) - grey(View()))
    assert changed[rows].mean() > 2
    assert changed[rows].sum() >= 0.5 * changed.sum()


def test_people_and_twins_are_told_apart_by_degrees() -> None:
    # People 1 and 9 are near twins; 1 and 3 are strangers.
    twins = np.abs(grey(View(), index=1) - grey(View(), index=9)).mean()
    strangers = np.abs(grey(View(), index=1) - grey(View(), index=3)).mean()
    assert 1 < twins < strangers


def test_small_pictures_are_refused() -> None:
    with pytest.raises(BadInput, match="32 pixels wide or more, got size 31"):
        draw_face(PERSON, View(), 31)


# Light: what the camera keeps.


def test_bytes_are_rounded_and_cut() -> None:
    picture = np.full((3, 2, 2), -5.0, dtype=np.float32)
    picture[1] = 99.6
    picture[2] = 400
    np.testing.assert_array_equal(photographed(picture, View()), np.broadcast_to((0, 100, 255), (2, 2, 3)))


def test_noise_has_its_strength() -> None:
    picture = np.full((3, 64, 64), 128, dtype=np.float32)
    grainy = photographed(picture, View(noise=10, grain=1)).astype(float)
    assert 9 < grainy.std() < 11
    assert abs(grainy.mean() - 128) < 1


def test_blur_keeps_the_mean() -> None:
    picture = np.zeros((3, 64, 64), dtype=np.float32)
    picture[:, 24:40, 24:40] = 200
    soft = photographed(picture, View(blur=0.03)).astype(float)
    assert soft.max() <= 200
    assert abs(soft.mean() - picture.mean()) < 0.5


# Rooms: size, clutter, determinism.


def test_size_and_scale() -> None:
    assert room(3, 1.0, 40, 3).size == (120, 120)


def test_clutter_goes_from_a_plain_wall_to_a_room() -> None:
    spread = [np.asarray(room(3, clutter, 48)).std(axis=(0, 1)).mean() for clutter in (0.0, 0.5, 1.0)]
    assert spread[0] == 0
    assert spread[0] < spread[1] < spread[2]


def test_rooms_are_the_same_each_time_but_differ_from_each_other() -> None:
    first = np.asarray(room(4, 1.0, 32))
    room.cache_clear()
    np.testing.assert_array_equal(first, np.asarray(room(4, 1.0, 32)))
    assert not np.array_equal(first, np.asarray(room(5, 1.0, 32)))
