"""Proxies: neighbours against a brute force, and kept up to date bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import registry
from lookalike.kernels.rounded import LEFT, RIGHT
from lookalike.method import proxies as module
from lookalike.method import tables
from lookalike.method.proxies import (
    WITH_MODES,
    find_neighbours,
    grow_neighbours,
    proxy_slots,
    update_neighbours,
)
from lookalike.method.tables import Neighbours
from lookalike.progress import Item, Track
from lookalike.similarities.contract import PreparedSets, SetSimilarity
from lookalike.similarities.max_max import MaxMax
from tests.method.samples import A, B, C, prepared_sets, random_sets, tables_of

NAMES = [*registry.names("similarities"), "max_max:half=true"]
POOL = 14


@cache
def world(name: str) -> tuple[SetSimilarity, tuple]:
    """Sets to choose from; some are there twice or three times, so that scores tie."""
    part = registry.build("similarities", name)
    sets = random_sets(POOL, seed=7)
    for copy, original in ((3, 0), (8, 1), (9, 1), (13, 12)):
        sets[copy] = sets[original]
    return part, tuple(part.prepare(faces) for faces in sets)


def brute_force(part: SetSimilarity, sets: PreparedSets, count: int) -> Neighbours:
    """Every pair once, the lower number first; sorted by score, then number."""
    total = len(sets)
    found: list[list[tuple]] = [[] for _ in range(total)]
    for i in range(total):
        for j in range(i + 1, total):
            score, mode_i, mode_j = part.match(sets[i], sets[j])
            found[i].append((-score, j, mode_i, mode_j))
            found[j].append((-score, i, mode_j, mode_i))
    nearest = [sorted(row, key=lambda entry: entry[:2])[:count] for row in found]
    return Neighbours(
        np.array([[entry[1] for entry in row] for row in nearest]),
        np.array([[-entry[0] for entry in row] for row in nearest]),
        np.array([[entry[2] for entry in row[:WITH_MODES]] for row in nearest]),
        np.array([[entry[3] for entry in row[:WITH_MODES]] for row in nearest]),
    )


def check_same(found: Neighbours, expected: Neighbours) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, 4, 13, 50])
def test_neighbours_equal_a_brute_force(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    part, prepared = world(name)
    sets = PreparedSets.join(prepared)
    expected = brute_force(part, sets, count)
    for block in (2048, 25):
        monkeypatch.setattr(tables, "BLOCK_ROWS", block)
        found = find_neighbours(part, sets, count)
        check_same(found, expected)
        assert found.sets.dtype == np.int64
        assert found.own_modes.dtype == found.their_modes.dtype == part.mode_type


@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    part, prepared = world(name)
    monkeypatch.setattr(tables, "BLOCK_ROWS", 30)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        found.append(find_neighbours(part, PreparedSets.join(prepared), 5))
    check_same(*found)


@pytest.mark.parametrize("name", NAMES)
def test_lists_may_be_taken_up_wherever_they_were_interrupted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, prepared = world(name)
    sets = PreparedSets.join(prepared)
    # Several runs, also where a part says that a set is one row, as it does unless it says otherwise.
    monkeypatch.setattr(tables, "BLOCK_ROWS", 25 if part.sizes(sets).max() > 1 else 5)
    expected = find_neighbours(part, sets, 5)

    def first(steps: int) -> Track:
        def shown(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
            yield from islice(items, steps)

        return shown

    amidst = 0
    for steps in range(1, 12):
        # Of the run that was under way some pairs are in the lists; it is compared again from its start.
        yielded = [
            (done, near, near.sets.copy())
            for done, near in grow_neighbours(part, sets, 5, track=first(steps))
        ]
        if yielded:
            done, near, kept = yielded[-1]
            amidst += not np.array_equal(kept, near.sets)
            *_, (_, found) = [(done, near), *grow_neighbours(part, sets, 5, near, done)]
            check_same(found, expected)
    assert amidst


def test_neighbours_by_hand() -> None:
    # sim(A,B) = 0.8, sim(A,C) = 0.28, sim(B,C) = 0.96
    near = tables_of([A, B, C]).neighbours
    assert near.sets.tolist() == [[1, 2], [2, 0], [1, 0]]
    np.testing.assert_allclose(near.scores, [[0.8, 0.28], [0.96, 0.8], [0.96, 0.28]], atol=1e-6)
    assert near.own_modes.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert near.their_modes.tolist() == [[0, 1], [0, 0], [1, 0]]


@pytest.mark.parametrize("total", [1, 2])
def test_tiny_galleries(total: int) -> None:
    near = tables_of([A, B][:total]).neighbours
    assert near.sets.tolist() == [[1 - place] * (total - 1) for place in range(total)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.5, 2.0])  # as it is, and never made again from nothing
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_updated_neighbours_equal_fresh_ones(name: str, share: float, data: st.DataObject) -> None:
    part, prepared = world(name)
    count = data.draw(st.integers(1, 6), label="count")
    some = st.sets(st.integers(0, POOL - 1), min_size=1)
    now = sorted(data.draw(some, label="at first"))
    near = find_neighbours(part, PreparedSets.join([prepared[i] for i in now]), count)
    with mock.patch.object(module, "REBUILD_SHARE", share):
        for _ in range(3):
            before, now = now, sorted(data.draw(some, label="then"))
            # A set may also change under its name: it is removed and added in one go.
            changed = data.draw(st.sets(st.sampled_from(now)) if now else st.just(set()), label="changed")
            places = np.array(
                [now.index(i) if i in now and i not in changed else -1 for i in before], dtype=np.int64
            )
            sets = PreparedSets.join([prepared[i] for i in now])
            near = update_neighbours(part, sets, near, places, count)
            check_same(near, find_neighbours(part, sets, count))


def test_only_what_is_new_is_compared() -> None:
    part = registry.build("similarities", "max_max")
    sets = prepared_sets(part, random_sets(40, seed=5))
    old = find_neighbours(part, sets[0:39], 5)
    compared = 0
    original = type(part).match_many

    def counted(self: SetSimilarity, a: PreparedSets, b: PreparedSets) -> object:
        nonlocal compared
        compared += len(a) * len(b)
        return original(self, a, b)

    with mock.patch.object(type(part), "match_many", counted):
        found = update_neighbours(part, sets, old, np.arange(39), 5)
    assert compared == 39  # the new set with each of the others
    check_same(found, find_neighbours(part, sets, 5))


@given(st.integers(1, 12), st.integers(1, 10), st.integers(1, 11), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_the_query_is_never_its_own_witness(total: int, proxies: int, kept: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    near = np.array(
        [rng.permutation(np.delete(np.arange(total), row))[:kept] for row in range(total)], dtype=np.int64
    ).reshape(total, -1)
    lists = Neighbours(near, near * 0.0, near, near)
    outside = proxy_slots(lists, proxies, None)
    np.testing.assert_array_equal(outside, np.tile(np.arange(min(proxies, near.shape[1])), (total, 1)))
    for member in range(total):
        slots = proxy_slots(lists, proxies, member)
        assert slots.shape == (total, max(0, min(proxies, near.shape[1] - 1)))
        for target in range(total):
            # The nearest neighbours in order, the query passed over.
            expected = [number for number in near[target] if number != member][: slots.shape[1]]
            assert near[target, slots[target]].tolist() == expected


def drawn(count: int, seed: int = 0, half: bool = False) -> tuple[MaxMax, PreparedSets]:
    """Sets of one to five faces, of people who have four each."""
    rng = np.random.default_rng(seed)
    people = np.repeat(rng.normal(size=(-(-count // 4), 16)), 4, axis=0)[:count]
    sizes = rng.integers(1, 6, count)
    similarity = MaxMax(half=half)
    faces = (one + 0.3 * rng.normal(size=(size, 16)) for one, size in zip(people, sizes, strict=True))
    return similarity, PreparedSets.join([similarity.prepare(one) for one in faces])


def same_lists(found: Neighbours, expected: Neighbours) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("half", [False, True])
def test_neighbours_by_means_are_those_of_all_pairs_where_all_are_compared(
    half: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    similarity, sets = drawn(90, half=half)
    expected = find_neighbours(similarity, sets, 7)
    monkeypatch.setattr(module, "MANY", 90)
    monkeypatch.setattr(module, "WIDER", 90)
    for run in (256, 16, 5):
        monkeypatch.setattr(module, "MEANS_RUN", run)
        same_lists(find_neighbours(similarity, sets, 7), expected)


def test_neighbours_by_means_have_all_kin_and_true_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    similarity, sets = drawn(400)
    expected = find_neighbours(similarity, sets, 8)
    monkeypatch.setattr(module, "MANY", 400)
    monkeypatch.setattr(module, "WIDER", 3)
    assert module.is_by_means(similarity, 400)
    found = find_neighbours(similarity, sets, 8)
    kin = np.arange(400)[:, None] // 4
    theirs = (found.sets // 4 == kin).sum()
    assert theirs >= 0.999 * (expected.sets // 4 == kin).sum()
    assert np.mean([np.isin(a, b).mean() for a, b in zip(expected.sets, found.sets, strict=True)]) > 0.8
    rows, columns = np.divmod(np.arange(400 * 8), 8)
    for row, column in list(zip(rows, columns, strict=True))[::97]:
        low, high = sorted([row, found.sets[row, column]])
        assert found.scores[row, column] == similarity.match(sets[low], sets[high]).score


def test_all_pairs_are_compared_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    similarity, sets = drawn(60)
    expected = find_neighbours(similarity, sets, 5)
    monkeypatch.setattr(module, "MANY", 60)
    monkeypatch.setattr(module, "WIDER", 1)
    assert not module.is_by_means(MaxMax(exact=True), 60)
    same_lists(find_neighbours(MaxMax(exact=True), sets, 5), expected)


def test_neighbours_by_means_go_on_where_they_were_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    similarity, sets = drawn(120)
    monkeypatch.setattr(module, "MANY", 60)
    monkeypatch.setattr(module, "MEANS_RUN", 25)
    expected = find_neighbours(similarity, sets, 5)
    steps = grow_neighbours(similarity, sets, 5)
    next(steps)
    done, near = next(steps)
    assert done == 2
    *_, (last, found) = grow_neighbours(similarity, sets, 5, Neighbours(*map(np.copy, near)), done)
    assert last == 5
    same_lists(found, expected)


@pytest.mark.parametrize("part", ["max_max", "max_max:half=true", "manifold"])
def test_rounded_faces_leave_out_no_neighbour(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    similarity = registry.build("similarities", part)
    rng = np.random.default_rng(3)
    # Near copies, whose order rounding would change, far sets, and one that is there twice.
    near = rng.normal(size=(1, 12)) + 1e-3 * rng.normal(size=(60, 12))
    faces = [one + 1e-4 * rng.normal(size=(rng.integers(2, 5), 12)) for one in near]
    faces += [rng.normal(size=(rng.integers(2, 5), 12)) for _ in range(60)]
    faces.append(faces[0])
    sets = PreparedSets.join([similarity.prepare(one) for one in faces])
    expected = find_neighbours(similarity, sets, 7)
    monkeypatch.setattr(module, "SCREENED", 1)
    monkeypatch.setattr(tables, "BLOCK_ROWS", 40)
    assert module.is_screened(similarity, 1), "this test needs onnxruntime"
    for largest in (LEFT, RIGHT):
        monkeypatch.setattr(module, "largest_left", lambda largest=largest: largest)
        same_lists(find_neighbours(similarity, sets, 7), expected)


def test_a_part_that_makes_no_use_of_rounded_faces_is_not_screened(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(MaxMax):
        match_rounded = SetSimilarity.match_rounded

    assert module.is_screened(MaxMax(), module.SCREENED)
    assert not module.is_screened(Plain(), module.SCREENED)


def test_no_pairs_are_compared_one_by_one() -> None:
    similarity, sets = drawn(3)
    nobody = np.empty(0, dtype=np.int64)
    for one in SetSimilarity.match_pairs(similarity, sets, nobody, nobody, np.empty(0)):
        assert len(one) == 0


@pytest.mark.parametrize("runs", [2, 6, 20])
def test_screening_goes_on_where_it_was_interrupted(runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    similarity, sets = drawn(150)
    expected = find_neighbours(similarity, sets, 5)
    monkeypatch.setattr(module, "SCREENED", 1)
    monkeypatch.setattr(module, "MEANS_RUN", 30)
    monkeypatch.setattr(tables, "BLOCK_ROWS", 40)
    sets.blocks = None
    *_, (done, near) = islice(grow_neighbours(similarity, sets, 5), runs)
    assert done == runs
    *_, (_, found) = grow_neighbours(similarity, sets, 5, Neighbours(*map(np.copy, near)), done)
    same_lists(found, expected)


def test_pairs_compared_together_are_those_compared_alone() -> None:
    similarity, sets = drawn(30)
    low, high = np.array([0, 0, 3, 7]), np.array([1, 2, 20, 8])
    found = similarity.match_pairs(sets, low, high, np.full(4, -np.inf))
    alone = SetSimilarity.match_pairs(similarity, sets, low, high, np.full(4, -np.inf))
    for one, other in zip(found, alone, strict=True):
        np.testing.assert_array_equal(one, other)
    # A pair that stays below its floor is left out.
    floors = found.scores + np.array([0, 1e-3, 0, 1e-3])
    assert similarity.match_pairs(sets, low, high, floors).sets_b.tolist() == [1, 20]
