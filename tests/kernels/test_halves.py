"""Halves lie on the grid, are converted to the bit, and lose little."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.exact import GRID, SAME, cosines, half_rows, lengths_of, unit_rows
from lookalike.kernels.screening import Screen, bits_of, widen, widened

EVERY = np.arange(2**16, dtype=np.uint16).view(np.float16)
AT_MOST_ONE = EVERY[np.abs(EVERY) <= 1][None]


def bound(dimension: int) -> float:
    """Rounding moves a component by at most 2^-11 of it, or by 2^-25: so far is a face turned, and the other.

    The cosines of full precision, which these are compared with, have the rounding to the grid and what is
    taken for 1.
    """
    return 2 * (2.0**-11 + 2.0**-25 * dimension**0.5) + 2 * 2.0**-25 * dimension**0.5 + SAME


def rows(count: int, dimension: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, dimension)) + 0.3


def test_every_half_of_at_most_one_is_on_the_grid() -> None:
    steps = AT_MOST_ONE.astype(np.float64) / GRID
    np.testing.assert_array_equal(steps, np.rint(steps))
    assert AT_MOST_ONE.size == 2 * (15 * 1024 + 1)  # both signs of 15 exponents of 1,024 fractions, and of 1


def test_every_half_of_at_most_one_is_converted() -> None:
    expected = AT_MOST_ONE.astype(np.float32)
    found, slow = widened(AT_MOST_ONE), np.empty_like(expected)
    np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))
    widen.py_func(bits_of(AT_MOST_ONE), slow)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(slow.view(np.uint32), expected.view(np.uint32))


def test_singles_stay_as_they_are() -> None:
    single = unit_rows(rows(3, 5, 0))
    assert widened(single) is single


def test_by_hand() -> None:
    # 0.6 and 0.8 as halves: 1229 / 2048 and 1638 / 2048; the squares add up to (1510441 + 2683044) / 2^22.
    halves = half_rows(np.array([[3.0, 4.0]]))
    assert (halves.astype(np.float64) * 2048).tolist() == [[1229, 1638]]
    assert lengths_of(halves)[0] == np.sqrt(4193485 / 2**22)
    assert cosines(halves, halves, lengths_of(halves), lengths_of(halves)).tolist() == [[1.0]]


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 300), st.integers(0, 999))
def test_products_are_exact_and_cosines_near(dimension: int, seed: int) -> None:
    a, b = rows(4, dimension, seed), rows(5, dimension, seed + 1)
    halves_a, halves_b = half_rows(a), half_rows(b)
    wide_a, wide_b = halves_a.astype(np.float64), halves_b.astype(np.float64)
    # In any order, here from the last number to the first.
    np.testing.assert_array_equal(wide_a @ wide_b.T, wide_a[:, ::-1] @ wide_b[:, ::-1].T)
    lengths = lengths_of(halves_a), lengths_of(halves_b)
    assert all(np.abs(one - 1).max() <= 2.0**-11 + 1e-6 for one in lengths)
    full = cosines(unit_rows(a), unit_rows(b))
    assert np.abs(cosines(halves_a, halves_b, *lengths) - full).max() <= bound(dimension)


@pytest.mark.parametrize("dimension", [12, 128, 1770])
def test_what_halves_usually_move_a_cosine_by(dimension: int) -> None:
    faces = rows(300, dimension, 1)
    halves, full = half_rows(faces), unit_rows(faces)
    lengths = lengths_of(halves)
    moved = cosines(halves, halves, lengths, lengths) - cosines(full, full)
    # A component is rounded by about 2e-4 of it. Of two faces, over d components: 2.8e-4 / sqrt(d).
    usual = 2.8e-4 / dimension**0.5
    assert 0.8 * usual < np.sqrt(np.square(moved).mean()) < 1.1 * usual
    assert np.abs(moved).max() < 7 * usual


@pytest.mark.parametrize("dimension", [2, 12, 1770])
def test_the_error_bound_of_the_screen_holds(dimension: int) -> None:
    halves = half_rows(rows(300, dimension, 5))
    lengths, starts = lengths_of(halves), np.arange(301)
    screen = Screen(halves, starts, halves, starts, lengths, lengths)
    assert np.abs(screen.scores - cosines(halves, halves, lengths, lengths)).max() < screen.error
