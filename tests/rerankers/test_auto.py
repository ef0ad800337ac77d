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


def test_a_small_gallery_is_not_pooled_but_weighed_if_that_clearly_helps() -> None:
    tables = gallery(12, 4, 1.2, noise=0.3)
    auto = Auto().fit(tables, RNG)
    assert auto.helps
    assert "too few to tell who is kin" in auto.finding


@pytest.mark.parametrize(("people", "sets"), [(4, 12), (2, 20), (3, 10), (3, 30)])
def test_a_few_people_with_many_sets_are_left_alone(people: int, sets: int) -> None:
    """Their own sets would be taken as cohorts of strangers."""
    tables = gallery(people, sets, 0.0)
    auto = Auto().fit(tables, RNG)
    before, after = asked(auto, tables)
    assert mean_precision(after, sets) >= mean_precision(before, sets) - 0.005


def test_what_is_found_is_said_in_numbers() -> None:
    tables = gallery(30, 4, 1.0)
    auto = Auto().fit(tables, RNG)
    assert auto.kin_ is not None
    kin = int((auto.kin_.chances > 0.5).any(axis=1).sum())
    assert auto.finding.startswith(f"{kin} of 120 sets have kin")
    again = Auto().from_arrays(auto.to_arrays())
    assert again.finding == auto.finding
