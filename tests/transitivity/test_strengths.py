"""Strengths: by hand, against squares of all pairs, and what makes one trusted."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.transitivity.known import Known
from lookalike.transitivity.strangers import Strangers
from lookalike.transitivity.strengths import HUB, choose, shares_of_strangers, trust
from tests.transitivity.dense import lists_of, order_of, row_of, spread, square


def fitted(scores: np.ndarray, width: int = 6, known: int | None = None) -> tuple:
    total = len(scores)
    lists = lists_of(scores, known or total - 1)
    strangers = Strangers(Known.of(lists, np.arange(total), scores), lists.sets[:, : width + 2].copy(), 1)
    means = strangers.around_known()
    return strangers, means, *choose(strangers, means, [row_of(scores, n) for n in range(total)], 3)


def test_trust_by_hand() -> None:
    # 15 triangles are 4 standard deviations' worth of halves below 24: exp(-9 / (0.5 * 5)).
    shares = trust(np.array([24.0, 15.0]))
    np.testing.assert_allclose(shares, np.array([1, np.exp(-3.6)]) / (1 + np.exp(-3.6)))
    np.testing.assert_allclose(trust(np.zeros(4)), 0.25)


def test_full_strength_is_the_product_without_the_local_mean() -> None:
    # <x - c, y - d> = <x, y> - <x, d> - <c, y> + <c, d>: the last of the factors.
    assert shares_of_strangers()[-1].tolist() == [1, 1, 1]
    assert shares_of_strangers()[0].tolist() == [1, 0, 0]
    assert shares_of_strangers()[2].tolist() == [1, 0.5, 0.25]


def test_a_row_and_known_pairs_agree_where_all_pairs_are_known() -> None:
    scores = square(30, 4)
    strangers, means, strengths, _ = fitted(scores)
    pairs = spread(strangers.known, strengths.of_known(strangers.known, means))
    for query in (0, 13):
        row = row_of(scores, query)
        found = strengths.of_row(row, strangers.around(row))
        others = np.arange(30) != query
        np.testing.assert_allclose(found[others], pairs[query, others], atol=1e-9)


def test_without_strangers_it_is_the_similarity_less_what_hubs_have() -> None:
    scores = square(30, 4)
    strangers, _, strengths, _ = fitted(scores)
    best = np.take_along_axis(scores, order_of(scores)[:, :HUB], axis=1).mean(axis=1)
    np.testing.assert_allclose(strengths.hubs[0], best)
    alone = strengths._replace(gains=np.array([1.0, 0, 0, 0, 0]))
    row = row_of(scores, 5)
    found = alone.of_row(row, strangers.around(row))
    expected = scores[5] - (best[5] + best) / 2
    np.testing.assert_allclose(np.delete(found - expected, 5), -strengths.middles[0], atol=1e-12)


def test_all_strengths_have_middle_0_and_spread_1() -> None:
    scores = square(40, 1)
    strangers, _, strengths, triangles = fitted(scores, known=12)
    shares = trust(triangles)
    for place, share in enumerate(shares):
        only = strengths._replace(
            gains=np.where(np.arange(len(shares)) == place, strengths.gains / share, 0.0)
        )
        rows = [row_of(scores, n) for n in range(40)]
        values = np.concatenate([np.delete(only.of_row(r, strangers.around(r)), r.member) for r in rows])
        assert np.median(values) == pytest.approx(0, abs=1e-9)
        assert 1.4826 * np.median(np.abs(values)) == pytest.approx(1)


@pytest.mark.parametrize(("light", "strong"), [(0.0, False), (2.5, True)])
def test_strangers_are_subtracted_where_they_explain_much(light: float, strong: bool) -> None:
    """Sets of four people's worth of light: only where light is strong, taking it away closes triangles."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 60))[np.arange(160) // 4] + 0.9 * rng.normal(size=(160, 60))
    vectors += light * rng.normal(size=(4, 60))[np.arange(160) % 4]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    _, _, _, triangles = fitted(vectors @ vectors.T, width=20, known=64)
    assert (triangles[-1] > 1.5 * triangles[0]) == strong


def test_copies_of_one_set_have_no_spread_and_do_no_harm() -> None:
    scores = np.ones((30, 30))
    strangers, means, strengths, _ = fitted(scores)
    row = row_of(scores, 3)
    assert np.isfinite(strengths.of_row(row, strangers.around(row))).all()
    assert np.isfinite(strengths.of_known(strangers.known, means)).all()
