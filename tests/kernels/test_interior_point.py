"""The interior point method by itself: what rows that are left out pull."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.kernels.svr import Minimum, Pull, minimise

NOTHING = Pull(np.zeros(1), 0.0, 0.0)


def found(x: list[float], y: list[float], penalty: float, pull: Pull = NOTHING) -> Minimum:
    return minimise(np.array(x)[:, None], np.array(y), 0.1, penalty, 1e-9, 200, pull)


def test_two_points_by_hand() -> None:
    # The flattest line within 0.1 of (0, 0) and (1, 1) starts at 0.1 and rises by 0.8: the force of each row.
    line = found([0.0, 1.0], [0.0, 1.0], 1000.0)
    assert line.weights == pytest.approx([0.8], abs=1e-6)
    assert line.intercept == pytest.approx(0.1, abs=1e-6)
    assert line.duals == pytest.approx([-0.8, 0.8], abs=1e-6)
    assert line.gap <= 1e-9 * 0.32


def test_a_row_outside_may_be_left_out_by_hand() -> None:
    # With C = 0.1 the row (1, 5) stays far above the line and pulls with 0.1 at 1, whatever the others do:
    # v = 0.1 * 1, c = 0.1, and it costs 0.1 * (5 - 0.1) less 0.1 (w + b).
    x, y, penalty = [0.0, 1.0, 1.0], [0.0, 1.0, 5.0], 0.1
    whole = found(x, y, penalty)
    assert whole.duals[2] == pytest.approx(penalty, abs=1e-6)
    part = found(x[:2], y[:2], penalty, Pull(np.array([0.1]), 0.1, 0.1 * 4.9))
    assert part.weights == pytest.approx(whole.weights, abs=1e-6)
    assert part.duals == pytest.approx(whole.duals[:2], abs=1e-6)


def test_rows_need_not_pull() -> None:
    line = found([0.0, 1.0, 2.0], [0.3, 0.3, 0.3], 1.0)
    assert line.weights == pytest.approx([0.0], abs=1e-6)
    assert line.duals == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
