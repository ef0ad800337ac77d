from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.evaluation.measures import (
    average_normalised_rank,
    average_precision,
    cumulative_match,
    found_within,
    precision_at,
    summary,
)


def ranks(*values: int) -> np.ndarray:
    return np.array(values)


def test_anr_worked_by_hand() -> None:
    # n = 10, c = 2: m = 1 + 2 = 3, M = 9 + 10 = 19.
    assert average_normalised_rank(ranks(1, 2), 10) == 0.0
    assert average_normalised_rank(ranks(9, 10), 10) == 1.0
    assert average_normalised_rank(ranks(2, 5), 10) == pytest.approx((7 - 3) / 16)


def test_anr_of_nothing_but_matches_is_perfect() -> None:
    assert average_normalised_rank(ranks(1, 2, 3), 3) == 0.0


def test_average_precision_worked_by_hand() -> None:
    # Precision 1/1 at rank 1, 2/4 at rank 4, 3/6 at rank 6.
    assert average_precision(ranks(4, 1, 6)) == pytest.approx((1 + 0.5 + 0.5) / 3)


def test_precision_and_counts() -> None:
    assert precision_at(ranks(1, 3, 9), 5, 100) == pytest.approx(2 / 5)
    assert precision_at(ranks(1, 3), 5, 4) == pytest.approx(2 / 4)
    assert found_within(ranks(1, 3, 9), 5) == 2


def test_cumulative_match() -> None:
    np.testing.assert_allclose(
        cumulative_match([ranks(2, 7), ranks(1), ranks(4)], 4), [1 / 3, 2 / 3, 2 / 3, 1]
    )


def test_summary_names_and_values() -> None:
    found = summary([ranks(1, 2), ranks(9, 10)], 10)
    assert found == {
        "mean_anr": 0.5,
        "anr_below_0.3": 0.5,
        "anr_q98": pytest.approx(0.98),
        "map": pytest.approx((1 + (1 / 9 + 2 / 10) / 2) / 2),
        "rank1": 0.5,
        "match_in_100": 1.0,
    }


@given(st.integers(2, 60), st.data())
def test_anr_is_between_0_and_1_and_falls_when_a_match_rises(total: int, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(1, total), min_size=1, max_size=total))
    value = average_normalised_rank(np.array(sorted(chosen)), total)
    assert 0.0 <= value <= 1.0
    risen = {rank - 1 for rank in chosen if rank > 1 and rank - 1 not in chosen}
    if risen:
        better = (chosen - {min(risen) + 1}) | {min(risen)}
        assert average_normalised_rank(np.array(sorted(better)), total) < value
