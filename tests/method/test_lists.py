"""Lists of neighbours as a query sees them."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.method.neighbours import nearest_lists, with_query, without_query
from lookalike.method.tables import Lists, Row, Tables
from tests.method.samples import random_sets, row_of, tables_of

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
