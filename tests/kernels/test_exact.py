"""Unit vectors on a grid: whole numbers worked by hand, and sums that no order can change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.exact import (
    FINE_GRID,
    GRID,
    cosines,
    on_fine_grid,
    on_grid,
    plain_unit_rows,
    snapped,
    unit_rows,
)

seeds = st.integers(0, 2**32 - 1)


def some_rows(seed: int, count: int, dimension: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, dimension))


def in_whole_numbers(a: np.ndarray, b: np.ndarray, grid: float) -> np.ndarray:
    """Inner products in Python's unbounded integers, in units of the grid squared."""
    wide_a = np.array([[int(v) for v in row] for row in np.asarray(a, dtype=float) / grid], dtype=object)
    wide_b = np.array([[int(v) for v in row] for row in np.asarray(b, dtype=float) / grid], dtype=object)
    return wide_a @ wide_b.T


def test_three_four_five() -> None:
    # 0.6 * 2^24 = 10066329.6 and 0.8 * 2^24 = 13421772.8, rounded to whole numbers.
    expected = np.array([[10066330, 13421773]]) / 2**24
    np.testing.assert_array_equal(unit_rows(np.array([[3.0, 4.0]])).astype(np.float64), expected)
    # (0.6, 0.8) . (0.8, 0.6) = 0.96, on the grid 2 * 10066330 * 13421773 / 2^48
    found = cosines(unit_rows(np.array([[3.0, 4.0]])), unit_rows(np.array([[4.0, 3.0]])))
    assert found.tolist() == [[2 * 10066330 * 13421773 / 2**48]]
    assert found[0, 0] == pytest.approx(0.96, abs=1e-7)


@given(seeds, st.integers(1, 6), st.integers(2, 300))
@settings(max_examples=30, deadline=None)
def test_unit_rows_lie_on_the_grid_and_in_single_precision(seed: int, count: int, dimension: int) -> None:
    unit = unit_rows(some_rows(seed, count, dimension))
    assert unit.dtype == np.float32
    wide = unit.astype(np.float64)
    np.testing.assert_array_equal(wide / GRID, np.rint(wide / GRID))
    np.testing.assert_allclose(np.linalg.norm(wide, axis=1), 1.0, atol=np.sqrt(dimension) * GRID)
    np.testing.assert_array_equal(on_grid(wide), unit)  # what lies on the grid stays where it is


@given(seeds, st.integers(1, 5), st.integers(1, 5), st.integers(2, 200))
@settings(max_examples=20, deadline=None)
def test_cosines_are_exact(seed: int, n_a: int, n_b: int, dimension: int) -> None:
    a, b = unit_rows(some_rows(seed, n_a, dimension)), unit_rows(some_rows(seed + 1, n_b, dimension))
    exact = in_whole_numbers(a, b, GRID)
    np.testing.assert_array_equal(cosines(a, b), snapped((exact / 2**48).astype(float).clip(-1, 1)))


@given(seeds, st.integers(2, 400), st.data())
@settings(max_examples=25, deadline=None)
def test_cosines_have_the_same_bits_in_any_block_and_order(
    seed: int, dimension: int, data: st.DataObject
) -> None:
    for make in (unit_rows, lambda rows: on_fine_grid(plain_unit_rows(rows))):
        a, b = make(some_rows(seed, 7, dimension)), make(some_rows(seed + 1, 23, dimension))
        whole = cosines(a, b)
        first = data.draw(st.integers(0, 22))
        last = data.draw(st.integers(first + 1, 23))
        np.testing.assert_array_equal(cosines(a, b[first:last]), whole[:, first:last])
        np.testing.assert_array_equal(cosines(a[3:4], b[first : first + 1])[0, 0], whole[3, first])
        np.testing.assert_array_equal(cosines(b, a), whole.T)
        # Permuting the dimensions permutes the terms of every sum.
        order = np.random.default_rng(seed).permutation(dimension)
        np.testing.assert_array_equal(cosines(a[:, order], b[:, order]), whole)
        one_by_one = np.zeros_like(whole)
        for column in range(dimension):
            one_by_one += np.float64(a[:, column, None]) * np.float64(b[None, :, column])
        np.testing.assert_array_equal(snapped(one_by_one.clip(-1, 1)), whole)


def test_fine_grid_needs_a_double() -> None:
    # 0.6 * 2^26 = 40265318.4: 26 bits, of which a float32 holds 24.
    fine = on_fine_grid(np.array([[0.6, 0.8]]))
    assert fine.dtype == np.float64
    assert (fine / FINE_GRID).tolist() == [[40265318.0, 53687091.0]]
    assert fine.astype(np.float32).astype(np.float64)[0, 0] != fine[0, 0]


@given(seeds, st.integers(2, 200))
@settings(max_examples=15, deadline=None)
def test_products_on_the_fine_grid_are_exact(seed: int, dimension: int) -> None:
    a = on_fine_grid(plain_unit_rows(some_rows(seed, 3, dimension)))
    b = on_fine_grid(plain_unit_rows(some_rows(seed + 1, 3, dimension)))
    np.testing.assert_array_equal(a / FINE_GRID, np.rint(a / FINE_GRID))
    np.testing.assert_array_equal(cosines(a, b), (in_whole_numbers(a, b, FINE_GRID) / 2**52).astype(float))


@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1.0, 1e40, 1e300])
def test_scale_does_not_matter(scale: float) -> None:
    rows = np.array([[3.0, 4.0], [-5.0, 12.0]])
    np.testing.assert_array_equal(unit_rows(rows * scale), unit_rows(rows))


def test_cosines_never_leave_the_interval() -> None:
    # Rounding on the grid may make a row a little longer than 1.
    unit = unit_rows(some_rows(3, 200, 17))
    products = cosines(unit, np.concatenate([unit, -unit]))
    assert products.max() <= 1.0
    assert products.min() >= -1.0


def test_inputs_are_untouched() -> None:
    rows = some_rows(1, 3, 4)
    before = rows.copy()
    unit_rows(rows)
    cosines(rows, rows)
    on_fine_grid(rows)
    np.testing.assert_array_equal(rows, before)


def test_what_is_one_but_for_the_grid_is_one() -> None:
    # In two dimensions directions 2.5e-4 apart have the cosine 1 - 3.2e-8: the grid cannot tell it from 1.
    a, b = (unit_rows(np.array([[np.cos(t), np.sin(t)]])) for t in (0.3, 0.30025))
    assert float(np.float64(a[0]) @ np.float64(b[0])) != 1.0
    assert cosines(a, b).item() == 1.0
