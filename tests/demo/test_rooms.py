"""Rooms: size, clutter, determinism."""

from __future__ import annotations

import numpy as np

from lookalike.demo.drawing import room


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
