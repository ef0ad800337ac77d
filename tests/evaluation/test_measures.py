from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.evaluation.measures import (
    average_normalised_rank,
    average_precision,
    found_within,
    summary,
    with_query_counted,
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


def test_how_many_are_found() -> None:
    assert found_within(ranks(1, 3, 9), 5) == 2


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


def test_the_query_counted_worked_by_hand() -> None:
    # n = 10, c = 2, ranks 2 and 5: the query at 1, the matches at 3 and 6 of 11.
    counted, total = with_query_counted([ranks(2, 5), ranks(10)], 10)
    assert [one.tolist() for one in counted] == [[1, 3, 6], [1, 11]]
    assert total == 11
    # m = 1 + 2 + 3 = 6, M = 9 + 10 + 11 = 30: (10 - 6) / 24 = 1/6, two thirds of (7 - 3) / 16 = 1/4.
    assert average_normalised_rank(counted[0], total) == pytest.approx(1 / 6)
    # The worst that a single match can have: half of 1.
    assert average_normalised_rank(counted[1], total) == pytest.approx(1 / 2)
    # Precision 1/1 at rank 1, 2/3 at rank 3, 3/6 at rank 6; and 1/1, 2/11.
    assert average_precision(counted[0]) == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
    assert summary(counted, total) == {
        "mean_anr": pytest.approx((1 / 6 + 1 / 2) / 2),
        "anr_below_0.3": 0.5,
        "anr_q98": pytest.approx(1 / 6 + 0.98 * (1 / 2 - 1 / 6)),
        "map": pytest.approx(((1 + 2 / 3 + 1 / 2) / 3 + (1 + 2 / 11) / 2) / 2),
        "rank1": 1.0,
        "match_in_100": 1.0,
    }


@given(st.integers(2, 60), st.data())
def test_an_anr_with_the_query_counted_is_c_of_c_plus_1_of_itself(total: int, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(1, total), min_size=1, max_size=total - 1))
    alone = np.array(sorted(chosen))
    [counted], more = with_query_counted([alone], total)
    share = len(alone) / (len(alone) + 1)
    assert average_normalised_rank(counted, more) == pytest.approx(
        share * average_normalised_rank(alone, total)
    )


@given(st.integers(2, 60), st.data())
def test_anr_is_between_0_and_1_and_falls_when_a_match_rises(total: int, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(1, total), min_size=1, max_size=total))
    value = average_normalised_rank(np.array(sorted(chosen)), total)
    assert 0.0 <= value <= 1.0
    risen = {rank - 1 for rank in chosen if rank > 1 and rank - 1 not in chosen}
    if risen:
        better = (chosen - {min(risen) + 1}) | {min(risen)}
        assert average_normalised_rank(np.array(sorted(better)), total) < value
