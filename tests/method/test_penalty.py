"""The penalty is the one that errs least on held-out references."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.method import regression
from lookalike.method.regression import (
    PENALTIES,
    Regression,
    Settings,
    TrainingSet,
    balanced_error,
    choose_penalty,
    draw_near_examples,
)
from tests.method.samples import random_sets, tables_of


class Said:
    """Answers the first number of each row."""

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 0]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_error_by_hand() -> None:
    # Same person: 0.6 and 3 (clipped to 1) are wrong by 0.4 and 0, so 0.2. Others: -1 (clipped to 0), 0.5,
    # 0.1 and 0.2 are wrong by 0.2 on average. Both kinds count the same, however many there are.
    x = np.array([[0.6], [3.0], [-1.0], [0.5], [0.1], [0.2]])
    rows = TrainingSet(x, np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0]))
    assert balanced_error(Said(), rows) == pytest.approx(0.2)  # type: ignore[arg-type]


@pytest.mark.parametrize("best", PENALTIES)
def test_the_least_error_wins(best: float, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tables_of(random_sets(30, seed=1, smallest=2))
    asked: list[tuple[float, int]] = []

    def fit(x: np.ndarray, y: np.ndarray, settings: Settings) -> float:
        asked.append((settings.penalty, len(x)))
        return settings.penalty

    def error(made: float, rows: TrainingSet) -> float:
        # Ten references of thirty are held out, and tried as retrieval meets them.
        assert len(rows.x) == len(draw_near_examples(tables, rng(), proxies=3, chosen=held_out).x)
        return abs(np.log(made / best))

    monkeypatch.setattr(regression, "fit_regression", fit)
    monkeypatch.setattr(regression, "balanced_error", error)
    references = np.arange(30)
    held_out = references[2::3]
    drawn: list[list[int]] = []

    def draw(some: np.ndarray) -> TrainingSet:
        drawn.append(some.tolist())
        return TrainingSet(np.zeros((2, 5)), np.array([0.0, 1.0]))

    found = choose_penalty(tables, rng(), references, 3, draw, Settings(), lambda rows: rows)
    assert found == best
    assert sorted(one for one, _ in asked) == sorted(PENALTIES)
    assert drawn == [[number for number in range(30) if number not in held_out]]


def test_of_equal_ones_the_smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tables_of(random_sets(30, seed=1, smallest=2))
    monkeypatch.setattr(regression, "balanced_error", lambda made, rows: 0.25)
    rows = TrainingSet(rng().random((20, 5)), np.repeat([0.0, 1.0], 10))
    found = choose_penalty(tables, rng(), np.arange(30), 3, lambda some: rows, Settings(), lambda x: x)
    assert found == min(PENALTIES)


def test_nothing_to_try_them_on_is_the_papers() -> None:
    tables = tables_of(random_sets(2, smallest=2))
    rows = TrainingSet(np.zeros((2, 5)), np.array([0.0, 1.0]))
    found = choose_penalty(tables, rng(), np.arange(2), 3, lambda some: rows, Settings(), lambda x: x)
    assert found == PENALTIES[0] == 1000.0


def test_a_regression_is_what_is_judged() -> None:
    made = Regression(np.zeros((1, 5)), np.array([0.0]), 0.75, 0.2, 0.0, 0.0, 1)
    rows = TrainingSet(np.zeros((3, 5)), np.array([1.0, 0.0, 0.0]))
    assert balanced_error(made, rows) == pytest.approx((0.25 + 0.75) / 2)
