from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import svg, wilson
from lookalike.evaluation.figures import (
    anr_cdf,
    differences,
    match_probability,
    matches_found,
    proxies_cdf,
    reliability,
)
from lookalike.evaluation.measures import Bin


def test_table_worked_by_hand() -> None:
    figure = anr_cdf({"a": np.array([0.2, 0.0, 0.2, 0.6]), "b": np.array([0.5])})
    assert figure.table == {
        "method": ["a", "a", "a", "b"],
        "anr": [0.0, 0.2, 0.6, 0.5],
        "share_of_queries": [0.25, 0.75, 1.0, 1.0],
    }
    assert "a 75.0%; b 0.0%" in figure.caption


def test_proxies_are_in_order_and_the_baseline_last() -> None:
    figure = proxies_cdf({2: np.array([0.1]), 1: np.array([0.4])}, np.array([0.3]))
    assert figure.table["proxies"] == ["1", "2", "baseline"]
    assert figure.table["anr"] == [0.4, 0.1, 0.3]
    assert "lowest with 2 proxies" in figure.caption
    assert "lowest with 1 proxy." in proxies_cdf({1: np.array([0.4])}).caption
    assert "lowest without proxies" in proxies_cdf({1: np.array([0.4])}, np.array([0.3])).caption


@pytest.mark.parametrize("values", [[0.0], [1.0], [0.3] * 5, [0.0, 1.0]])
def test_degenerate_values_are_drawn(values: list[float]) -> None:
    svg(anr_cdf({"only": np.array(values)}))
    svg(proxies_cdf({1: np.array(values)}))


def test_no_queries() -> None:
    with pytest.raises(BadInput, match="the ANR of a is empty"):
        anr_cdf({"a": np.empty(0)})


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


def test_reliability_table_worked_by_hand() -> None:
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
