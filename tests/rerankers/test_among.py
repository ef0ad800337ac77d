"""Adaptive and auto on narrowed tables: the scores of some targets, to the last bit those among all sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import FaceSet, Search, index, registry, train
from lookalike.errors import BadInput
from lookalike.method.kin import HUB, weigh
from lookalike.method.tables import Near, PartialRow, nearest_to
from lookalike.rerankers._kinship import Kinship
from tests.small_world import small_world

# By their ids, so that a set of the gallery has its own place as number.
SETS = sorted(small_world(people=60, sets=4, dimension=64)[0], key=lambda one: one.id)


def lit(sets: list[FaceSet], strength: float = 2.0) -> list[FaceSet]:
    """The same sets, each in one of four lights."""
    lights = strength * np.random.default_rng(1).normal(size=(4, 64))
    return [
        replace(one, faces=(one.faces + lights[n % 4]).astype(one.faces.dtype)) for n, one in enumerate(sets)
    ]


LIT = lit(SETS)
# Strangers are subtracted from these, or not.
WORLDS = {"plain": SETS, "lit": LIT}


@pytest.fixture(scope="module", params=[("adaptive", "plain"), ("adaptive", "lit"), ("auto", "plain")])
def search(request: pytest.FixtureRequest) -> Search:
    stage, world = request.param
    tables = index(WORLDS[world][:200])
    fitted = Search(tables, train(tables, stage))
    assert isinstance(fitted.reranker, Kinship)
    assert fitted.reranker.strengths_ is not None
    assert fitted.reranker.strengths_.subtract == (world == "lit")
    return fitted


def world_of(search: Search) -> list[FaceSet]:
    assert isinstance(search.reranker, Kinship)
    assert search.reranker.strengths_ is not None
    return LIT if search.reranker.strengths_.subtract else SETS


def told_from(search: Search, query: str | FaceSet) -> tuple[np.ndarray, list[int]]:
    """Scores of all sets, and those sets that everything about the query itself is told from."""
    stage = search.reranker
    assert isinstance(stage, Kinship)
    assert stage.strangers_ is not None
    assert stage.strengths_ is not None
    assert stage.kin_ is not None
    assert stage.agreement_ is not None
    [row] = search.rows([query])
    means = stage.strangers_.around(row)
    cohort = nearest_to(row, stage.strangers_.lists.shape[1])
    ways = weigh(stage.strengths_.factors, row.scores, means)
    hubs = [nearest_to(row._replace(scores=way), HUB) for way in ways]
    values = stage.strengths_.of_row(row, means)
    tail = nearest_to(row._replace(scores=values), stage.kin_.tail.size + 1)
    # Whom the query's own lists name, and the best, with whom pairs are compared.
    pooled = row._replace(scores=stage.kin_.pool(row._replace(scores=values)))
    lists = nearest_to(pooled, stage.agreement_.lists.shape[1] if row.member is None else 1)
    near = [*hubs, tail, lists, *([cohort] if stage.strengths_.subtract else [])]
    return stage.score(row, search.tables).scores, np.concatenate(near).tolist()


@settings(max_examples=30, deadline=None)
@given(number=st.integers(0, 239), some=st.sets(st.integers(0, 199), max_size=40))
def test_some_targets_are_scored_as_among_all(search: Search, number: int, some: set[int]) -> None:
    query = SETS[number].id if number < 200 else world_of(search)[number]
    whole, near = told_from(search, query)
    targets = np.array(sorted({*near, *some} - {number}))
    among, row, _ = search.among(query, targets)
    assert len(row.scores) == len(among.tables.ids)
    assert among.tables.ids[: len(targets)] == tuple(search.tables.ids[one] for one in targets)
    scored = among.reranker.score(row, among.tables)
    np.testing.assert_array_equal(scored.scores, whole[targets])
    assert registry.spec(among.reranker) == registry.spec(search.reranker)


def test_strangers_with_whom_the_query_was_not_compared_are_as_the_levels_let_expect(search: Search) -> None:
    stage, query = search.reranker, world_of(search)[220]
    assert isinstance(stage, Kinship)
    assert stage.strangers_ is not None
    [row] = search.rows([query])
    near, spread = np.sort(nearest_to(row, 80)), np.arange(0, 200, 10)
    known = Near(near, row.scores[near], spread, row.scores[spread])
    among, part, _ = search.among(query, near[:60], known)
    assert len(part.scores) == len(among.tables) == 60
    narrow = among.reranker
    assert isinstance(narrow, Kinship)
    told, level = narrow._compared(PartialRow(near[:60], part.scores, None))
    levels = stage.strangers_.known
    assert level == pytest.approx(np.mean(row.scores[spread] - levels.level - levels.levels[spread]))
    np.testing.assert_array_equal(told.sets, near)
    np.testing.assert_array_equal(told.scores, row.scores[near])
    # As if the others had been compared, and were so near.
    expected = levels.level + levels.levels + level
    expected[near] = row.scores[near]
    whole = stage.strangers_.around(row._replace(scores=expected), near[:60])
    found = stage.strangers_.around(told, near[:60], level)
    np.testing.assert_allclose(found, whole, rtol=1e-9, atol=1e-12)


def test_where_finding_told_of_everybody_its_scores_are_those_among_all(search: Search) -> None:
    stage, everybody = search.reranker, np.arange(200)
    for query, member in ((SETS[7].id, 7), (world_of(search)[220], None)):
        [row] = search.rows([query])
        targets = everybody[everybody != member]
        near = Near(everybody, row.scores, everybody[::10], row.scores[::10])
        found = stage.score_near(targets, near, member)
        assert found is not None
        whole = stage.score(row, search.tables)
        np.testing.assert_allclose(found.scores, whole.scores[targets], rtol=1e-9, atol=1e-12)


def test_a_target_of_which_finding_told_nothing_is_taken_for_an_ordinary_set(search: Search) -> None:
    stage, query = search.reranker, world_of(search)[220]
    [row] = search.rows([query])
    order = nearest_to(row, 200)
    near, far = np.sort(order[:120]), order[-20:]
    told = Near(near, row.scores[near], near[::10], row.scores[near[::10]])
    found = stage.score_near(np.union1d(near, far), told, None)
    assert found is not None
    assert found.grounds is not None
    is_far = np.isin(np.union1d(near, far), far)
    assert np.isfinite(found.scores).all()
    assert found.grounds.values[is_far].max() < found.grounds.values[~is_far].max()


def test_pairs_that_are_expected_need_to_know_whom_the_query_was_compared_with(search: Search) -> None:
    [row] = search.rows([SETS[7].id])
    narrow = search.reranker.among(np.arange(5))
    with pytest.raises(BadInput, match="ask about all sets"):
        narrow.score(row._replace(scores=row.scores[:5], member=None), replace(search.tables))


def test_very_few_targets_are_scored_too(search: Search) -> None:
    """A query from outside has no lists of its own then, but what pairs say."""
    for targets in ([5], [5, 6], [150, 151, 152]):
        for query in (SETS[7].id, world_of(search)[220]):
            among, row, _ = search.among(query, np.array(targets))
            assert np.isfinite(among.reranker.score(row, among.tables).scores).all()


def test_without_targets_there_is_nothing_to_tell_a_query_from(search: Search) -> None:
    for query in (SETS[7].id, world_of(search)[220]):
        among, row, _ = search.among(query, np.array([], dtype=np.int64))
        with pytest.raises(BadInput, match="ask about more targets"):
            among.reranker.score(row, among.tables)


def test_where_nothing_is_done_nobody_else_is_needed() -> None:
    tables = index(SETS[:12])
    search = Search(tables, train(tables, "auto"))
    assert search.reranker.pools == 0
    near = Near(np.arange(3), np.ones(3), np.arange(3), np.ones(3))
    assert search.reranker.score_near(np.array([1, 2]), near, None) is None
    among, row, _ = search.among(SETS[0].id, np.array([1, 2]))
    scored = among.reranker.score(row, among.tables)
    [whole] = search.rows([SETS[0].id])
    np.testing.assert_array_equal(scored.scores, whole.scores[[1, 2]])
