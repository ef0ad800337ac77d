from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.evaluation.drawing import around_mean, wilson


def test_wilson_of_one_in_two() -> None:
    # z² = 3.8415: centre 0.5, half width 1.96 sqrt(0.125 + 3.8415 / 16) / (1 + 1.9207) = 0.4055.
    low, high = wilson(1, 2)
    assert low == pytest.approx(0.0945, abs=1e-4)
    assert high == pytest.approx(0.9055, abs=1e-4)


def test_wilson_at_the_ends() -> None:
    # All of n: from n / (n + z²) to 1.
    assert wilson(10, 10) == (pytest.approx(10 / 13.8415, abs=1e-4), 1.0)
    assert wilson(0, 10) == (0.0, pytest.approx(3.8415 / 13.8415, abs=1e-4))


def test_around_mean() -> None:
    # 0, 2: mean 1, standard deviation sqrt(2), standard error 1.
    assert around_mean(np.array([0, 2])) == (pytest.approx(1 - 1.96, abs=1e-4), pytest.approx(2.96, abs=1e-4))
    assert around_mean(np.array([3, 3, 3])) == (3.0, 3.0)
    assert all(math.isnan(end) for end in around_mean(np.array([3])))
