"""An evaluation by groups of its queries: the numbers are those of the queries of each group alone."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from lookalike.evaluation.measures import DEPTH, Evaluation, Sureness
from lookalike.evaluation.statistics import grouped
from tests.evaluation.samples import RANKED, evaluation

# Queries 0 to 5 of three people in two groups, 6 and 7 of one person of whom nothing is said.
GROUPS = {f"clip-{number}": "10" if number % 2 else "9" for number in range(6)} | {"clip-6": ""}


def sample() -> Evaluation:
    made = replace(evaluation(count=8), people=["a", "b", "a", "b", "c", "d", "e", "e"])
    ranks = made.runs["baseline"][0]
    chances = np.full((8, DEPTH), 0.25)
    chances[:, 0] = np.linspace(0.1, 0.8, 8)
    sure = Sureness(chances, np.arange(8), ranks)
    return replace(made, sureness={"baseline": [sure]})


def test_groups_are_in_natural_order_and_queries_of_which_nothing_is_said_are_counted() -> None:
    parted = grouped(sample(), "age", GROUPS, unlabelled=4)
    assert [(one.name, one.found.queries, one.people) for one in parted.groups] == [
        ("9", ["clip-0", "clip-2", "clip-4"], 2),
        ("10", ["clip-1", "clip-3", "clip-5"], 2),
    ]
    assert (parted.left_out, parted.unlabelled) == (2, 4)
    assert parted.remarks() == [
        "Queries in no group, since age says nothing of them: 2.",
        "Sets without a label, ranked but not asked for, and nobody's match: 4.",
    ]
    everybody = grouped(sample(), "age", dict.fromkeys(sample().queries, "x"))
    assert (everybody.left_out, everybody.unlabelled, everybody.remarks()) == (0, 0, [])


def test_measures_are_those_of_the_queries_of_a_group() -> None:
    nine, ten = grouped(sample(), "age", GROUPS).groups
    # The baseline finds the match of query i at rank i + 2, and there is one.
    assert nine.found.summary("baseline")["map"] == pytest.approx((1 / 2 + 1 / 4 + 1 / 6) / 3)
    assert ten.found.summary("baseline")["map"] == pytest.approx((1 / 3 + 1 / 5 + 1 / 7) / 3)
    assert nine.found.summary("baseline")["mean_anr"] == pytest.approx((1 + 3 + 5) / 3 / (RANKED - 1))
    assert nine.found.summary("learnt")["map"] == pytest.approx((1 / 4 + 1 / 8 + 1 / 12) / 3)


def test_what_is_said_of_sureness_is_that_of_the_group() -> None:
    whole = sample()
    nine, *_ = grouped(whole, "age", GROUPS).groups
    [sure] = nine.found.sureness["baseline"]
    np.testing.assert_array_equal(sure.worth, [0, 2, 4])
    np.testing.assert_array_equal(sure.probabilities, whole.sureness["baseline"][0].probabilities[[0, 2, 4]])
    assert [one.tolist() for one in sure.ranks] == [[2], [4], [6]]


def test_intervals_need_two_people() -> None:
    nine, _, rest = grouped(sample(), "age", GROUPS | {"clip-6": "old", "clip-7": "old"}).groups
    told = nine.intervals("baseline")["map"]
    assert told.low < told.mean == pytest.approx(nine.found.summary("baseline")["map"])
    assert told.mean < told.high
    assert rest.intervals("baseline") == {}


def test_tables_and_json_have_a_row_for_each_group_and_method() -> None:
    parted = grouped(sample(), "age", GROUPS)
    columns, rows = parted.measures()
    assert columns[:4] == ["age", "queries", "people", "method"]
    assert [row[:4] for row in rows[:3]] == [
        ["9", "3", "2", "baseline"],
        ["9", "3", "2", "learnt"],
        ["10", "3", "2", "baseline"],
    ]
    assert {len(row) for row in rows} == {len(columns)}
    columns, rows = parted.sureness()
    assert [row[:2] for row in rows] == [["9", "baseline"], ["10", "baseline"]]
    told = json.loads(json.dumps(parted.to_dict()))
    assert (told["column"], list(told["groups"])) == ("age", ["9", "10"])
    assert (told["left_out"], told["unlabelled"]) == (2, 0)
    ten = told["groups"]["10"]
    assert (ten["queries"], ten["people"]) == (3, 2)
    assert ten["rerankers"]["baseline"]["map"] == pytest.approx((1 / 3 + 1 / 5 + 1 / 7) / 3)
    low, high = ten["intervals"]["baseline"]["map"]
    assert low < ten["rerankers"]["baseline"]["map"] < high


def test_one_group_of_everybody_is_the_whole() -> None:
    whole = sample()
    [one] = grouped(whole, "age", dict.fromkeys(whole.queries, "x")).groups
    assert one.found.to_dict() == whole.to_dict()
