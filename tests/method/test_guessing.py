"""Guesses of nearest sets: the same ones however the sets are spread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import FaceSet, Search, open_search, registry
from lookalike.indexing.slices import SpreadSets
from lookalike.kernels.codes import Codes
from lookalike.kernels.exact import unit_rows
from lookalike.method.shortlist import Shortlist, Sizes, code_means
from lookalike.method.tables import guess, joined, means_of
from tests.indexing.test_spread import same, spread_tables
from tests.method.test_shortlist import POOLING, RERANKERS, ROOMY, SIMILARITIES, TIGHT
from tests.small_world import small_world


def faces_of(sizes: list[int], copies: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Faces of sets of these sizes, each one of a few different ones if there are copies."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    drawn = unit_rows(rng.normal(size=(copies or starts[-1], 6))).astype(np.float32)
    return drawn[rng.integers(0, copies, starts[-1])] if copies else drawn, starts


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 12), min_size=3, max_size=40),
    copies=st.sampled_from([0, 1, 3]),
    slices=st.integers(1, 7),
    most=st.integers(1, 45),
    looked_at=st.integers(1, 45),
)
def test_slices_guess_together_what_one_place_guesses(
    sizes: list[int], copies: int, slices: int, most: int, looked_at: int
) -> None:
    faces, starts = faces_of(sizes, copies)
    asked = faces_of([3], 0, seed=1)[0]
    codes = Codes.of(means_of(faces, starts))
    floor, nobody = codes.floor(asked, looked_at), np.empty(0, dtype=np.int64)
    expected = guess(faces, starts, codes, asked, most, floor, nobody)
    owners = np.random.default_rng(slices).integers(0, slices, len(sizes))
    found = []
    for one in np.unique(owners):
        own = np.flatnonzero(owners == one)
        rows = np.concatenate([np.arange(starts[number], starts[number + 1]) for number in own])
        ends = np.concatenate([[0], np.cumsum(np.diff(starts)[own])])
        own_codes = Codes.of(means_of(faces[rows], ends), codes.grid)
        guessed = guess(faces[rows], ends, own_codes, asked, most, floor, nobody)
        found.append(guessed._replace(sets=own[guessed.sets]))
    assert same(joined(found, most), expected)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_guesses_tell_how_near_the_sets_are(kind: type) -> None:
    faces, starts = faces_of([2, 5, 1, 4, 3, 3], 0)
    faces, asked = faces.astype(kind), faces_of([4], 0, seed=1)[0].astype(kind)
    codes = Codes.of(means_of(faces, starts))
    found = guess(faces, starts, codes, asked, 6, codes.floor(asked, 6), np.array([4, 0]))
    assert found.sets.tolist() == list(range(6))
    true = np.maximum.reduceat((faces.astype(float) @ asked.T.astype(float)).max(axis=1), starts[:-1])
    np.testing.assert_allclose(found.nearest, true, atol=1e-6)
    np.testing.assert_array_equal(found.others, found.nearest[[4, 0]])


def test_means_by_hand() -> None:
    faces = np.array([[1, 0], [0, 1], [0.5, 0.5]], dtype=np.float32)
    assert means_of(faces, np.array([0, 2, 3])).tolist() == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize("slices", [1, 2, 3, 7])
@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("reranker", RERANKERS)
def test_rankings_of_a_shortlist_are_those_of_one_place(similarity: str, reranker: str, slices: int) -> None:
    pools = reranker in POOLING
    sets, _ = small_world(people=60, sets=4, dimension=64) if pools else small_world(people=12, sets=4)
    whole = open_search(sets, similarity, reranker)
    assert bool(whole.reranker.pools) == pools
    alike = []
    for tables in (whole.tables, spread_tables(whole.tables, slices)):
        shortlist = Shortlist(tables, code_means(tables), ROOMY if pools else TIGHT)
        alike.append(Search(tables, whole.reranker, shortlist, whole.calibration))
    outsiders = [FaceSet(f"out-{n}", one.faces[:2] + 0.1) for n, one in enumerate(sets[:6])]
    for query in [*(one.id for one in sets[:60:5]), *outsiders]:
        one, other = (search.find(query, 4) for search in alike)
        assert one == other
        assert one.total < one.sets


def shortlisted(sets: list[FaceSet], reranker: str, sizes: Sizes) -> Search:
    tables = spread_tables(open_search(sets, reranker="baseline").tables, 3)
    fitted = registry.build("rerankers", reranker).fit(tables, np.random.default_rng(0))
    return Search(tables, fitted, Shortlist(tables, code_means(tables), sizes))


def bytes_sent(search: Search, query: FaceSet) -> int:
    """What a query sends that is not the first, in two rounds of one message to each of three slices."""
    assert isinstance(search.tables.sets, SpreadSets)
    search.find(query, 4)
    traffic = search.tables.sets.residents.traffic
    before = traffic.rounds, traffic.messages, traffic.bytes
    search.find(query, 4)
    assert traffic.rounds - before[0] == 2
    assert traffic.messages - before[1] <= 6
    return traffic.bytes - before[2]


@pytest.mark.parametrize("reranker", RERANKERS)
def test_a_query_takes_two_rounds_whose_bytes_do_not_grow_with_the_gallery(reranker: str) -> None:
    sent, sizes = [], TIGHT._replace(guessed=60 if reranker in POOLING else TIGHT.guessed, spread=20)
    for people in (20, 80):
        sets, _ = small_world(people=people, sets=4)
        sent.append(bytes_sent(shortlisted(sets, reranker, sizes), FaceSet("out", sets[3].faces + 0.1)))
    # Four times as many sets; the shortlist differs by some.
    assert sent[1] < 1.5 * sent[0]
