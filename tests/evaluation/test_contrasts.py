from __future__ import annotations

import numpy as np
import pytest

from lookalike.evaluation.statistics import Gain, Interval, gains, gains_of
from tests.evaluation.samples import evaluation

PEOPLE = [str(number) for number in range(10)]


def test_every_method_is_held_against_the_baseline() -> None:
    base = np.linspace(0.1, 0.9, 10)
    values = {"base": {"map": base}, "up": {"map": base + 0.1}, "same": {"map": base}}
    found = gains_of(values, "base", PEOPLE)
    assert set(found) == {"up", "same"}
    up, same = found["up"]["map"], found["same"]["map"]
    assert up.difference.mean == pytest.approx(0.1)
    assert up.p == 2 / 2**10
    assert up.p_corrected == 2 * up.p  # two methods
    assert up.beyond_chance
    assert not same.beyond_chance
    assert same.words("map") == "not different beyond chance"


def test_a_lower_anr_is_better() -> None:
    lower = Gain(Interval(-0.1, -0.2, -0.05), 0.001, 0.001)
    assert lower.words("mean_anr") == "better"
    assert lower.words("map") == "worse"


def test_an_evaluation_is_compared_in_every_measure_of_a_query() -> None:
    found = gains(evaluation(), "baseline")
    assert set(found) == {"learnt"}
    assert set(found["learnt"]) == {"mean_anr", "anr_below_0.3", "map", "rank1", "match_in_100"}
