from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.kernels.isotonic import never_decreasing

NUMBERS = st.lists(st.tuples(st.floats(-9, 9), st.floats(0.1, 9)), min_size=1, max_size=30)


def test_worked_by_hand() -> None:
    # 3 and 1 are in the wrong order: (3 + 1) / 2 = 2. 5 and 2 too, with weights 1 and 2: (5 + 4) / 3 = 3.
    values, weights = np.array([3.0, 1.0, 5.0, 2.0, 7.0]), np.array([1.0, 1.0, 1.0, 2.0, 1.0])
    assert never_decreasing(values, weights).tolist() == [2.0, 2.0, 3.0, 3.0, 7.0]


def test_pooling_reaches_back() -> None:
    # 1, 4, 0 with weights 1, 1, 3: 4 and 0 give 1, which is no more than 1: (1 + 4 + 0) / 5 = 1.
    assert never_decreasing(np.array([1.0, 4.0, 0.0]), np.array([1.0, 1.0, 3.0])).tolist() == [1.0, 1.0, 1.0]


@given(NUMBERS)
def test_it_is_in_order_and_keeps_the_weighted_mean(given_: list[tuple[float, float]]) -> None:
    values, weights = np.array(given_).T
    found = never_decreasing(values, weights)
    assert (np.diff(found) >= 0).all()
    np.testing.assert_allclose(found @ weights, values @ weights, atol=1e-9)
    np.testing.assert_allclose(never_decreasing(np.sort(values), weights), np.sort(values), atol=1e-12)
