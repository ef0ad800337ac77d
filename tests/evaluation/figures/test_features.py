from __future__ import annotations

import numpy as np
import pytest

from lookalike.evaluation.drawing import Figure, svg
from lookalike.evaluation.learning import MOST_LINES, retrieval_features, training_features


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
