from __future__ import annotations

import pytest

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import svg, wilson
from lookalike.evaluation.figures import reliability
from lookalike.evaluation.measures import Bin


def test_table_worked_by_hand() -> None:
    # Error: |0.1 * 6 - 0| + |0.9 * 4 - 3| over 10 answers is (0.6 + 0.6) / 10 = 0.12.
    figure = reliability({"a": [Bin(6, 0.1, 0), Bin(4, 0.9, 3)], "b": [Bin(2, 0.5, 1)]})
    low, high = zip(wilson(0, 6), wilson(3, 4), wilson(1, 2), strict=True)
    assert figure.table == {
        "method": ["a", "a", "b"],
        "answers": [6, 4, 2],
        "said": [0.1, 0.9, 0.5],
        "right": [0.0, 0.75, 0.5],
        "low": list(low),
        "high": list(high),
    }
    assert figure.name == "reliability"
    drawn = svg(figure)
    assert "<title>Said and right" in drawn


@pytest.mark.parametrize("bins", [{}, {"a": []}, {"a": [Bin(1, 0.5, 1)], "b": []}])
def test_nothing_to_draw(bins: dict[str, list[Bin]]) -> None:
    with pytest.raises(BadInput, match="no probabilities to draw"):
        reliability(bins)
