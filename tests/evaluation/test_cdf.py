from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import MOST_STEPS, cdf, checked, outline


def test_worked_by_hand() -> None:
    points, shares = cdf(np.array([0.5, 0.1, 0.5, 0.9]))
    assert points.tolist() == [0.1, 0.5, 0.9]
    assert shares.tolist() == [0.25, 0.75, 1.0]


def test_outline_goes_from_corner_to_corner() -> None:
    x, y = outline(np.array([0.5]), 0.0, 1.0)
    assert x.tolist() == [0.0, 0.5, 1.0]
    assert y.tolist() == [0.0, 1.0, 1.0]


def test_area_above_the_outline_is_the_mean() -> None:
    values = np.random.default_rng(0).beta(0.7, 2.0, 400)
    x, y = outline(values, 0.0, 1.0)
    assert np.sum(np.diff(x) * (1 - y[:-1])) == pytest.approx(values.mean())


def test_many_values_are_drawn_with_few_steps() -> None:
    values = np.random.default_rng(0).uniform(size=20_000)
    x, y = outline(values, 0.0, 1.0)
    assert len(x) <= MOST_STEPS + 2
    assert np.diff(y).max() <= 2 / MOST_STEPS
    assert np.sum(np.diff(x) * (1 - y[:-1])) == pytest.approx(values.mean(), abs=0.002)


@pytest.mark.parametrize("values", [[], [0.1, float("nan")], [float("inf")]])
def test_nothing_to_draw_is_said(values: list[float]) -> None:
    with pytest.raises(BadInput, match=r"the ANR of x (is empty|holds NaN)"):
        checked(np.array(values), "the ANR of x")
