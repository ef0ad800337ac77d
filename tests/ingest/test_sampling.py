"""Sampling: evenly spread, both ends included, whatever the numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import BadInput
from lookalike.faceset import check_most, evenly


@pytest.mark.parametrize(
    ("total", "most", "kept"),
    [
        (5, None, [0, 1, 2, 3, 4]),
        (5, 5, [0, 1, 2, 3, 4]),
        (5, 9, [0, 1, 2, 3, 4]),
        (5, 3, [0, 2, 4]),
        (5, 2, [0, 4]),
        (5, 1, [0]),
        (1, 1, [0]),
        # Steps of 9/4 = 2.25: 2.25, 4.5 and 6.75 are rounded, a half upwards.
        (10, 5, [0, 2, 5, 7, 9]),
        (0, 3, []),
    ],
)
def test_worked_by_hand(total, most, kept):
    assert evenly(total, most).tolist() == kept


@given(st.integers(1, 5000), st.integers(2, 200))
def test_both_ends_and_steps_that_differ_by_one_at_most(total, most):
    kept = evenly(total, most)
    assert len(kept) == min(total, most)
    assert (kept[0], kept[-1]) == (0, total - 1)
    steps = np.diff(kept)
    if len(steps):
        assert steps.min() >= 1
        assert steps.max() - steps.min() <= 1


@pytest.mark.parametrize("most", [0, -1, 2.0, "3", True, float("nan")])
def test_refused(most):
    with pytest.raises(BadInput, match=f"a whole number from 1 up, got {most!r}"):
        check_most(most)


@pytest.mark.parametrize("most", [None, 1, 10**9, np.int64(3)])
def test_allowed(most):
    check_most(most)
