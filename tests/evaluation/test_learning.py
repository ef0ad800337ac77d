from __future__ import annotations

import numpy as np
import pytest

from lookalike import index, train
from lookalike.evaluation.drawing import Figure, svg
from lookalike.evaluation.learning import (
    MOST_LINES,
    Met,
    area_under_roc,
    features_met,
    retrieval_features,
    training_features,
)
from lookalike.method.regression import TrainingSet, draw_examples, draw_near_examples
from tests.small_world import small_world


def test_area_under_roc_by_hand() -> None:
    # Pairs: 3 > 1, 3 > 2, 2 > 1, 2 = 2 (half): 3.5 of 4.
    assert area_under_roc(np.array([3.0, 2.0]), np.array([1.0, 2.0])) == 3.5 / 4
    assert area_under_roc(np.array([1.0]), np.array([5.0])) == 0.0


def test_training_rows_are_those_of_the_fit_and_rows_are_by_person() -> None:
    sets, labels = small_world(people=6, sets=3)
    tables = index(sets)
    met = features_met(tables, train(tables, "learnt", seed=4), labels, seed=4)
    assert met is not None
    expected = draw_examples(tables, np.random.default_rng(4))
    np.testing.assert_array_equal(met.training.x, expected.x)
    # 18 queries with 2 matches and 15 others, 10 proxies each.
    assert met.matches.shape == (18 * 2 * 10, 5)
    assert met.others.shape == (18 * 15 * 10, 5)
    # Sets of one person are more alike than others.
    assert met.matches[:, 1].mean() > met.others[:, 1].mean() + 0.05
    apart = met.told_apart()
    assert apart["training"] > 0.9
    assert apart["baseline"] == area_under_roc(met.matches[:, 1], met.others[:, 1]) > 0.6
    assert set(met.outside()) == {"matches", "others"}


def test_options_are_asked_as_they_were_trained() -> None:
    sets, labels = small_world(people=6, sets=3)
    tables = index(sets)
    fitted = train(tables, "learnt:examples=near", seed=4)
    met = features_met(tables, fitted, labels, seed=4)
    assert met is not None
    expected = draw_near_examples(tables, np.random.default_rng(4))
    np.testing.assert_array_equal(met.training.x, expected.x)
    rows = met.others[:7]
    np.testing.assert_array_equal(met.predict(rows), fitted.regressor_.predict(rows))


def test_what_has_no_regressor_meets_nothing() -> None:
    sets, labels = small_world(people=3)
    tables = index(sets)
    for name in ("baseline", "arithmetic_mean"):
        assert features_met(tables, train(tables, name), labels, 0) is None


def test_told_apart_asks_the_regressor() -> None:
    training = TrainingSet(np.array([[1.0] * 5, [0.0] * 5]), np.array([1.0, 0.0]))
    met = Met(training, np.zeros((2, 5)), np.ones((2, 5)), lambda rows: rows[:, 0])
    assert met.told_apart() == {"training": 1.0, "retrieval": 0.0, "baseline": 0.0}


def line_of(figure: Figure, panel: str, line: str) -> list[float]:
    t = figure.table
    rows = zip(t["panel"], t["line"], t["value"], strict=True)
    return [value for where, name, value in rows if (where, name) == (panel, line)]


def test_table_worked_by_hand() -> None:
    # 0, 1, ..., 20 in every column: the 5th of 100 parts is 1, the median 10, the 95th 19.
    rows = np.tile(np.arange(21.0)[:, None], (1, 5))
    figure = training_features(np.concatenate([rows, rows[:1]]), np.array([1.0] * 21 + [0.0]))
    assert line_of(figure, "same person", "5 %") == pytest.approx([1.0] * 5)
    assert line_of(figure, "same person", "median") == [10.0] * 5
    assert line_of(figure, "same person", "95 %") == pytest.approx([19.0] * 5)
    assert line_of(figure, "same person", "highest") == [20.0] * 5
    assert line_of(figure, "same person", "example 3") == [2.0] * 5
    assert line_of(figure, "another person", "median") == [0.0] * 5
    assert figure.table["number"][:5] == ["s1", "s2", "s3", "s4", "s5"]


def test_quantiles_come_from_all_and_lines_from_some() -> None:
    x = np.random.default_rng(1).uniform(size=(2000, 5))
    figure = training_features(x, np.ones(2000))
    assert line_of(figure, "same person", "median") == pytest.approx(np.median(x, axis=0))
    drawn = {line for line in figure.table["line"] if line.startswith("example")}
    assert len(drawn) == MOST_LINES


def test_caption_says_what_lies_outside() -> None:
    x, y = np.random.default_rng(0).uniform(size=(20, 5)), np.arange(20) % 2
    figure = retrieval_features(x, y, x[:3], x[:2], 0.125)
    assert "12.5% of what retrieval met" in figure.caption
    assert set(figure.table["panel"]) == {
        f"{when}, {who} person" for when in ("training", "retrieval") for who in ("same", "another")
    }


def test_nothing_in_a_panel_and_equal_rows_are_drawn() -> None:
    x = np.full((2, 5), 0.5)
    svg(training_features(x, np.ones(2)))
    svg(retrieval_features(x, np.ones(2), x[:0], x, 0.0))
    svg(retrieval_features(x[:0], np.ones(0), x[:0], x[:0], 0.0))
