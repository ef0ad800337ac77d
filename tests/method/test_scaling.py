"""Numbers in units of their spread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import BadInput
from lookalike.method.metafeatures import Scaling


def test_by_hand() -> None:
    # Mean 2, deviations -1 and 1, so spread 1; 10 and 30: mean 20, spread 10; a number that never changes.
    rows = np.array([[1.0, 10.0, 5.0], [3.0, 30.0, 5.0]])
    scaling = Scaling.of(rows)
    assert scaling.centre.tolist() == [2.0, 20.0, 5.0]
    assert scaling.spread.tolist() == [1.0, 10.0, 1.0]
    assert scaling(np.array([[4.0, 0.0, 6.0]])).tolist() == [[2.0, -2.0, 1.0]]


@given(st.integers(0, 1000), st.integers(2, 50))
def test_scaled_rows_have_mean_0_and_spread_1(seed: int, count: int) -> None:
    rows = np.random.default_rng(seed).normal(0.7, 0.1, size=(count, 5))
    scaled = Scaling.of(rows)(rows)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(scaled.std(axis=0), 1, atol=1e-6)


def test_without_rows_nothing_changes() -> None:
    rows = np.random.default_rng(0).random((4, 5))
    np.testing.assert_array_equal(Scaling.of(np.empty((0, 5)))(rows), rows)


def test_round_trip() -> None:
    scaling = Scaling.of(np.random.default_rng(0).random((9, 5)))
    again = Scaling.from_arrays(scaling.to_arrays())
    np.testing.assert_array_equal(again.centre, scaling.centre)
    np.testing.assert_array_equal(again.spread, scaling.spread)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"centre": np.zeros(5)},
        {"centre": np.zeros(5), "spread": np.ones(4)},
        {"centre": np.zeros(5), "spread": np.zeros(5)},
        {"centre": np.full(5, np.nan), "spread": np.ones(5)},
        {"centre": np.array(["a"] * 5), "spread": np.ones(5)},
    ],
)
def test_damaged_arrays_are_refused(arrays: dict[str, np.ndarray]) -> None:
    with pytest.raises(BadInput, match="not a stored scaling"):
        Scaling.from_arrays(arrays)
