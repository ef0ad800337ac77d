from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import svg
from lookalike.evaluation.figures import match_probability, matches_found

AVAILABLE = np.array([1, 1, 3, 3, 2])


def test_probability_worked_by_hand() -> None:
    figure = match_probability(AVAILABLE, {"a": np.array([1, 0, 2, 1, 0])}, depth=50)
    table = figure.table
    assert table["matches_available"] == [1, 2, 3]
    assert table["queries"] == [2, 1, 2]
    assert table["measured"] == [0.5, 0.0, 1.0]
    assert table["low_95"][0] == pytest.approx(0.0945, abs=1e-4)
    assert table["high_95"][0] == pytest.approx(0.9055, abs=1e-4)
    # p = 1/2: 1 - (1/2)^k.
    assert table["independent"] == pytest.approx([0.5, 0.75, 0.875])
    assert "first 50 answers" in figure.title
    assert "exactly one match." in figure.caption


def test_counts_worked_by_hand() -> None:
    table = matches_found(AVAILABLE, {"a": np.array([1, 0, 3, 1, 1])}).table
    assert table["measured"] == [0.5, 1.0, 2.0]
    # 3 and 1: standard error 1. 1 and 0: standard error 1/2, and a count is not below 0.
    assert table["low_95"][2] == pytest.approx(2 - 1.96, abs=1e-4)
    assert table["high_95"][2] == pytest.approx(2 + 1.96, abs=1e-4)
    assert table["low_95"][0] == 0.0
    assert math.isnan(table["low_95"][1])
    assert table["independent"] == pytest.approx([0.5, 1.0, 1.5])


def test_without_single_matches_the_fewest_are_used_and_said() -> None:
    available, found = np.array([2, 2, 2, 2, 4]), {"a": np.array([1, 1, 2, 0, 4])}
    figure = match_probability(available, found)
    # 3/4 = 1 - (1 - p)^2: p = 1/2.
    assert figure.table["independent"] == pytest.approx([0.75, 1 - 0.5**4])
    assert "worked back from the queries with 2 matches" in figure.caption
    assert matches_found(available, found).table["independent"] == pytest.approx([1.0, 2.0])


def test_every_method_has_its_own_prediction() -> None:
    found = {"a": np.array([1, 0, 1, 1, 1]), "b": np.array([1, 1, 1, 1, 1])}
    assert match_probability(AVAILABLE, found).table["independent"] == pytest.approx(
        [0.5, 0.75, 0.875, 1, 1, 1]
    )


@pytest.mark.parametrize("figure", [match_probability, matches_found])
@pytest.mark.parametrize("counts", [[0], [1]])
def test_one_query_is_drawn(figure: object, counts: list[int]) -> None:
    svg(figure(np.array([1]), {"a": np.array(counts)}))  # type: ignore[operator]


def test_queries_without_a_match_are_passed_over() -> None:
    table = match_probability(np.array([0, 1]), {"a": np.array([0, 1])}).table
    assert table["matches_available"] == [1]
    with pytest.raises(BadInput, match="no query has a match"):
        match_probability(np.array([0]), {"a": np.array([0])})
