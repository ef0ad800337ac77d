from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import svg
from lookalike.evaluation.sampling import energies_cdf, selection_error_cdf


def test_energies_worked_by_hand() -> None:
    figure = energies_cdf(np.array([[0.5, 0.25], [0.5, 0.0]]))
    assert figure.table == {
        "component": [2, 3, 3],
        "relative_energy": [0.5, 0.0, 0.25],
        "share_of_sets": [1.0, 0.5, 1.0],
    }
    assert "over 2 sets" in figure.caption


def test_errors_worked_by_hand() -> None:
    figure = selection_error_cdf(np.array([0.0, -0.2, 0.0, -0.1]))
    assert figure.table == {"error": [-0.2, -0.1, 0.0], "share_of_pairs": [0.25, 0.5, 1.0]}
    assert "at most 0.0500 in size" in figure.caption


@pytest.mark.parametrize("errors", [[0.0], [0.0] * 9, [-0.3], [0.2, -0.1]])
def test_degenerate_errors_are_drawn(errors: list[float]) -> None:
    svg(selection_error_cdf(np.array(errors)))


def test_sets_without_variation_are_drawn() -> None:
    svg(energies_cdf(np.zeros((1, 2))))
    with pytest.raises(BadInput, match="is empty"):
        energies_cdf(np.zeros((0, 2)))
