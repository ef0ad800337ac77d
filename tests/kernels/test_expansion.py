"""The quick sum of kernels, held against its readable twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels import svr
from lookalike.kernels.svr import expansion
from lookalike.kernels.svr import readable_expansion as readable


def test_by_hand() -> None:
    # One centre at the row itself weighs 2, another at distance 1 weighs 3: 2 + 3 exp(-0.5).
    here, there = [0.0, 1.0, 0.5, 0.5, 0.5], [1.0, 1.0, 0.5, 0.5, 0.5]
    found = expansion(np.array([here]), np.array([here, there]), np.array([2.0, 3.0]), 0.5)
    assert found[0] == pytest.approx(2 + 3 * np.exp(-0.5), abs=1e-14)


@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, 10**6),
    st.integers(1, 200),
    st.integers(1, 60),
    st.floats(0.01, 0.25),
    st.sampled_from([-1.0, 0.0, 0.5, 0.9]),
)
def test_as_precise_as_the_twin(seed: int, rows: int, centres: int, gamma: float, lowest: float) -> None:
    rng = np.random.default_rng(seed)
    # From 0.5 on all rows are near, from 0 on some are far, from -1 on most.
    x, c = rng.uniform(lowest, 1, (rows, 5)), rng.uniform(lowest, 1, (centres, 5))
    weights = 1e6 * rng.normal(size=centres)
    error = np.abs(expansion(x, c, weights, gamma) - readable(x, c, weights, gamma)).max()
    # In units of the largest sum that could come out.
    assert error <= 1e-14 * np.abs(weights).sum()


def test_the_series_is_a_double_s_exponential() -> None:
    t = np.linspace(-svr.REACH, svr.REACH, 1001)
    found = np.array([svr._series(value) for value in t])
    np.testing.assert_allclose(found, np.exp(t), rtol=3e-16)


def test_one_row_and_many_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, c, weights = rng.random((300, 5)), rng.random((40, 5)), rng.normal(size=40)
    x[:100] = 0.5 + 0.1 * x[:100]
    x[7], x[8, 2] = 200.0, np.nan
    whole = expansion(x, c, weights, 0.2)
    alone = [expansion(x[n : n + 1], c, weights, 0.2)[0] for n in range(300)]
    np.testing.assert_array_equal(alone, whole)
    monkeypatch.setattr(svr, "BLOCK", 77)
    np.testing.assert_array_equal(expansion(x, c, weights, 0.2), whole)


@pytest.mark.parametrize("far", [100.0, 1e6])
def test_rows_that_reach_too_far_are_left_to_the_twin(far: float) -> None:
    rng = np.random.default_rng(2)
    x, c, weights = rng.random((9, 5)), rng.random((4, 5)), rng.normal(size=4)
    near = expansion(x, c, weights, 0.5)
    x[3, 1] = far
    found = expansion(x, c, weights, 0.5)
    assert found[3] == readable(x[3:4], c, weights, 0.5)[0]
    np.testing.assert_array_equal(np.delete(found, 3), np.delete(near, 3))


def test_other_than_five_numbers_are_left_to_the_twin() -> None:
    rng = np.random.default_rng(3)
    x, c, weights = rng.random((9, 3)), rng.random((4, 3)), rng.normal(size=4)
    np.testing.assert_array_equal(expansion(x, c, weights, 0.5), readable(x, c, weights, 0.5))


def test_nothing_to_sum() -> None:
    assert expansion(np.empty((0, 5)), np.zeros((3, 5)), np.ones(3), 0.2).shape == (0,)
    assert expansion(np.zeros((2, 5)), np.empty((0, 5)), np.empty(0), 0.2).tolist() == [0.0, 0.0]
