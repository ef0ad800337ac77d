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
from lookalike.method.shortlist import Shortlist, Sizes, code_faces
from lookalike.method.tables import guess, joined
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
)
def test_slices_guess_together_what_one_place_guesses(
    sizes: list[int], copies: int, slices: int, most: int
) -> None:
    faces, starts = faces_of(sizes, copies)
    asked = faces_of([3], 0, seed=1)[0]
    codes = Codes.of(faces)
    expected = guess(faces, starts, codes, asked, most)
    assert len(expected.sets) == min(most, len(sizes))
    owners = np.random.default_rng(slices).integers(0, slices, len(sizes))
    found = []
    for one in np.unique(owners):
        own = np.flatnonzero(owners == one)
        rows = np.concatenate([np.arange(starts[number], starts[number + 1]) for number in own])
        ends = np.concatenate([[0], np.cumsum(np.diff(starts)[own])])
        guessed = guess(faces[rows], ends, Codes.of(faces[rows], codes.points), asked, most)
        found.append(guessed._replace(sets=own[guessed.sets]))
    assert same(joined(found, most), expected)


def test_guesses_tell_how_near_the_sets_are() -> None:
    faces, starts = faces_of([2, 5, 1, 4, 3, 3], 0)
    asked = faces_of([4], 0, seed=1)[0]
    found = guess(faces, starts, Codes.of(faces), asked, 6)
    assert sorted(found.sets) == list(range(6))
    assert (np.diff(found.guesses) <= 0).all()
    true = np.maximum.reduceat((faces.astype(float) @ asked.T.astype(float)).max(axis=1), starts[:-1])
    np.testing.assert_array_equal(found.nearest, true[found.sets])


def test_a_set_of_very_many_near_faces_does_not_hide_the_others() -> None:
    rng = np.random.default_rng(0)
    crowd = unit_rows(np.ones((500, 6)) + 0.001 * rng.normal(size=(500, 6))).astype(np.float32)
    faces = np.concatenate([crowd, faces_of([1] * 30, 0)[0]])
    starts = np.array([0, *range(500, 531)])
    found = guess(faces, starts, Codes.of(faces), np.ones((1, 6), np.float32), 10)
    assert found.sets[0] == 0
    assert len(found.sets) == 10


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
        shortlist = Shortlist(tables, code_faces(tables), ROOMY if pools else TIGHT)
        alike.append(Search(tables, whole.reranker, shortlist, whole.calibration))
    outsiders = [FaceSet(f"out-{n}", one.faces[:2] + 0.1) for n, one in enumerate(sets[:6])]
    for query in [*(one.id for one in sets[:60:5]), *outsiders]:
        one, other = (search.find(query, 4) for search in alike)
        assert one == other
        assert one.total < one.sets


def shortlisted(sets: list[FaceSet], reranker: str, sizes: Sizes) -> Search:
    tables = spread_tables(open_search(sets, reranker="baseline").tables, 3)
    fitted = registry.build("rerankers", reranker).fit(tables, np.random.default_rng(0))
    return Search(tables, fitted, Shortlist(tables, code_faces(tables), sizes))


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


@pytest.mark.parametrize("reranker", [name for name in RERANKERS if name not in POOLING])
def test_a_query_takes_two_rounds_whose_bytes_do_not_grow_with_the_gallery(reranker: str) -> None:
    sent = []
    for people in (12, 48):
        sets, _ = small_world(people=people, sets=4)
        sent.append(bytes_sent(shortlisted(sets, reranker, TIGHT), FaceSet("out", sets[3].faces + 0.1)))
    # Four times as many sets; the shortlist differs by some.
    assert sent[1] < 1.5 * sent[0]


@pytest.mark.parametrize("reranker", POOLING)
def test_those_that_pool_send_what_they_need_for_the_shortlist(reranker: str) -> None:
    sets, _ = small_world(people=60, sets=4, dimension=64)
    search, query = shortlisted(sets, reranker, ROOMY), FaceSet("out", sets[3].faces + 0.1)
    assert search.shortlist is not None
    targets = search.shortlisted(search.shortlist, query)
    needed = len(search.reranker.needs(targets))
    assert len(targets) < needed
    # A number and a score with two modes for each; 20 bytes a guess; the query's faces and the names of
    # arrays, to each slice, twice.
    most = needed * (8 + 24) + ROOMY.guessed * 3 * 20 + 2 * 3 * (query.faces.nbytes + 2000)
    assert bytes_sent(search, query) < most
