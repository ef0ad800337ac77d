from __future__ import annotations

import pytest

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import svg
from lookalike.evaluation.figures import differences

ROWS = [("better", 0.1, 0.05, 0.15), ("alike", 0.1, -0.05, 0.25), ("worse", -0.1, -0.2, -0.01)]
# The test is corrected for the number of methods: an interval that misses zero need not be sure.
SURE = ["better"]


def test_table_and_verdict() -> None:
    figure = differences(ROWS, SURE, "mean ANR", "baseline")
    assert figure.name == "differences_mean_anr"
    assert figure.table == {
        "method": ["better", "alike", "worse"],
        "difference": [0.1, 0.1, -0.1],
        "low": [0.05, -0.05, -0.2],
        "high": [0.15, 0.25, -0.01],
        "beyond_chance": [True, False, False],
    }
    assert "That is so for better." in figure.caption
    assert "so for none." in differences(ROWS[1:2], [], "mAP", "baseline").caption


def test_no_difference_at_all_is_drawn() -> None:
    svg(differences([("same", 0.0, 0.0, 0.0)], [], "mAP", "baseline"))


def test_nothing_to_compare_is_said() -> None:
    with pytest.raises(BadInput, match="nothing to compare with baseline"):
        differences([], [], "mAP", "baseline")
