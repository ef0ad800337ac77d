"""Sets that lie in several shards: the same bits as in one place."""

from __future__ import annotations

import tracemalloc
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import parts
from lookalike.engines.local import Local
from lookalike.similarities.contract import PreparedSets, SetSimilarity
from lookalike.transitivity import proxies, tables
from lookalike.transitivity.metafeatures import metafeatures
from lookalike.transitivity.shard import Shard
from lookalike.transitivity.sizes import lists_need
from lookalike.transitivity.spread import SpreadSets
from lookalike.transitivity.tables import Tables
from tests.transitivity.samples import prepared_sets, random_sets, row_of, tables_of

NAMES = parts.names("similarities")


def spread(similarity: SetSimilarity, sets: PreparedSets, owners: np.ndarray) -> SpreadSets:
    """The same sets, each in the shard that owns it; shards without sets are left out."""
    places = [np.flatnonzero(owners == owner) for owner in np.unique(owners)]

    def opening(place: int) -> Shard:
        chosen = [sets[int(number)] for number in places[place]]
        return Shard(similarity, PreparedSets.join(chosen))

    residents = Local().hold(opening, [(place,) for place in range(len(places))])
    return SpreadSets(residents, places, np.asarray(similarity.sizes(sets)), similarity)


def spread_tables(whole: Tables, shards: int) -> Tables:
    owners = np.random.default_rng(shards).integers(0, shards, len(whole))
    assert isinstance(whole.sets, PreparedSets)
    held = spread(whole.similarity, whole.sets, owners)
    return Tables(whole.ids, whole.dimension, whole.similarity, held, whole.neighbours)


def same(some: tuple[np.ndarray, ...], others: tuple[np.ndarray, ...]) -> bool:
    return all(
        (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
        for one, other in zip(some, others, strict=True)
    )


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
@pytest.mark.parametrize("name", NAMES)
def test_neighbours_are_those_of_one_place(name: str, shards: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ROWS", 16)  # so that there are several runs
    part = parts.build("similarities", name)
    faces = random_sets(40, smallest=2)
    faces[7] = faces[31] = faces[12]  # ties
    sets = prepared_sets(part, faces)
    held = spread(part, sets, np.random.default_rng(shards).integers(0, shards, len(sets)))
    assert same(proxies.find_neighbours(part, sets, 12), proxies.find_neighbours(part, held, 12))


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_updated_neighbours_are_fresh_ones(data: st.DataObject) -> None:
    part = parts.build("similarities", "max_max")
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


def test_a_query_takes_two_rounds_and_a_message_for_each_shard() -> None:
    held = spread_tables(tables_of(random_sets(30)), 3)
    assert isinstance(held.sets, SpreadSets)
    traffic = held.sets.residents.traffic
    row = row_of(held, random_sets(1, seed=9)[0])
    assert (traffic.rounds, traffic.messages) == (1, 3)
    metafeatures(row, held, proxies.proxy_slots(held.neighbours, 5, None))
    assert (traffic.rounds, traffic.messages) == (2, 6)


@pytest.mark.parametrize("which", [[3], [0, 29, 5, 5, 17], [], slice(4, 9), slice(0, 30), slice(9, 9)])
def test_sets_are_fetched_in_the_order_asked_for(which: list[int] | slice) -> None:
    whole = tables_of(random_sets(30))
    held = spread_tables(whole, 3)
    chosen = which if isinstance(which, slice) else np.array(which, dtype=np.int64)
    found, expected = held.sets[chosen], whole.sets[chosen]
    assert len(found) == len(expected)
    assert same(
        tuple(np.asarray(found.arrays[name]) for name in sorted(found.arrays)),
        tuple(np.asarray(expected.arrays[name]) for name in sorted(expected.arrays)),
    )
    assert {name: array.tolist() for name, array in found.starts.items()} == {
        name: array.tolist() for name, array in expected.starts.items()
    }


def test_one_set_is_read_from_its_file_where_that_is_possible() -> None:
    whole = tables_of(random_sets(30))
    assert isinstance(whole.sets, PreparedSets)
    plain = spread(whole.similarity, whole.sets, np.arange(30) % 2)
    read = whole.sets[3]
    held = SpreadSets(
        plain.residents,
        plain.places,
        plain.sizes,
        whole.similarity,
        lambda number: read if number == 3 else None,
    )
    assert held[3] is read
    assert held.residents.traffic.messages == 0
    assert held[4]["faces"].tobytes() == whole.sets[4]["faces"].tobytes()
    assert held[-1]["faces"].tobytes() == whole.sets[-1]["faces"].tobytes()
    with pytest.raises(IndexError):
        held[30]


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
def test_shards_work_out_what_cohorts_say_by_parts(shards: int) -> None:
    """All that is learnt is what is learnt in one place, to the last bit."""
    whole = tables_of(random_sets(80), count=79)  # as many as are wanted: all
    held = spread_tables(whole, shards)
    assert isinstance(held.sets, SpreadSets)
    one, other = (
        parts.build("rerankers", "adaptive").fit(each, np.random.default_rng(0)) for each in (whole, held)
    )
    expected, found = one.to_arrays(), other.to_arrays()
    assert expected.keys() == found.keys()
    assert same(tuple(expected.values()), tuple(found[name] for name in expected))
    traffic = held.sets.residents.traffic
    assert traffic.messages == traffic.rounds * len(held.sets.places)


@pytest.mark.parametrize("shards", [2, 5])
def test_what_shards_send_back_takes_no_more_memory_than_is_stated(
    shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "BLOCK_ROWS", 64)  # so that products hardly count
    part = parts.build("similarities", "max_max")
    rng = np.random.default_rng(0)
    peaks, totals = [], (2000, 6000)
    for total in totals:
        sets = prepared_sets(part, list(rng.normal(size=(total, 1, 8))))
        held = spread(part, sets, rng.integers(0, shards, total))
        tracemalloc.start()
        deque(proxies.grow_neighbours(part, held, 64), maxlen=0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    stated = [lists_need(part, total, 64).memory for total in totals]
    assert peaks[1] - peaks[0] < stated[1] - stated[0]
