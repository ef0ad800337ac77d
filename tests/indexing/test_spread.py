"""Sets that are cut into slices: the same bits as in one place."""

from __future__ import annotations

import tracemalloc
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import registry
from lookalike.engines.local import Local
from lookalike.indexing.slices import Slice, SpreadSets
from lookalike.method import proxies, tables
from lookalike.method.metafeatures import metafeatures
from lookalike.method.neighbours import lists_bytes, pairs_bytes
from lookalike.method.tables import Tables
from lookalike.similarities.contract import PreparedSets, SetSimilarity
from tests.method.samples import prepared_sets, random_sets, row_of, tables_of

NAMES = registry.names("similarities")


def spread(similarity: SetSimilarity, sets: PreparedSets, owners: np.ndarray) -> SpreadSets:
    """The same sets, each in the slice that owns it; slices without sets are left out."""
    places = [np.flatnonzero(owners == owner) for owner in np.unique(owners)]
    given = [(similarity, PreparedSets.join(sets[int(number)] for number in own)) for own in places]
    return SpreadSets(Local().hold(Slice, given), places, sets, similarity)


def spread_tables(whole: Tables, slices: int) -> Tables:
    owners = np.random.default_rng(slices).integers(0, slices, len(whole))
    assert isinstance(whole.sets, PreparedSets)
    held = spread(whole.similarity, whole.sets, owners)
    return Tables(whole.ids, whole.dimension, whole.similarity, held, whole.neighbours)


def same(some: tuple[np.ndarray, ...], others: tuple[np.ndarray, ...]) -> bool:
    return all(
        (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
        for one, other in zip(some, others, strict=True)
    )


@pytest.mark.parametrize("slices", [1, 2, 3, 7])
@pytest.mark.parametrize("name", NAMES)
def test_neighbours_are_those_of_one_place(name: str, slices: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ROWS", 16)  # so that there are several runs
    part = registry.build("similarities", name)
    faces = random_sets(40, smallest=2)
    faces[7] = faces[31] = faces[12]  # ties
    sets = prepared_sets(part, faces)
    held = spread(part, sets, np.random.default_rng(slices).integers(0, slices, len(sets)))
    assert same(proxies.find_neighbours(part, sets, 12), proxies.find_neighbours(part, held, 12))


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_updated_neighbours_are_fresh_ones(data: st.DataObject) -> None:
    part = registry.build("similarities", "max_max")
    count = 20
    faces = random_sets(count + 5)
    is_old = np.array(data.draw(st.lists(st.booleans(), min_size=count + 5, max_size=count + 5)))
    is_left = is_old & np.array(
        data.draw(
            st.lists(st.sampled_from([True, True, True, False]), min_size=count + 5, max_size=count + 5)
        )
    )
    if not is_old.any() or is_left.all() == is_old.all() is False:
        is_old[0] = is_left[0] = True
    now = np.flatnonzero(~is_old | is_left)
    before = proxies.find_neighbours(part, prepared_sets(part, [faces[i] for i in np.flatnonzero(is_old)]), 8)
    places = np.array([np.searchsorted(now, i) if is_left[i] else -1 for i in np.flatnonzero(is_old)])
    sets = prepared_sets(part, [faces[i] for i in now])
    held = spread(part, sets, np.arange(len(now)) % 3)
    updated = proxies.update_neighbours(part, held, before, places, 8)
    assert same(updated, proxies.find_neighbours(part, sets, 8))


@pytest.mark.parametrize("name", NAMES)
def test_rows_and_the_five_numbers_are_those_of_one_place(name: str) -> None:
    whole = tables_of(random_sets(30, smallest=2), name)
    held = spread_tables(whole, 3)
    slots = proxies.proxy_slots(whole.neighbours, 5, 4)
    for query, member in ((random_sets(1, seed=9, smallest=2)[0], None), (4, 4)):
        row, other = row_of(whole, query), row_of(held, query)
        assert same(row[:3], other[:3])
        assert row.member == other.member == member
        assert same((metafeatures(row, whole, slots),), (metafeatures(other, held, slots),))


def test_a_query_takes_two_rounds_and_a_message_for_each_slice() -> None:
    held = spread_tables(tables_of(random_sets(30)), 3)
    assert isinstance(held.sets, SpreadSets)
    traffic = held.sets.residents.traffic
    row = row_of(held, random_sets(1, seed=9)[0])
    assert (traffic.rounds, traffic.messages) == (1, 3)
    metafeatures(row, held, proxies.proxy_slots(held.neighbours, 5, None))
    assert (traffic.rounds, traffic.messages) == (2, 6)


def test_sets_are_looked_up_without_a_message() -> None:
    whole = tables_of(random_sets(30))
    held = spread_tables(whole, 3)
    assert isinstance(held.sets, SpreadSets)
    for which in (4, -1, slice(4, 9), np.array([0, 29, 5])):
        found, expected = held.sets[which], whole.sets[which]
        assert len(found) == len(expected)
        found, expected = (one if isinstance(one, dict) else dict(one.arrays) for one in (found, expected))
        assert same(tuple(found.values()), tuple(expected.values()))
    with pytest.raises(IndexError):
        held.sets[30]
    assert held.sets.residents.traffic.messages == 0


@pytest.mark.parametrize("slices", [1, 2, 3, 7])
def test_slices_work_out_what_cohorts_say_by_parts(slices: int) -> None:
    """All that is learnt is what is learnt in one place, to the last bit."""
    whole = tables_of(random_sets(80), count=79)  # as many as are wanted: all
    held = spread_tables(whole, slices)
    assert isinstance(held.sets, SpreadSets)
    one, other = (
        registry.build("rerankers", "adaptive").fit(each, np.random.default_rng(0)) for each in (whole, held)
    )
    expected, found = one.to_arrays(), other.to_arrays()
    assert expected.keys() == found.keys()
    assert same(tuple(expected.values()), tuple(found[name] for name in expected))
    traffic = held.sets.residents.traffic
    assert traffic.messages == traffic.rounds * len(held.sets.places)


@pytest.mark.parametrize("slices", [2, 5])
def test_what_slices_send_back_takes_no_more_memory_than_is_stated(
    slices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "BLOCK_ROWS", 64)  # so that products hardly count
    part = registry.build("similarities", "max_max")
    rng = np.random.default_rng(0)
    peaks, totals = [], (2000, 6000)
    for total in totals:
        sets = prepared_sets(part, list(rng.normal(size=(total, 1, 8))))
        held = spread(part, sets, rng.integers(0, slices, total))
        tracemalloc.start()
        deque(proxies.grow_neighbours(part, held, 64), maxlen=0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    stated = [2 * lists_bytes(part, total, 64) + pairs_bytes(part, total) for total in totals]
    assert peaks[1] - peaks[0] < stated[1] - stated[0]
