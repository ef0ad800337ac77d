"""Vectors of lists: worked by hand, against loops that follow the definition, and block by block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.neighbours import (
    ABSENT,
    places_in_return,
    shared_of,
    shares_of_query,
    vector_of_query,
    vectors_of,
)

# Who lists whom, nearest first.
LISTS = np.array([[1, 2], [0, 3], [3, 0], [2, 1]])
# 0 is first with 1 and second with 2, and so on; nobody lists in vain but 0 its 2 at length 1.
BACK = np.array([[0, 1], [0, 1], [0, 1], [0, 1]], dtype=np.uint8)


def drawn_lists(total: int, width: int, seed: int) -> np.ndarray:
    order = np.random.default_rng(seed).random((total, total))
    np.fill_diagonal(order, 2)
    return np.argsort(order, axis=1)[:, :width]


def back_of(lists: np.ndarray) -> np.ndarray:
    found = np.zeros(lists.shape, np.uint8)
    places_in_return(lists, 0, len(lists), found)
    return found


def vectors(
    lists: np.ndarray, trusts: np.ndarray, lengths: list[int], most: int = 200, cut: int = 0
) -> tuple:
    """Columns, weights and counts; made in two blocks if there is a cut."""
    total = len(lists)
    found = (
        np.full((total, most), -1, np.int32),
        np.zeros((total, most), np.float32),
        np.zeros(total, np.int64),
    )
    for first, last in ((0, cut), (cut, total)):
        vectors_of(lists, back_of(lists), trusts, np.array(lengths), first, last, *found)
    return found


def code(lists: np.ndarray, one: int, k: int) -> np.ndarray:
    """Uniform on a set and those of its first k that have it among their first k."""
    friends = {one, *(other for other in lists[one, :k].tolist() if one in lists[other, :k])}
    found = np.zeros(len(lists))
    found[list(friends)] = 1 / len(friends)
    return found


def slow_vector(lists: np.ndarray, one: int, trusts: np.ndarray, lengths: list[int]) -> np.ndarray:
    found = np.zeros(len(lists))
    for trust, k in zip(trusts, lengths, strict=True):
        around = [one, *lists[one, : max(0, k // 2 - 1)].tolist()]
        found += trust * np.mean([code(lists, each, k) for each in around], axis=0)
    return found / found.sum()


def dense(columns: np.ndarray, weights: np.ndarray, counts: np.ndarray) -> np.ndarray:
    found = np.zeros((len(counts), len(counts)))
    for row, count in enumerate(counts):
        found[row, columns[row, :count]] = weights[row, :count]
    return found


def test_places_by_hand() -> None:
    np.testing.assert_array_equal(back_of(LISTS), BACK)
    # 1 is nobody's neighbour.
    lists = np.array([[2, 3], [0, 2], [3, 0], [0, 2]])
    assert back_of(lists).tolist() == [[1, 0], [ABSENT, ABSENT], [1, 0], [1, 0]]


def test_places_are_written_for_some_sets_only() -> None:
    found = np.full(LISTS.shape, 7, np.uint8)
    places_in_return(LISTS, 1, 3, found)
    assert found.tolist() == [[7, 7], [0, 1], [0, 1], [7, 7]]


def test_a_vector_by_hand() -> None:
    """At length 1 who is first with each other; at 2 all three: (3/4)(1/2, 1/2, 0, 0) + (1/4)(1/3, ...)."""
    found = dense(*vectors(LISTS, np.tile([3.0, 1.0], (4, 1)), [1, 2]))
    one, both = 3 / 8 + 1 / 12, 1 / 12
    expected = [[one, one, both, 0], [one, one, 0, both], [both, 0, one, one], [0, both, one, one]]
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_lists_of_the_nearest_are_averaged() -> None:
    """Lists of 4 are averaged over a set and its nearest: two groups of 3, and two who list them in vain."""
    lists = np.array([[1, 2, 6, 7], [0, 2, 6, 7], [0, 1, 6, 7], [4, 5, 6, 7], [3, 5, 6, 7], [3, 4, 6, 7]])
    lists = np.concatenate([lists, [[7, 0, 3, 4], [6, 1, 2, 5]]])
    found = dense(*vectors(lists, np.ones((8, 1)), [4]))
    # 0 has 1, 2 and 6 for good, its nearest is 1, which has 0, 2 and 7.
    np.testing.assert_allclose(found[0], np.array([2, 2, 2, 0, 0, 0, 1, 1]) / 8)
    # 6 has 7, 0, 3, 4; its nearest is 7, which has 6, 1, 2, 5.
    np.testing.assert_allclose(found[6], np.array([1, 1, 1, 1, 1, 1, 2, 2]) / 10)


@settings(deadline=None, max_examples=60)  # the first call compiles
@given(st.integers(10, 30), st.integers(0, 10**6), st.sampled_from([[2], [2, 4], [2, 4, 8], [3, 7]]))
def test_vectors_are_those_of_the_definition(total: int, seed: int, lengths: list[int]) -> None:
    lists = drawn_lists(total, lengths[-1], seed)
    trusts = np.random.default_rng(seed).uniform(1e-6, 1, (total, len(lengths)))
    columns, weights, counts = vectors(lists, trusts, lengths)
    found = dense(columns, weights, counts)
    expected = np.stack([slow_vector(lists, one, trusts[one], lengths) for one in range(total)])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(found > 0, expected > 0)
    for row, count in enumerate(counts):
        assert (np.diff(columns[row, :count]) > 0).all()


@pytest.mark.parametrize("cut", [1, 17, 49])
def test_blocks_do_not_show(cut: int) -> None:
    lists, trusts = drawn_lists(50, 16, 3), np.random.default_rng(3).random((50, 4))
    for whole, parts in zip(
        vectors(lists, trusts, [2, 4, 8, 16]), vectors(lists, trusts, [2, 4, 8, 16], cut=cut), strict=True
    ):
        np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize("most", [1, 5, 128])
def test_the_largest_entries_are_kept_and_sum_to_1(most: int) -> None:
    """Three hundred sets that all list each other's neighbourhoods: far more than 128 are named."""
    rng = np.random.default_rng(0)
    places = rng.random(300)
    lists = np.argsort(np.abs(places[:, None] - places) + 2 * np.eye(300), axis=1)[:, :200]
    trusts = np.ones((300, 2))
    columns, weights, counts = vectors(lists, trusts, [150, 200], most)
    assert (counts == most).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    for one in (0, 150, 299):
        whole = slow_vector(lists, one, trusts[one], [150, 200])
        largest = np.sort(np.argsort(-np.round(whole, 12), kind="stable")[:most])
        np.testing.assert_array_equal(columns[one], largest)
        np.testing.assert_allclose(weights[one], whole[largest] / whole[largest].sum(), rtol=1e-5)


def test_of_equal_entries_the_lower_numbers_are_kept() -> None:
    """Everybody lists everybody: all entries are equal."""
    lists = np.array([[other for other in range(9) if other != one] for one in range(9)])
    columns, weights, counts = vectors(lists, np.ones((9, 1)), [8], most=4)
    assert columns.tolist() == [[0, 1, 2, 3]] * 9
    assert (weights == 0.25).all()
    assert (counts == 4).all()


# A query from outside.


def asked(
    lists: np.ndarray, floors: np.ndarray, closures: np.ndarray, lengths: list[int], row: np.ndarray
) -> tuple:
    """What the query's vector has for itself and for others, and how far each length is trusted."""
    near = np.argsort(-row, kind="stable")[: lengths[-1]]
    sums, trusts = np.zeros(len(lists)), np.zeros(len(lengths))
    smooth = min(8, len(near))
    own = vector_of_query(
        lists,
        back_of(lists),
        floors,
        closures,
        np.array(lengths),
        np.ones(len(lengths)),
        smooth,
        1e-6,
        near,
        row[near],
        sums,
        trusts,
    )
    return own, sums, trusts


def test_a_query_by_hand() -> None:
    """Near to 0, 1 and 2 of four; only 0 and 1 would take it into lists of two."""
    lists, row = LISTS, np.array([0.9, 0.8, 0.1, 0.0])
    own, sums, trusts = asked(lists, np.full((4, 1), 0.5), np.full((4, 1), 0.25), [2], row)
    # 0 and 1 are in each other's lists, so all is closed: 1. With a quarter each of 0 and 1 it is 1.5 / 3.
    assert trusts.tolist() == [0.5]
    assert own == pytest.approx(0.5 / 3)
    np.testing.assert_allclose(sums, [0.5 / 3, 0.5 / 3, 0, 0])


def test_the_nearest_of_a_query_speak_too() -> None:
    """Lists of 4: the query's first speaks as well, and has the query among its own."""
    lists = np.array([[other for other in range(5) if other != one] for one in range(5)])
    row = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    floors = np.array([[0.1], [2.0], [2.0], [2.0], [2.0]])
    own, sums, trusts = asked(lists, floors, np.ones((5, 1)), [4], row)
    # One friend makes no pair: (0 - 4/5) / (1/5) = -4, with four of 1 it is 0, at least the least.
    assert trusts.tolist() == [1e-6]
    # Half of it from itself and 0, half from 0, its four friends and the query.
    assert own == pytest.approx(1e-6 / 2 * (1 / 2 + 1 / 6))
    np.testing.assert_allclose(sums, 1e-6 / 2 * np.array([1 / 2 + 1 / 6, *[1 / 6] * 4]))
    found = np.zeros(5)
    shares_of_query(
        lists,
        back_of(lists),
        np.ones((5, 1)),
        np.array([4]),
        np.arange(4),
        row[:4],
        floors,
        np.arange(5),
        found,
    )
    # 0 would have the query as one of six; it speaks for itself, and for the other four, whose nearest it is.
    np.testing.assert_allclose(found, [(1 / 6) / 2] + [(1 / 6) / 2] * 4)


def slow_query(
    lists: np.ndarray, floors: np.ndarray, closures: np.ndarray, lengths: list[int], row: np.ndarray
) -> tuple:
    """Sets of names instead of places: the query's vector, with its own column last, and trusts."""
    total, order = len(lists), np.argsort(-row, kind="stable").tolist()
    trusts, found = [], np.zeros(total + 1)
    for at, k in enumerate(lengths):
        friends = {
            one: {other for other in lists[one, :k].tolist() if one in lists[other, :k]}
            for one in range(total)
        }
        own = {one for one in order[:k] if row[one] > floors[one, at]}
        closed = sum(other in friends[one] for one in own for other in own)
        alone = (closed / max(len(own) * (len(own) - 1), 1) - k / total) / (1 - k / total)
        smooth = order[: min(8, lengths[-1])]
        trusts.append(max(1e-6, (alone + closures[smooth, at].sum()) / (1 + len(smooth))))
        codes = [own | {total}]
        for one in order[: max(0, k // 2 - 1)]:
            codes.append(friends[one] | {one} | ({total} if one in own else set()))
        for each in codes:
            found[list(each)] += trusts[-1] / len(codes) / len(each)
    return found, np.array(trusts)


def slow_shares(
    lists: np.ndarray, floors: np.ndarray, trusts: np.ndarray, lengths: list[int], row: np.ndarray
) -> np.ndarray:
    """What every set's vector would have of the query."""
    order, found = np.argsort(-row, kind="stable"), np.zeros(len(lists))
    for at, k in enumerate(lengths):
        for one in range(len(lists)):
            around = [one, *lists[one, : max(0, k // 2 - 1)].tolist()]
            for each in around:
                if each in order[:k] and row[each] > floors[each, at]:
                    size = 2 + sum(each in lists[other, :k] for other in lists[each, :k])
                    found[one] += trusts[one, at] / trusts[one].sum() / size / len(around)
    return found


@settings(deadline=None, max_examples=60)
@given(st.integers(10, 30), st.integers(0, 10**6), st.sampled_from([[2], [2, 4], [2, 4, 8]]))
def test_a_query_is_as_the_definition_says(total: int, seed: int, lengths: list[int]) -> None:
    rng = np.random.default_rng(seed)
    lists, row = drawn_lists(total, lengths[-1], seed), rng.random(total)
    floors, closures = rng.random((total, len(lengths))), rng.uniform(-0.3, 1, (total, len(lengths)))
    own, sums, trusts = asked(lists, floors, closures, lengths, row)
    expected, same = slow_query(lists, floors, closures, lengths, row)
    np.testing.assert_allclose(trusts, same, rtol=1e-9)
    np.testing.assert_allclose(np.append(sums, own), expected, rtol=1e-9, atol=1e-15)
    assert own + sums.sum() == pytest.approx(trusts.sum())
    # Some sets only, added to what is there.
    some, near = np.flatnonzero(rng.random(total) < 0.5), np.argsort(-row, kind="stable")[: lengths[-1]]
    smoothed, found = rng.uniform(1e-6, 1, closures.shape), np.ones(total)
    shares_of_query(lists, back_of(lists), smoothed, np.array(lengths), near, row[near], floors, some, found)
    theirs = slow_shares(lists, floors, smoothed, lengths, row)
    np.testing.assert_allclose(found[some], 1 + theirs[some])
    assert (np.delete(found, some) == 1).all()


def test_what_equals_a_floor_does_not_enter() -> None:
    """Who is as near as the last of a list stays behind it."""
    floors, row = np.full((4, 1), 0.5), np.array([0.5, 0.5, 0.5, 0.5])
    own, sums, trusts = asked(LISTS, floors, np.ones((4, 1)), [2], row)
    assert own == trusts[0]
    assert not sums.any()


# The lesser of two entries.


def test_shared_by_hand() -> None:
    """Rows (.5, .5, 0) and (0, .25, .75), column by column; the second is divided by two."""
    starts, rows = np.array([0, 1, 3, 4]), np.array([0, 0, 1, 1], np.int32)
    weights = np.array([0.5, 0.5, 0.25, 0.75], np.float32)
    found = np.array([0.0, 1.0])
    shared_of(starts, rows, weights, np.array([1, 2]), np.array([0.4, 0.2]), np.array([1.0, 2.0]), found)
    np.testing.assert_allclose(found, [0.4, 1 + 0.125 + 0.2])


@settings(deadline=None)  # the first call compiles
@given(st.integers(2, 40), st.integers(0, 10**6))
def test_shared_has_the_same_bits_without_machine_code(total: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    named = [np.flatnonzero(rng.random(total) < 0.4).astype(np.int32) for _ in range(total)]
    starts, rows = np.cumsum([0, *map(len, named)]), np.concatenate(named)
    weights, columns = rng.random(len(rows)).astype(np.float32), np.flatnonzero(rng.random(total) < 0.5)
    given = starts, rows, weights, columns, rng.random(len(columns)), 1 + rng.random(total)
    fast = rng.random(total)
    slow = fast.copy()
    shared_of(*given, fast)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lookalike.kernels.neighbours.is_worthwhile", lambda products: False)
        shared_of(*given, slow)
    np.testing.assert_array_equal(slow, fast)
