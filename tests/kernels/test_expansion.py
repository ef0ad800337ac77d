"""The quick sum of kernels, held against its readable twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels import expansion as module
from lookalike.kernels.expansion import expansion
from lookalike.kernels.rbf import expansion as readable


def test_by_hand() -> None:
    # One centre at the row itself weighs 2, another at distance 1 weighs 3: 2 + 3 exp(-0.5).
    found = expansion(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([2.0, 3.0]), 0.5)
    assert found[0] == pytest.approx(2 + 3 * np.exp(-0.5), abs=1e-14)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.integers(1, 200), st.integers(1, 60), st.floats(0.01, 0.25))
def test_as_precise_as_the_twin(seed: int, rows: int, centres: int, gamma: float) -> None:
    rng = np.random.default_rng(seed)
    x, c = rng.uniform(-1, 1, (rows, 5)), rng.uniform(-1, 1, (centres, 5))
    weights = 1e6 * rng.normal(size=centres)
    error = np.abs(expansion(x, c, weights, gamma) - readable(x, c, weights, gamma)).max()
    # In units of the largest sum that could come out.
    assert error <= 1e-14 * np.abs(weights).sum()


def test_one_row_and_many_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, c, weights = rng.random((300, 5)), rng.random((40, 5)), rng.normal(size=40)
    whole = expansion(x, c, weights, 0.2)
    assert [expansion(x[n : n + 1], c, weights, 0.2)[0] for n in range(300)] == whole.tolist()
    monkeypatch.setattr(module, "BLOCK", 77)
    np.testing.assert_array_equal(expansion(x, c, weights, 0.2), whole)


@pytest.mark.parametrize("far", [3.0, 1e6])
def test_what_reaches_too_far_is_left_to_the_twin(far: float) -> None:
    x, c = np.array([[far, 0.1], [0.2, 0.3]]), np.array([[far, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(
        expansion(x, c, np.array([1.0, 2.0]), 0.5), readable(x, c, np.array([1.0, 2.0]), 0.5)
    )


def test_nothing_to_sum() -> None:
    assert expansion(np.empty((0, 5)), np.zeros((3, 5)), np.ones(3), 0.2).shape == (0,)
    assert expansion(np.zeros((2, 5)), np.empty((0, 5)), np.empty(0), 0.2).tolist() == [0.0, 0.0]
