from __future__ import annotations

import numpy as np
import pytest

from lookalike.evaluation.drawing import svg
from lookalike.evaluation.sampling import picture_of, selection_picture


def test_table_says_who_was_taken_and_when() -> None:
    projections = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 2.0]])
    figure = selection_picture(projections, np.array([0, 2]), np.array([0.0, 0.5]), "a")
    assert figure.table == {
        "face": [0, 1, 2],
        "component_1": [0.0, 1.0, 0.5],
        "component_2": [1.0, 0.0, 2.0],
        "chosen_as": [1, "", 2],
    }
    assert "one of the 3 faces of a," in figure.caption
    assert "Below" not in figure.caption


def test_pictures_only_when_given() -> None:
    projections, chosen = np.zeros((2, 2)), np.array([0, 1])
    gray, colour = np.zeros((8, 8), dtype=np.uint8), np.zeros((8, 6, 3), dtype=np.uint8)
    with_faces = selection_picture(projections, chosen, np.empty(0), "a", [gray, colour])
    without = selection_picture(projections, chosen, np.empty(0), "a")
    assert "Below: the chosen faces" in with_faces.caption
    assert with_faces.height > without.height
    assert "<image" in svg(with_faces)
    assert "<image" not in svg(without)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_small_sets_are_drawn(count: int) -> None:
    faces = np.random.default_rng(0).normal(size=(count, 4))
    figure = selection_picture(*picture_of(faces, 10), "a", [np.zeros((4, 4), dtype=np.uint8)] * count)
    assert "all of its faces are kept" in figure.caption
    svg(figure)


def test_a_large_set_stays_a_small_file() -> None:
    projections = np.random.default_rng(0).normal(size=(6000, 2))
    text = svg(selection_picture(projections, np.array([0]), np.array([0.0]), "a"))
    assert len(text) < 500_000
