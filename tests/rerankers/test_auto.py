"""Auto: adaptive where people repeat, the baseline where nobody does."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.rerankers.adaptive import Adaptive
from lookalike.rerankers.auto import Auto
from tests.rerankers.test_adaptive import RNG, asked, gallery, mean_precision
from tests.transitivity.samples import row_of


def test_where_people_repeat_it_is_adaptive() -> None:
    tables = gallery(30, 4, 1.0)
    auto, adaptive = Auto().fit(tables, RNG), Adaptive().fit(tables, RNG)
    assert auto.helps
    row = row_of(tables, 5)
    np.testing.assert_array_equal(auto.score(row, tables).scores, adaptive.score(row, tables).scores)
    assert auto.finding == adaptive.finding
    assert auto.evidence(row, tables, 6) is not None


@pytest.mark.parametrize("total", [15, 200])
def test_where_nobody_does_the_order_stays(total: int) -> None:
    tables = gallery(total, 1, 0.0)
    auto = Auto().fit(tables, RNG)
    assert not auto.helps
    row = row_of(tables, 5)
    np.testing.assert_array_equal(auto.score(row, tables).scores, row.scores)
    assert auto.evidence(row, tables, 6) is None
    assert auto.finding.endswith("stays as it is.")


def test_a_small_gallery_is_weighed_though_it_is_not_pooled() -> None:
    tables = gallery(6, 4, 0.0, noise=1.2, seed=1)
    auto = Auto().fit(tables, RNG)
    assert auto.helps
    assert auto.kin_ is None
    before, after = (mean_precision(scores, 4) for scores in asked(auto, tables))
    assert after > before + 0.03


LIKE_LIGHT = pytest.mark.xfail(
    strict=True,
    reason="people who fill a third or half of a gallery reach as far as light, and are subtracted",
)


@pytest.mark.parametrize(
    ("people", "sets"),
    [
        (4, 12),
        (3, 10),
        (8, 30),
        pytest.param(2, 40, marks=LIKE_LIGHT),
        pytest.param(3, 40, marks=LIKE_LIGHT),
    ],
)
def test_a_few_people_with_many_sets_are_found_better(people: int, sets: int) -> None:
    """Their own sets are their cohorts: subtracting these must not destroy them."""
    for seed in range(3):
        tables = gallery(people, sets, 0.0, noise=1.2, seed=seed)
        auto = Auto().fit(tables, RNG)
        before, after = (mean_precision(scores, sets) for scores in asked(auto, tables))
        assert before < 0.99
        assert after > before


def test_what_is_found_is_said_in_numbers() -> None:
    tables = gallery(30, 4, 1.0)
    auto = Auto().fit(tables, RNG)
    assert auto.findings_ is not None
    assert f"{auto.findings_.subtracted:.0%} is subtracted" in auto.finding
    again = Auto().from_arrays(auto.to_arrays())
    assert again.finding == auto.finding
