"""Chance, on numbers worked by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lookalike.evaluation import statistics
from lookalike.evaluation.measures import DEPTH, Evaluation, Sureness
from lookalike.evaluation.statistics import (
    Contrast,
    Gain,
    Interval,
    contrasts,
    gains,
    gains_of,
    grouped,
    holm,
    intervals,
)
from tests.evaluation.samples import RANKED, evaluation


def contrast(values: np.ndarray, baseline: np.ndarray, people: list[str]) -> Contrast:
    [found] = contrasts((values - baseline)[:, None], people)
    return found


def interval(values: np.ndarray, people: list[str]) -> Interval:
    [found] = intervals(values[:, None], people)
    return found


def test_the_sign_test_of_three_people_by_hand() -> None:
    # Gains 1, 2, 3 of three people: of the 8 patterns of signs only +++ and --- reach a sum of 6.
    gain = contrast(np.array([1.0, 2.0, 3.0]), np.zeros(3), ["a", "b", "c"])
    assert gain.p == 2 / 8
    assert gain.difference.mean == 2.0


def test_queries_of_one_person_are_one_piece_of_evidence() -> None:
    # Ten queries of one person agree: one flip of a sign undoes them all.
    alone = contrast(np.ones(10), np.zeros(10), ["a"] * 10)
    assert alone.p == 1.0
    assert alone.difference == (1.0, 1.0, 1.0)
    many = contrast(np.ones(10), np.zeros(10), list("abcdefghij"))
    assert many.p == 2 / 2**10


def test_many_people_are_sampled_and_agree_with_the_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    values, people = rng.normal(0.4, 1.0, 12), [str(number) for number in range(12)]
    exact = contrast(values, np.zeros(12), people).p
    monkeypatch.setattr(statistics, "MOST_EXACT", 5)
    sampled = contrast(values, np.zeros(12), people).p
    assert sampled == pytest.approx(exact, abs=0.02)
    assert sampled != exact


def test_no_difference_is_no_evidence() -> None:
    same = np.linspace(0, 1, 40)
    gain = contrast(same, same, [str(number) for number in range(40)])
    assert gain.p == 1.0
    assert gain.difference == (0.0, 0.0, 0.0)


def test_the_interval_is_that_of_theory() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(3.0, 2.0, 400)
    found = interval(values, [str(number) for number in range(400)])
    half = 1.96 * values.std() / 20
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - half, abs=0.02)
    assert found.high == pytest.approx(values.mean() + half, abs=0.02)


def test_alike_queries_widen_the_interval() -> None:
    rng = np.random.default_rng(2)
    persons = np.repeat(rng.normal(size=50), 8)
    by_query = interval(persons, [str(number) for number in range(400)])
    by_person = interval(persons, [str(number // 8) for number in range(400)])
    wide, narrow = by_person.high - by_person.low, by_query.high - by_query.low
    assert wide == pytest.approx(narrow * 8**0.5, rel=0.1)


def test_holm_by_hand() -> None:
    # 0.01 x 3 = 0.03, 0.02 x 2 = 0.04, 0.03 x 1 = 0.03 but never below the one before: 0.04.
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_never_lowers(given_p: list[float]) -> None:
    raised = holm(given_p)
    assert all(new >= old - 1e-12 for new, old in zip(raised, given_p, strict=True))
    assert all(0 <= new <= 1 for new in raised)
    order = np.argsort(given_p, kind="stable")
    assert (np.diff(np.array(raised)[order]) >= -1e-12).all()


def test_false_alarms_are_as_rare_as_promised() -> None:
    """Under no difference, p is below 0.05 in about one of twenty collections: also with grouped queries."""
    rng = np.random.default_rng(3)
    people = [str(number // 3) for number in range(60)]
    alarms = 0
    for _ in range(200):
        noise = np.repeat(rng.normal(size=20), 3) + 0.1 * rng.normal(size=60)
        alarms += contrast(noise, np.zeros(60), people).p < 0.05
    assert stats.binomtest(alarms, 200, 0.05).pvalue > 0.001


def test_several_at_once_are_those_alone() -> None:
    rng = np.random.default_rng(5)
    gains, people = rng.normal(0.1, 1.0, (40, 3)), [str(number // 2) for number in range(40)]
    together = contrasts(gains, people)
    for column in range(3):
        alone = contrast(gains[:, column], np.zeros(40), people)
        assert together[column].p == alone.p
        np.testing.assert_allclose(together[column].difference, alone.difference, atol=1e-12)


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


# An evaluation by groups of its queries: the numbers are those of the queries of each group alone.

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
