"""The loop for few rows makes the products of its readable twin, ``few @ many.T``, within the known bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.exact import unit_rows
from lookalike.kernels.screening import error_bound
from lookalike.kernels.skinny import AHEAD, FEW, LANES, STEPS, multiply, packed, rows_at_a_time


def unit(count: int, dimension: int, seed: int) -> np.ndarray:
    return unit_rows(np.random.default_rng(seed).normal(size=(count, dimension)) + 0.3)


def products_of(many: np.ndarray, start: int, stop: int, few: np.ndarray) -> np.ndarray:
    ready = packed(few)
    # What lies there already does not matter.
    products = np.full((len(ready) * FEW, stop - start + 1), np.nan, dtype=np.float32)
    multiply(many, start, stop, ready, products, many, 0)
    return products[: len(few), : stop - start]


def test_packed_by_hand() -> None:
    few = np.arange(1, 21, dtype=np.float32).reshape(2, 10)
    found = packed(few)
    # Ten numbers: a step of eight, and two at the end of another, which reads the last eight of the many.
    assert found.shape == (1, 2, FEW, LANES)
    assert found[0, 0, :2].tolist() == [[1, 2, 3, 4, 5, 6, 7, 8], [11, 12, 13, 14, 15, 16, 17, 18]]
    assert found[0, 1, :2].tolist() == [[0, 0, 0, 0, 0, 0, 9, 10], [0, 0, 0, 0, 0, 0, 19, 20]]
    assert not found[0, :, 2:].any()
    assert found.ctypes.data % 64 == 0


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 13), st.integers(1, 40), st.integers(LANES, 300), st.integers(0, 99), st.data())
def test_the_products_of_the_readable_twin(
    few: int, many: int, dimension: int, seed: int, data: st.DataObject
) -> None:
    a, b = unit(few, dimension, seed), unit(many, dimension, seed + 1)
    start = data.draw(st.integers(0, many))
    stop = data.draw(st.integers(start, many))
    expected = a.astype(np.float64) @ b[start:stop].astype(np.float64).T
    np.testing.assert_allclose(products_of(b, start, stop, a), expected, rtol=0, atol=error_bound(dimension))


@pytest.mark.parametrize("dimension", [LANES, 2 * LANES * STEPS, 1770, 2000])
def test_more_rows_and_numbers_than_are_worked_on_at_a_time(dimension: int) -> None:
    count = min(2 * rows_at_a_time(dimension) + 3, 300)
    a, b = unit(11, dimension, 0), unit(count, dimension, 1)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    found = products_of(b, 0, count, a)
    np.testing.assert_allclose(found, expected, rtol=0, atol=error_bound(dimension))
    # Where a run of rows begins does not matter to a row.
    np.testing.assert_array_equal(products_of(b, 5, 8, a), found[:, 5:8])


@pytest.mark.parametrize(("dimension", "rows"), [(1770, 36), (AHEAD, 2), (3 * AHEAD, 2), (8, AHEAD // 8)])
def test_rows_at_a_time_are_an_even_number(dimension: int, rows: int) -> None:
    assert rows_at_a_time(dimension) == rows
    assert rows_at_a_time.py_func(dimension) == rows  # type: ignore[attr-defined]
