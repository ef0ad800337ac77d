"""Chance, on numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lookalike.evaluation import statistics
from lookalike.evaluation.statistics import Contrast, Interval, contrasts, holm, intervals


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
