from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.method.calibration import (
    LEAST,
    NEVER,
    SUREST,
    Calibration,
    Grounds,
    Window,
    reach,
    windows,
    worth_reading,
)

Floats = NDArray[np.float64]


def world(
    people: int, sets: int, noise: float, seed: int = 0, d: int = 24
) -> tuple[Floats, NDArray[np.int64]]:
    """Cosines of vectors: every person has so many sets, each the person and some noise."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), sets)
    x = rng.normal(size=(people, d))[who] + noise * rng.normal(size=(len(who), d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x @ x.T, who


def fitted(scores: Floats) -> Calibration:
    """Every row of a square table, asked as a query."""
    others = len(scores) - 1
    rows = np.array([np.sort(np.delete(row, number))[::-1] for number, row in enumerate(scores)])
    return Calibration.fit(rows[:, : reach(others)], others)


def said(calibration: Calibration, scores: Floats) -> Floats:
    found = [calibration.probabilities(row, number) for number, row in enumerate(scores)]
    assert all(row is not None for row in found)
    return np.array(found)


def error(chances: Floats, right: NDArray[np.bool_]) -> float:
    """Expected calibration error, written once more: ten bins, weighted by answers."""
    bins = np.minimum((chances * 10).astype(int), 9)
    parts = [abs(chances[bins == n].sum() - right[bins == n].sum()) for n in range(10)]
    return float(sum(parts) / len(chances))


def first(
    chances: Floats, scores: Floats, who: NDArray[np.int64], depth: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Probabilities of the first answers of every query, and whether they are right."""
    others = np.where(np.eye(len(scores), dtype=bool), -np.inf, scores)
    order = np.argsort(-others, axis=1, kind="stable")[:, :depth]
    right = who[order] == who[:, None]
    return np.take_along_axis(chances, order, axis=1).ravel(), right.ravel()


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        (19, []),
        (20, [(2, 6)]),
        (60, [(3, 20), (6, 20)]),
        (150, [(3, 40), (6, 40), (12, 50)]),
        (5000, [(3, 40), (6, 40), (12, 60), (24, 120), (48, 240)]),
    ],
)
def test_windows(others: int, expected: list[tuple[int, int]]) -> None:
    assert windows(others) == expected
    assert reach(others) == (expected[-1][1] + 1 if expected else 0)


def test_probabilities_worked_by_hand() -> None:
    # Places 1 and 2 of the window are 6 and 4, its end is 2: the excess is (6 + 4) / 2 - 2 = 3.
    calibration = Calibration(Window(1, 3), np.array([0.0, 2.0]), np.array([0.0, 0.8]))
    row = np.array([2.0, 6.0, 8.0, 4.0, -1.0])
    # (2 - 2) / 3 = 0, (6 - 2) / 3 = 4/3, (8 - 2) / 3 = 2, (4 - 2) / 3 = 2/3; below the end nothing.
    expected = [0.0, 0.8 * 2 / 3, 0.8, 0.8 / 3, 0.0]
    np.testing.assert_allclose(calibration.probabilities(row), expected)
    np.testing.assert_allclose(calibration.probabilities(np.r_[99.0, row], 0), [0.0, *expected])
    assert calibration.probabilities(row[:3]) is None, "the end of the tail is not there"
    assert calibration.probabilities(row[:4], 0) is None, "nor if the query is one of four"
    np.testing.assert_allclose(calibration.probabilities(row, 5), expected, err_msg="a query behind them")


def test_worth_reading() -> None:
    assert worth_reading(np.array([0.9, 0.5, 0.49, 0.1])) == 2
    assert worth_reading(np.array([0.2])) == 0
    assert worth_reading(None) is None


@pytest.mark.parametrize("noise", [0.3, 0.5])
def test_people_who_repeat_are_told_from_strangers(noise: float) -> None:
    scores, who = world(100, 3, noise)
    chances = said(fitted(scores), scores)
    kin = (who == who[:, None]) & ~np.eye(len(who), dtype=bool)
    assert chances[kin].mean() > 0.6
    assert chances[~kin].mean() < 0.01
    assert (chances >= 0).all()
    assert (chances <= 1).all()
    assert error(*first(chances, scores, who, 20)) < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_weak_descriptors_are_called_unsure(seed: int) -> None:
    scores, who = world(150, 3, 2.0, seed)
    probable, right = first(said(fitted(scores), scores), scores, who, 1)
    assert 0 < right.mean() < 0.5, "the world is weak"
    assert probable.mean() < right.mean() + 0.15
    assert error(*first(said(fitted(scores), scores), scores, who, 20)) < 0.08


@pytest.mark.parametrize("seed", range(4))
def test_where_nobody_repeats_nobody_is_sure(seed: int) -> None:
    scores, who = world(300, 1, 1.0, seed)
    chances = said(fitted(scores), scores)
    assert first(chances, scores, who, 1)[0].mean() < 0.1
    assert worth_reading(chances.ravel()) < 0.05 * len(scores)


def test_many_sets_a_person_take_a_deeper_window() -> None:
    scores, who = world(30, 18, 0.7)
    calibration = fitted(scores)
    assert calibration.window.head >= 12
    chances = said(calibration, scores)
    kin = (who == who[:, None]) & ~np.eye(len(who), dtype=bool)
    assert chances[kin].mean() > 0.5
    assert fitted(world(100, 3, 0.7)[0]).window.head == 3, "few sets do not"


def test_a_copy_is_sure_even_where_nobody_repeats() -> None:
    scores, _ = world(100, 1, 1.0)
    calibration = fitted(scores)
    row = np.r_[scores[0, 1:], 1.0 + 20 * np.ptp(scores[0, 1:])]
    chances = calibration.probabilities(row)
    assert chances is not None
    assert chances[-1] > 0.98
    assert chances[:-1].max() < 0.5


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 5),
    st.floats(0.01, 1000.0),
    st.floats(-100.0, 100.0),
)
def test_a_linear_change_of_scores_changes_nothing(seed: int, scale: float, shift: float) -> None:
    scores, _ = world(20, 3, 0.7, seed)
    plain = said(fitted(scores), scores)
    # Each query may have its own scale: only the first is asked on another one.
    changed = fitted(scores).probabilities(scale * scores[0] + shift, 0)
    assert changed is not None
    np.testing.assert_allclose(changed, plain[0], atol=1e-6)
    np.testing.assert_allclose(said(fitted(scale * scores + shift), scores), plain, atol=1e-4)


@settings(max_examples=30, deadline=None)
@example(936, 21, 10)  # strangers expected as far as anybody looks
@given(st.integers(0, 1000), st.integers(LEAST + 1, 90), st.sampled_from([1, 2, 10]))
def test_it_never_falls_with_the_score(seed: int, count: int, digits: int) -> None:
    """Rounded scores have many ties, and some rows no tail at all."""
    scores = np.round(np.random.default_rng(seed).normal(size=(count, count)), digits)
    calibration = fitted(scores)
    assert (np.diff(calibration.places) > 0).all() or len(calibration.places) == 1 or digits < 10
    for number, row in enumerate(scores):
        chances = calibration.probabilities(row, number)
        assert chances is not None
        ordered = np.delete(chances, number)[np.argsort(np.delete(row, number))]
        assert (np.diff(ordered) >= 0).all()
        assert ordered[0] >= 0
        assert ordered[-1] <= 1


def test_equal_scores_say_nothing_about_anybody() -> None:
    chances = said(fitted(np.ones((40, 40))), np.ones((40, 40)))
    assert (chances == 0).all()


def test_a_flat_tail_with_somebody_above() -> None:
    calibration = fitted(world(40, 3, 0.5)[0])
    row = np.r_[np.zeros(119), 1.0]
    chances = calibration.probabilities(row)
    assert chances is not None
    assert chances[-1] > 0.9
    assert (chances[:-1] == 0).all()


def test_too_few_sets_say_nothing() -> None:
    silent = fitted(world(4, 5, 0.5)[0])
    assert silent.is_silent
    assert silent.probabilities(np.arange(500.0)) is None
    assert not fitted(world(7, 3, 0.5)[0]).is_silent


@pytest.mark.parametrize("people", [4, 30])
def test_round_trip(people: int) -> None:
    scores, _ = world(people, 3, 0.7)
    calibration = fitted(scores)
    again = Calibration.from_arrays(calibration.to_arrays())
    assert again.window == calibration.window
    assert again.is_silent == calibration.is_silent
    row = np.random.default_rng(0).normal(size=100)
    ours, theirs = calibration.probabilities(row), again.probabilities(row)
    assert (ours is None) == (theirs is None)
    assert ours is None or ours.tobytes() == theirs.tobytes()


def test_arrays_of_an_earlier_calibration_are_refused() -> None:
    arrays = fitted(world(30, 3, 0.7)[0]).to_arrays()
    del arrays["same_person"]
    with pytest.raises(BadInput, match="lacks 'same_person': calibrate again"):
        Calibration.from_arrays(arrays)


@pytest.mark.parametrize("broken", ["window", "places", "chances"])
def test_arrays_that_do_not_fit_are_refused(broken: str) -> None:
    arrays = fitted(world(30, 3, 0.7)[0]).to_arrays()
    with pytest.raises(BadInput, match="calibrate again"):
        Calibration.from_arrays({**arrays, broken: np.zeros((3, 1))})
    with pytest.raises(BadInput, match=f"lacks '{broken}'"):
        Calibration.from_arrays({name: array for name, array in arrays.items() if name != broken})


# Probabilities of answers, on whatever grounds there are.

# The window is of the places 1 and 2: with the values below the places are 2, 4/3, 2/3, 0 and less.
BY_HAND = Calibration(Window(1, 3), np.array([0.0, 2.0]), np.array([0.0, 0.8]))
VALUES = np.array([8.0, 6.0, 4.0, 2.0, -1.0])
TOLD = np.array([0.8, 0.8 * 2 / 3, 0.8 / 3, 0.0, 0.0])
ODDS = np.array([3.0, 1.0, 0.0, -2.0, -9.0])
UNLIKE = np.zeros(5)


def told(clearly: float) -> Floats:
    found = BY_HAND.of_answers(VALUES, UNLIKE, Grounds(VALUES, ODDS, clearly))
    assert found is not None
    return found


def logistic(odds: Floats) -> Floats:
    return 1 / (1 + np.exp(-odds))


def test_answers_without_grounds_are_told_by_the_tail_of_their_scores() -> None:
    np.testing.assert_allclose(BY_HAND.of_answers(VALUES, UNLIKE), TOLD)


def test_answers_are_told_by_odds_where_these_are_clear() -> None:
    assert SUREST == 7
    np.testing.assert_allclose(told(1.0), logistic(np.array([3.0, 1.0, 0.0, -2.0, -7.0])))


def test_answers_are_told_by_the_tail_where_odds_are_not() -> None:
    """Nobody is a stranger for sure then."""
    np.testing.assert_allclose(told(0.0), np.maximum(TOLD, logistic(np.array(-7.0))))


def test_answers_are_told_by_half_of_each_in_between() -> None:
    tail = np.array([np.log(4), np.log(8 / 7), np.log(4 / 11), -7.0, -7.0])  # 8/15 and 4/15
    odds = np.array([3.0, 1.0, 0.0, -2.0, -7.0])
    np.testing.assert_allclose(told(0.5), logistic((tail + odds) / 2))


def test_the_tail_is_that_of_the_grounds_and_the_order_that_of_the_scores() -> None:
    """Whoever comes later is never surer, whatever the odds say; equal scores go by likeness."""
    scores, odds = np.array([1.0, 5.0, 4.0, 4.0, 2.0]), np.array([3.0, 1.0, 0.5, 2.0, -3.0])
    likeness = np.array([0.0, 0.0, 0.2, 0.3, 0.0])
    found = BY_HAND.of_answers(scores, likeness, Grounds(VALUES, odds, 1.0))
    # In order: numbers 1, 3, 2, 4, 0.
    np.testing.assert_allclose(found, logistic(np.array([-3.0, 1.0, 0.5, 1.0, -3.0])))
    moved = Grounds(VALUES[::-1].copy(), odds, 0.0)
    np.testing.assert_allclose(
        BY_HAND.of_answers(-VALUES, UNLIKE, moved), np.maximum(TOLD[::-1], 1e-3), atol=1e-3
    )


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1), st.sampled_from([None, 0, 7]), st.sampled_from([1.0, 0.6]))
def test_probabilities_of_answers_never_rise_along_their_order(
    seed: int, clearly: float, member: int | None, same_person: float
) -> None:
    rng = np.random.default_rng(seed)
    scores, values, odds = np.round(rng.normal(size=(3, 12)), 1)
    likeness = rng.random(12)
    calibration = replace(BY_HAND, same_person=same_person)
    found = calibration.of_answers(scores, likeness, Grounds(values, 5 * odds, clearly), member)
    assert found is not None
    assert (found >= 0).all()
    assert (found <= 1).all()
    order = [n for n in np.lexsort((-likeness, -scores)) if n != member]
    assert (np.diff(found[order]) <= 0).all()
    assert member is None or found[member] == 0


def test_who_is_more_alike_than_two_people_are_is_no_stranger() -> None:
    """Two thirds of the way from 0.94 to 1 all is sure; 0.945 is a twelfth of the way, three times that."""
    calibration = replace(BY_HAND, same_person=0.94)
    likeness = np.array([0.99, 0.98, 0.945, 0.94, 0.5])
    strangers = Grounds(VALUES, np.full(5, -7.0), 1.0)
    found = calibration.of_answers(VALUES, likeness, strangers)
    assert found is not None
    assert found[:2] == pytest.approx([logistic(np.array(7.0))] * 2)
    assert found[1] > 0.98
    assert found[2:] == pytest.approx([0.25, *logistic(np.full(2, -7.0))])
    # Who is surer by other means stays so, and nobody is by likeness where nobody knows from where on.
    assert calibration.of_answers(VALUES, likeness)[0] > 0.98  # type: ignore[index]
    assert calibration.of_answers(VALUES, np.full(5, 0.945))[0] == pytest.approx(0.8)  # type: ignore[index]
    np.testing.assert_allclose(BY_HAND.of_answers(VALUES, np.ones(5), strangers), logistic(np.full(5, -7.0)))


def test_the_query_is_no_answer_and_holds_nobody_back() -> None:
    scores, values, odds = (
        np.r_[first, each] for first, each in ((99.0, VALUES), (99.0, VALUES), (-7.0, ODDS))
    )
    calibration = replace(BY_HAND, same_person=0.94)
    found = calibration.of_answers(scores, np.r_[1.0, UNLIKE], Grounds(values, odds, 1.0), 0)
    np.testing.assert_allclose(found, np.r_[0.0, told(1.0)])
    # In narrowed tables it comes behind those that are scored.
    np.testing.assert_allclose(BY_HAND.of_answers(VALUES, UNLIKE, Grounds(VALUES, ODDS, 1.0), 9), told(1.0))


def test_without_a_tail_no_odds_are_told_either() -> None:
    silent = fitted(world(4, 5, 0.5)[0])
    assert silent.of_answers(VALUES, UNLIKE, Grounds(VALUES, ODDS, 1.0)) is None
    assert BY_HAND.of_answers(VALUES[:3], UNLIKE[:3], Grounds(VALUES[:3], ODDS[:3], 1.0)) is None


def test_from_where_on_two_faces_are_one_person_is_kept() -> None:
    assert BY_HAND.same_person == NEVER == 1
    again = Calibration.from_arrays(replace(BY_HAND, same_person=0.94).to_arrays())
    assert again.same_person == 0.94
