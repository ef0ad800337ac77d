"""Kin: tails by hand, chances, and pooling against sums over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.method import kin as module
from lookalike.method.kin import DOUBT, MOST, Kin, Tail
from lookalike.method.neighbours import Known
from lookalike.method.tables import PartialRow, Row
from tests.method.dense import lists_of, order_of, row_of, spread, square


def test_a_tail_by_hand() -> None:
    # Three values reach 1.0; behind the first, the excess is 2 and 1 on average 1.5.
    tail = Tail.of(np.array([[9.0, 3.0, 2.0, 1.0]]), 1, 3)
    assert (tail.floor[0], tail.scale[0], tail.size, tail.told) == (1.0, 1.5, 3, 2)
    # At the floor three strangers are expected; one scale above it (1 + 1/2)^2 times fewer, since two values
    # told it; two scales above it (1 + 2/2)^2 times; and e times more one scale below it.
    found = tail.log_strangers(np.array([[1.0, 2.5, 4.0, -0.5]]))
    np.testing.assert_allclose(np.exp(found), [[3, 3 / 2.25, 3 / 4, 3 * np.e]])


def test_the_more_values_tell_a_tail_the_nearer_it_is_to_an_exponential() -> None:
    values = np.array([[4.0]])
    known = np.exp(-4.0)
    expected = [
        np.exp(Tail(np.zeros(1), np.ones(1), 1, told).log_strangers(values))[0, 0]
        for told in (1, 5, 35, 10**6)
    ]
    assert sorted(expected, reverse=True) == expected
    assert expected[0] == pytest.approx(1 / 5)
    assert expected[-1] == pytest.approx(known, rel=1e-4)


def test_a_tail_expects_as_many_as_there_are() -> None:
    """Of many draws from one exponential, those beyond a multiple of what a few others told as their mean."""
    rng = np.random.default_rng(0)
    draws = rng.exponential(size=(100_000, 6))
    best = np.column_stack([-np.sort(-draws[:, :5], axis=1), np.zeros(len(draws))])
    tail = Tail.of(best, 0, 5)
    expected = np.exp(tail.log_strangers(3 * tail.scale[:, None])) / 5
    np.testing.assert_allclose(expected, (1 + 3 / 5) ** -5)
    assert np.mean(draws[:, 5] > 3 * tail.scale) == pytest.approx(expected[0, 0], rel=0.03)


def kin_of(scores: np.ndarray, width: int | None = None) -> Kin:
    known = Known.of(lists_of(scores, width or len(scores) - 1), np.arange(len(scores)), scores)
    return Kin.of(known, known.scores())


def test_chances_by_hand() -> None:
    scores = square(60, 2)
    kin = kin_of(scores)
    order = order_of(scores)
    assert (kin.tail.size, kin.head) == (30, 5)  # no more than half of the others
    best = np.take_along_axis(scores, order, axis=1)
    np.testing.assert_array_equal(kin.sets, order[:, :5])
    floor, scale = best[:, 30], best[:, 5:30].mean(axis=1) - best[:, 30]
    a, b = 7, int(order[7, 0])
    strangers = [30 * (1 + (scores[a, b] - floor[x]) / scale[x] / 25) ** -25 for x in (a, b)]
    assert kin.chances[7, 0] == pytest.approx(1 / (1 + DOUBT * np.sqrt(np.prod(strangers))))


def naive_pool(kin: Kin, values: np.ndarray, query: int | None) -> np.ndarray:
    """Sum over all pairs of somebody with the query's name and somebody with the target's."""
    whole = spread(kin.known, kin.values)
    near, chances = kin.of_row(Row(values, np.empty(0), np.empty(0), query))
    ours = {-1: 1.0, **dict(zip(near.tolist(), chances.tolist(), strict=True))}
    found = np.zeros(len(values))
    for target in range(len(values)):
        theirs = {target: 1.0, **dict(zip(kin.sets[target].tolist(), kin.chances[target], strict=True))}
        top = bottom = 0.0
        for r, weight in ours.items():
            for p, other in theirs.items():
                if r == target or p == query:
                    continue
                value = values[p] if r == -1 else whole[r, p]
                top += weight * other * value
                bottom += weight * other
        found[target] = top / bottom if bottom else 0.0
    return found


@pytest.mark.parametrize("width", [20, None])
def test_pooling_against_all_pairs(width: int | None) -> None:
    scores = square(61, 6)
    inside = scores[:60, :60]
    kin = kin_of(inside, width)
    outside = Row(scores[60, :60], np.empty(0), np.empty(0), None)
    np.testing.assert_allclose(kin.pool(outside), naive_pool(kin, outside.scores, None))
    for query in (0, 31):
        found, expected = kin.pool(row_of(inside, query)), naive_pool(kin, inside[query], query)
        np.testing.assert_allclose(np.delete(found, query), np.delete(expected, query))


def test_known_pairs_are_pooled_as_rows_are_where_all_pairs_are_known() -> None:
    scores = square(60, 6)
    kin = kin_of(scores)
    pooled = spread(kin.known, kin.pooled())
    for query in range(60):
        expected = kin.pool(row_of(scores, query))
        np.testing.assert_allclose(np.delete(pooled[query], query), np.delete(expected, query))


def test_known_pairs_are_pooled_with_known_pairs_only() -> None:
    """What a query from the gallery has with kin of a target is 0 unless it is known."""
    scores = square(60, 6)
    kin = kin_of(scores, 16)
    is_known = spread(kin.known, np.ones(len(kin.values))) > 0
    pooled, whole = spread(kin.known, kin.pooled()), spread(kin.known, kin.values)
    differs = 0
    for query in (0, 31):
        near, chances = kin.of_row(row_of(scores, query))
        np.testing.assert_array_equal(near, kin.sets[query])
        np.testing.assert_allclose(chances, kin.chances[query])
        expected = naive_pool(kin, whole[query], query)
        targets = np.flatnonzero(is_known[query] & (np.arange(60) != query))
        assert len(targets) < 59
        np.testing.assert_allclose(pooled[query, targets], expected[targets])
        differs += not np.allclose(pooled[query, targets], kin.pool(row_of(scores, query))[targets])
    assert differs


def test_pooling_does_not_depend_on_threads_and_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    kin = kin_of(square(300, 1), 20)
    found = []
    for threads, block in (("1", 256), ("3", 256), ("3", 7)):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        monkeypatch.setattr(module, "BLOCK", block)
        found.append(kin.pooled().tobytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("total", "size", "head"),
    [
        (300, 40, 5),
        (60, 30, 5),
        (30, 15, 5),
        (20, 10, 5),
        (16, 8, 4),
    ],  # half of the others, a quarter, 3 of 4
)
def test_small_galleries_have_short_tails(total: int, size: int, head: int) -> None:
    kin = kin_of(square(total, 1))
    assert (kin.tail.size, kin.head, kin.sets.shape[1]) == (size, head, MOST)
    assert np.isfinite(kin.pooled()).all()


def test_where_lists_are_short_tails_are() -> None:
    """Of 12 neighbours of each the last is the floor of the tail."""
    kin = kin_of(square(120, 1), 12)
    assert (kin.tail.size, kin.head) == (11, 5)


def test_some_sets_are_pooled_as_among_all() -> None:
    scores = square(120, 6)
    kin = kin_of(scores, 20)
    for query in (0, 31):
        row = row_of(scores, query)
        near = order_of(scores)[query, : kin.tail.size + 1]  # from which the query's own kin are told
        targets = np.setdiff1d(np.union1d(near, np.arange(0, 120, 7)), [query])
        sets = kin.with_kin(targets)
        some = kin.pool(PartialRow(sets, scores[query, sets], query), targets)
        np.testing.assert_array_equal(some, kin.pool(row)[targets])


def test_a_query_is_no_kin_of_its_own_however_few_sets_there_are() -> None:
    scores = square(60, 2)
    kin = kin_of(scores)
    for count in (4, 10, 60):
        sets = np.arange(count)
        [near, chances] = kin.of_row(PartialRow(sets, scores[3, sets], 3))
        [expected, same] = kin.of_row(PartialRow(np.delete(sets, 3), np.delete(scores[3, sets], 3), 3))
        np.testing.assert_array_equal(near, expected)
        np.testing.assert_array_equal(chances, same)
        assert 3 not in near


def test_without_kin_nothing_is_pooled() -> None:
    scores = square(60, 2)
    kin = kin_of(scores)
    alone = kin._replace(chances=np.zeros_like(kin.chances), tail=kin.tail._replace(floor=np.full(60, 1e9)))
    np.testing.assert_allclose(alone.pool(row_of(scores, 3)), scores[3])
    np.testing.assert_allclose(alone.pooled(), kin.values)


def test_kin_stand_out_where_people_repeat_and_nobody_does_where_nobody_repeats() -> None:
    rng = np.random.default_rng(1)

    def chances(sets: int) -> np.ndarray:
        vectors = rng.normal(size=(240 // sets, 80))[np.arange(240) // sets]
        vectors += 0.3 * rng.normal(size=vectors.shape)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return kin_of(vectors @ vectors.T, 64).chances

    assert np.median(chances(3)[:, 1]) > 0.9
    assert np.median(chances(3)[:, 2]) < 0.1
    assert (chances(1) > 0.5).mean() < 0.02


def test_copies_of_one_set_do_no_harm() -> None:
    scores = np.ones((60, 60))
    kin = kin_of(scores)
    assert np.isfinite(kin.chances).all()
    assert np.isfinite(kin.pool(row_of(scores, 0))).all()
    assert np.isfinite(kin.pooled()).all()
