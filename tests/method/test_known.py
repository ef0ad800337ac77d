"""Known: pairs from both lists, and levels worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.method.neighbours import Known, nearest_known
from tests.method.dense import filled, lists_of, spread, square


def test_levels_by_hand() -> None:
    # Similarity is the sum of what two sets bring. Nobody knows anybody but the last one.
    brought = np.array([0.1, 0.2, 0.3, 0.4, 1.0])
    scores = brought[:, None] + brought
    known = Known.of(lists_of(scores, 1), np.arange(5), scores)
    assert known.sets.tolist() == [0, 4, 1, 4, 2, 4, 3, 4, 0, 1, 2, 3, 4]
    assert known.starts.tolist() == [0, 2, 4, 6, 8, 13]
    # The six unknown pairs are 0.5 on average, so the first four bring 0.25 on average, which is half of it.
    assert known.level == pytest.approx(0.5)
    np.testing.assert_allclose(known.levels[:4], brought[:4] - 0.25)
    expected = scores.copy()
    np.fill_diagonal(expected, np.median(scores[~np.eye(5, dtype=bool)]))
    np.testing.assert_allclose(filled(known), expected)


@given(st.integers(5, 40), st.integers(1, 12), st.integers(0, 99))
def test_what_is_in_a_list_is_known_on_both_sides(total: int, width: int, seed: int) -> None:
    scores = square(total, seed)
    lists = lists_of(scores, width)
    known = Known.of(lists, np.arange(0, total, 2), scores[::2])
    listed = np.eye(total, dtype=bool)
    np.put_along_axis(listed, lists.sets, True, axis=1)
    listed |= listed.T
    np.testing.assert_array_equal(spread(known, np.ones(len(known.sets)), 0) > 0, listed)
    others = listed & ~np.eye(total, dtype=bool)
    np.testing.assert_allclose(filled(known)[others], scores[others], atol=1e-12)
    np.testing.assert_allclose(spread(known, known.scores())[others], scores[others], atol=1e-12)


def test_where_every_pair_is_known_nothing_is_expected() -> None:
    scores = square(6)
    known = Known.of(lists_of(scores, 5), np.arange(6), scores)
    assert known.level == np.median(scores[~np.eye(6, dtype=bool)])
    assert not known.levels.any()


def test_a_sample_tells_the_levels_where_levels_are_all_there_is() -> None:
    brought = np.linspace(0, 1, 30) ** 2
    scores = brought[:, None] + brought
    lists = lists_of(scores, 3)
    numbers = np.arange(0, 30, 3)
    known = Known.of(lists, numbers, scores[numbers])
    others = ~np.eye(30, dtype=bool)
    np.testing.assert_allclose(filled(known)[others], scores[others], atol=1e-3)


@given(st.integers(5, 30), st.integers(2, 6), st.integers(0, 99))
def test_nearest_by_another_value(total: int, width: int, seed: int) -> None:
    scores = square(total, seed)
    width = min(width, total - 1)
    known = Known.of(lists_of(scores, width), np.arange(total), scores)
    values = np.round(np.random.default_rng(seed).normal(size=len(known.sets)), 1)  # with ties
    sets, best = nearest_known(known, values, width)
    for number in range(total):
        row = slice(known.starts[number], known.starts[number + 1])
        pairs = [(-v, s) for v, s in zip(values[row], known.sets[row], strict=True) if s != number]
        expected = sorted(pairs)[:width]
        assert [s for _, s in expected] == sets[number].tolist()
        assert [-v for v, _ in expected] == best[number].tolist()
