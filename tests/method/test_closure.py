"""Closure: by hand, at chance, of whole groups; and its reach, by which light is told from people."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.method.agreement import (
    LEAST,
    LENGTHS,
    Reach,
    closure,
    closures,
    counted,
    lengths_for,
    reach_of,
)
from lookalike.method.kin import LOOSE
from tests.method.dense import closed, lists_of, mutual


def of_groups(people: int, sets: int, width: int) -> np.ndarray:
    """Lists in which the others of a group come first, and after these whoever comes next."""
    total = people * sets
    numbers = np.arange(total)
    own = numbers[:, None] // sets == numbers // sets
    return np.argsort(~own * 1.0 + 9 * np.eye(total), axis=1, kind="stable")[:, :width]


def at_random(total: int, width: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.argsort(rng.random((total, total)) + 9 * np.eye(total), axis=1)[:, :width]


def alike(points: np.ndarray) -> np.ndarray:
    """Similarities of points: minus their distances."""
    found: np.ndarray = -np.linalg.norm(points[:, None] - points, axis=2)
    return found


def test_by_hand() -> None:
    lists = np.array([[1, 2, 3], [0, 2, 4], [0, 1, 4], [0, 1, 4], [0, 1, 2]])
    # 0-1-2 and 1-2-4 are closed; at 0, 1 and 2 three pairs meet, at 4 one, at 3 none. Chance is 3 in 5.
    share = np.array([1 / 3, 2 / 3, 2 / 3, 0, 1])
    np.testing.assert_allclose(closures(lists), (share - 0.6) / 0.4)
    assert closure(lists) == pytest.approx((share.mean() - 0.6) / 0.4)


@pytest.mark.parametrize(("people", "sets"), [(10, 3), (6, 9), (3, 17)])
def test_lists_of_whole_groups_are_closed(people: int, sets: int) -> None:
    np.testing.assert_allclose(closures(of_groups(people, sets, sets - 1)), 1)


@pytest.mark.parametrize("k", [2, 8, 64])
def test_lists_at_random_are_not(k: int) -> None:
    """No more than chance, which is counted for lists that are all mutual: these are not."""
    found = closure(at_random(600, k))
    assert -1.2 * k / 600 < found < 0.01


@pytest.mark.parametrize("k", [4, 8, 16])
def test_of_graphs_at_random_nothing_is_left_beyond_chance(k: int) -> None:
    """Pairs in which both are friends by chance k in n: lists are filled up with those who do not answer."""
    rng = np.random.default_rng(1)
    total, found = 120, []
    for _ in range(30):
        friends = np.triu(rng.random((total, total)) < k / total, 1)
        friends = friends | friends.T
        one = [closed(np.flatnonzero(friends[n]), friends, k) for n in range(total)]
        counts = friends.sum(axis=1)
        found.append(np.average(one, weights=counts * (counts - 1)))
    assert np.mean(found) == pytest.approx(0, abs=0.01)


@settings(deadline=None, max_examples=40)
@given(st.integers(5, 40), st.integers(2, 8), st.integers(0, 10**6))
def test_equal_to_the_definition_in_a_square(total: int, k: int, seed: int) -> None:
    k = min(k, total - 2)
    scores = alike(np.random.default_rng(seed).normal(size=(total, 3)))
    graph = mutual(scores, k)
    expected = [closed(np.flatnonzero(graph[one]), graph, k) for one in range(total)]
    np.testing.assert_allclose(closures(lists_of(scores, k).sets), expected, atol=1e-12)


def test_lists_that_are_too_long_for_groups_are_less_closed() -> None:
    """People with 9 sets: the closure peaks at lists of 8."""
    rng = np.random.default_rng(0)
    points = np.repeat(rng.normal(size=(30, 20)), 9, axis=0) + 0.1 * rng.normal(size=(270, 20))
    lists = lists_of(alike(points), 64).sets
    found = {k: closure(lists[:, :k]) for k in LENGTHS}
    assert max(found, key=lambda k: found[k]) == 8
    assert found[8] == pytest.approx(1)
    assert found[64] < 0.5


def test_lengths_by_hand() -> None:
    assert lengths_for(1000).tolist() == list(LENGTHS)
    # 0.8 of 80 are 64, which is not less.
    assert lengths_for(80).tolist() == [2, 4, 8, 16, 32]
    assert lengths_for(81).tolist() == [2, 4, 8, 16, 32, 64]
    assert lengths_for(20).tolist() == [2, 4, 8]
    # Lists that hold all others but one say nothing of who is near.
    assert lengths_for(4).tolist() == [2]
    assert lengths_for(3).tolist() == []


def test_lists_count_less_the_nearer_they_come_to_everybody() -> None:
    """Lists of 16, 32 and 64 of 80 sets: a fifth counts in full, .4 still does, .8 not at all; .5 of 64."""
    np.testing.assert_allclose(counted(np.array([16, 32, 64]), 80), [1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(counted(np.array([32]), 64), [0.75])


def reach(points: np.ndarray, some: int = 100) -> Reach:
    scores = alike(points)
    chosen = np.linspace(0, len(points) - 1, some).astype(int)
    return reach_of(lists_of(scores, 64).sets, scores[np.ix_(chosen, chosen)])


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_what_varies_without_a_break_reaches_across_the_gallery(noise: float) -> None:
    """Light from every side: points on a circle, all at the same distance from what is opposite."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, 240)
    points = np.column_stack([np.cos(angles), np.sin(angles)]) + noise * rng.normal(size=(240, 2))
    assert reach(points).across > 0.6


def test_people_end_somewhere() -> None:
    rng = np.random.default_rng(0)
    for sets in (4, 12, 24):
        people = rng.normal(size=(240 // sets, 40))
        points = np.repeat(people, sets, axis=0) + 0.5 * rng.normal(size=(240, 40))
        assert reach(points).across < 0.35


def test_few_people_are_lumps_and_many_are_not() -> None:
    """Lists of a sixteenth of the gallery hold a person whole, or many people."""
    rng = np.random.default_rng(0)
    found = []
    for people in (2, 3, 6, 60):
        points = np.repeat(rng.normal(size=(people, 40)), 240 // people, axis=0)
        found.append(reach(points + 0.5 * rng.normal(size=(240, 40))).lumps)
    assert min(found[:3]) > 0.9
    assert found[-1] < LOOSE


def test_reach_by_hand() -> None:
    """Two halves of a gallery: what is closed within either is all there is."""
    square = np.kron(np.eye(2), np.ones((5, 5)))
    lists = lists_of(square, 9).sets
    # Lists of 5 of ten: four of the own half and one of the other, the first. Lists of 2 and 4 are the peak.
    half = closure(lists[:, :5])
    peak = max(closure(lists[:, :2]), closure(lists[:, :4]))
    assert peak == 1
    found = reach_of(lists, square)
    assert found.across == pytest.approx(max(0.0, half))
    # Of shares of ten sets, which are two or more: 2, 2, 2, 2, 3 and 5.
    assert found.lumps == max(closure(lists[:, :k]) for k in (2, 3, 5))


def test_where_short_lists_are_not_closed_long_ones_may_be() -> None:
    """What is closed is compared with the most closed of all lists, of whatever length."""
    square = np.kron(np.eye(2), np.ones((20, 20)))
    found = reach_of(at_random(200, 64), square)
    long = [max(2, int(share * 40)) for share in (1 / 16, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2)]
    each = [closure(lists_of(square, 39).sets[:, :k]) for k in long]
    assert found == pytest.approx((max(0.0, each[-1]) / max(each), max(each)))


def test_where_nothing_is_closed_reach_is_small_and_finite() -> None:
    lists = at_random(200, 64)
    square = np.random.default_rng(3).random((100, 100))
    found = reach_of(lists, square)
    assert 0 <= found.across < 0.5
    assert found.lumps < LEAST
    assert closure(lists[:, :8]) < LEAST


def test_a_square_is_left_as_it_was() -> None:
    square = alike(np.random.default_rng(0).normal(size=(30, 2)))
    kept = square.copy()
    reach_of(lists_of(square, 20).sets, square)
    np.testing.assert_array_equal(square, kept)
