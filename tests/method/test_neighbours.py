from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.method.neighbours import (
    Known,
    index_need,
    lists_bytes,
    nearest_known,
    nearest_lists,
    spread,
    with_query,
    without_query,
)
from lookalike.method.tables import Lists, Row, Tables
from lookalike.similarities.max_correlation import MaxCorrelation
from lookalike.similarities.max_max import MaxMax
from tests.method.dense import filled, lists_of, square
from tests.method.dense import spread as spread_scores
from tests.method.samples import random_sets, row_of, tables_of


def test_a_few_sets_of_different_size_stand_for_all() -> None:
    faces = np.arange(100, 0, -1)
    assert sorted(faces[spread(faces)]) == [11, 31, 51, 71, 91]
    assert spread(np.array([7])).tolist() == [0]
    assert spread(np.array([], dtype=np.int64)).tolist() == []


def test_bytes_of_lists() -> None:
    # Number and score, 8 bytes each; two modes of 8 bytes, or of 6 x 1 numbers.
    assert lists_bytes(MaxMax(), 100, 11) == 100 * 11 * 32
    assert lists_bytes(MaxMax(), 5, 11) == 5 * 4 * 32
    assert lists_bytes(MaxMax(), 1, 11) == 0
    assert lists_bytes(MaxMax(), 100, 64) == 100 * (64 * 16 + 11 * 16)  # modes of the first 11
    shape = MaxCorrelation().mode_shape
    assert lists_bytes(MaxCorrelation(), 100, 11) == 100 * 11 * (16 + 16 * int(np.prod(shape)))


@pytest.mark.parametrize("largest", [50, 1000])
def test_what_grows_with_the_faces_goes_on_growing_and_what_is_capped_does_not(largest: int) -> None:
    faces = np.array([*range(10, 50), largest])
    chosen = np.array([0, 20, 39])

    def disk(size_of) -> int:  # type: ignore[no-untyped-def]
        prepared = [{"faces": np.zeros(size_of(count), np.uint8)} for count in faces[chosen]]
        need = index_need(MaxMax(), faces, chosen, prepared, 0)
        return need.disk - 72 * len(faces)

    assert disk(lambda count: 100 * count) == pytest.approx(100 * faces.sum(), abs=1)
    assert disk(lambda count: 1000) == 1000 * len(faces)


# Known: pairs from both lists, and levels worked by hand.


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
    np.testing.assert_array_equal(spread_scores(known, np.ones(len(known.sets)), 0) > 0, listed)
    others = listed & ~np.eye(total, dtype=bool)
    np.testing.assert_allclose(filled(known)[others], scores[others], atol=1e-12)
    np.testing.assert_allclose(spread_scores(known, known.scores())[others], scores[others], atol=1e-12)


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


# Lists of neighbours as a query sees them.

LISTS = Lists(np.array([[1, 2], [0, 2], [1, 0]]), np.array([[0.9, 0.5], [0.9, 0.7], [0.7, 0.5]]))


def row(scores: list[float], member: int | None = None) -> Row:
    nothing = np.zeros(len(scores), dtype=np.int64)
    return Row(np.array(scores), nothing, nothing, member)


@pytest.fixture(scope="module")
def gallery() -> Tables:
    return tables_of(random_sets(30, seed=5, smallest=2, largest=4), count=4)


def test_short_lists_are_those_of_the_index(gallery: Tables) -> None:
    lists = nearest_lists(gallery, 3)
    np.testing.assert_array_equal(lists.sets, gallery.neighbours.sets[:, :3])
    assert gallery.longer == []


def test_long_lists_are_found_once_and_hold_everybody(gallery: Tables) -> None:
    lists = nearest_lists(gallery, 20)
    np.testing.assert_array_equal(lists.sets[:, :4], gallery.neighbours.sets)
    np.testing.assert_array_equal(lists.scores[:, :4], gallery.neighbours.scores)
    for number in range(30):
        scores = row_of(gallery, number).scores.copy()
        scores[number] = -np.inf
        np.testing.assert_array_equal(lists.sets[number], np.argsort(-scores, kind="stable")[:20])
    [kept] = gallery.longer
    everybody = nearest_lists(gallery, 1000)
    assert everybody.sets.shape == (30, 29)
    assert gallery.longer == [kept]


def test_without_query_passes_over_it() -> None:
    found = without_query(LISTS, 0, 1)
    assert found.sets[1:].tolist() == [[2], [1]]
    assert found.scores[1:].tolist() == [[0.7], [0.7]]
    outside = without_query(LISTS, None, 5)
    assert outside.sets.tolist() == LISTS.sets.tolist()


def test_with_query_puts_it_where_it_belongs() -> None:
    # 0.6 comes between 0.9 and 0.5; a tie with 0.9 goes to the gallery; 0.1 enters nowhere.
    found, number = with_query(LISTS, row([0.6, 0.9, 0.1]), 2)
    assert number == 3
    assert found.sets.tolist() == [[1, 3], [0, 3], [1, 0], [1, 0]]
    assert found.scores.tolist() == [[0.9, 0.6], [0.9, 0.9], [0.7, 0.5], [0.9, 0.6]]


def test_a_member_is_in_the_lists_already() -> None:
    found, number = with_query(LISTS, row([1.0, 0.9, 0.5], member=0), 2)
    assert number == 0
    assert found.sets.tolist() == LISTS.sets.tolist()


def test_inside_and_outside_are_one_collection() -> None:
    """Take a member out and ask for it from outside: the same lists but for the numbers."""
    sets = random_sets(12, seed=8, smallest=2)
    whole = tables_of(sets)
    smaller = tables_of(sets[:-1])
    inside, own = with_query(nearest_lists(whole, 6), row_of(whole, 11), 5)
    outside, number = with_query(nearest_lists(smaller, 6), row_of(smaller, sets[-1]), 5)
    assert own == number == 11
    np.testing.assert_array_equal(inside.sets, outside.sets)
    np.testing.assert_allclose(inside.scores, outside.scores, atol=1e-12)
