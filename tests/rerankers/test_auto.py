"""Auto: adaptive where people repeat, the baseline where nobody does."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.method.kin import LOOSE, UNSEEN
from lookalike.rerankers.adaptive import Adaptive
from lookalike.rerankers.auto import Auto
from tests.method.samples import row_of
from tests.rerankers.test_adaptive import RNG, asked, gallery, mean_precision


@pytest.mark.parametrize(
    ("closed", "lumps", "with_kin", "helps"),
    [
        (UNSEEN, LOOSE, 2, False),
        (UNSEEN + 0.01, LOOSE, 2, True),  # groups are seen
        (UNSEEN, LOOSE + 0.01, 2, True),  # so large ones that lists of eight do not show them
        (UNSEEN, LOOSE, 3, True),  # more than 2 % of the sets have kin
    ],
)
def test_one_sign_is_enough_to_help(closed: float, lumps: float, with_kin: int, helps: bool) -> None:
    auto = Auto().fit(gallery(100, 1, 0.0), RNG)
    assert auto.findings_ is not None
    assert auto.kin_ is not None
    auto.findings_ = auto.findings_._replace(closed=closed, lumps=lumps)
    chances = np.zeros_like(auto.kin_.chances)
    chances[:with_kin, 0] = 1.0
    auto.kin_ = auto.kin_._replace(chances=chances)
    assert auto.helps == helps
    assert auto.finding.endswith("stays as it is.") == (not helps)


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


def test_a_small_gallery_is_weighed_though_kin_are_hardly_believed() -> None:
    tables = gallery(6, 4, 0.0, noise=1.2, seed=1)
    auto = Auto().fit(tables, RNG)
    assert auto.helps
    assert auto.kin_ is not None
    assert auto.kin_.chances.max() <= 0.25  # told by seven values
    before, after = (mean_precision(scores, 4) for scores in asked(auto, tables))
    assert after > before + 0.03


@pytest.mark.parametrize(("people", "sets"), [(4, 12), (3, 10), (8, 30), (2, 40), (3, 40)])
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
    assert f"; {auto.findings_.subtracted:.0%} of what strangers in the same light " in auto.finding
    again = Auto().from_arrays(auto.to_arrays())
    assert again.finding == auto.finding
