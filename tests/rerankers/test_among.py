"""Adaptive and auto on narrowed tables: the scores of some targets, to the last bit those among all sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import FaceSet, Search, index, parts, train
from lookalike.errors import BadInput
from lookalike.rerankers._kinship import Kinship
from lookalike.transitivity.lists import nearest_to
from lookalike.transitivity.strengths import HUB, weigh
from tests.small_world import small_world

# By their ids, so that a set of the gallery has its own place as number.
SETS = sorted(small_world(people=60, sets=4, dimension=64)[0], key=lambda one: one.id)
STAGES = ["adaptive", "adaptive:learn=true", "auto"]


@pytest.fixture(scope="module", params=STAGES)
def search(request: pytest.FixtureRequest) -> Search:
    tables = index(SETS[:200])
    return Search(tables, train(tables, request.param))


def told_from(search: Search, query: str | FaceSet) -> tuple[np.ndarray, list[int]]:
    """Scores of all sets, and those sets that everything about the query itself is told from."""
    stage = search.reranker
    assert isinstance(stage, Kinship)
    assert stage.strangers_ is not None
    assert stage.strengths_ is not None
    assert stage.kin_ is not None
    [row] = search.rows([query])
    means = stage.strangers_.around(row)
    cohort = nearest_to(row, stage.strangers_.lists.shape[1])
    ways = weigh(stage.strengths_.factors, row.scores, means)
    hubs = [nearest_to(row._replace(scores=way), HUB) for way in ways]
    values = stage.strengths_.of_row(row, means)
    tail = nearest_to(row._replace(scores=values), stage.kin_.tail.size + 1)
    return stage.score(row, search.tables).scores, np.concatenate([cohort, *hubs, tail]).tolist()


@settings(max_examples=30, deadline=None)
@given(number=st.integers(0, 239), some=st.sets(st.integers(0, 199), max_size=40))
def test_some_targets_are_scored_as_among_all(search: Search, number: int, some: set[int]) -> None:
    query = SETS[number].id if number < 200 else SETS[number]
    whole, near = told_from(search, query)
    targets = np.array(sorted({*near, *some} - {number}))
    among, row, _ = search.among(query, targets)
    assert len(row.scores) == len(among.tables.ids)
    assert among.tables.ids[: len(targets)] == tuple(search.tables.ids[one] for one in targets)
    scored = among.reranker.score(row, among.tables)
    np.testing.assert_array_equal(scored.scores, whole[targets])
    assert parts.spec(among.reranker) == parts.spec(search.reranker)


def test_a_query_is_compared_with_kin_and_cohorts_of_the_targets_and_nobody_else(search: Search) -> None:
    stage = search.reranker
    assert isinstance(stage, Kinship)
    assert stage.strangers_ is not None
    assert stage.kin_ is not None
    targets = np.array([3, 50, 120])
    weighed = {*targets.tolist(), *stage.kin_.sets[targets].ravel().tolist()}
    cohorts = {other for one in weighed for other in stage.strangers_.lists[one].tolist()}
    assert set(stage.needs(targets).tolist()) == weighed | cohorts
    among, row, _ = search.among(SETS[7].id, targets)
    assert len(row.scores) == len(weighed | cohorts | {7})
    assert len(among.tables) == 3


def test_very_few_targets_are_scored_too(search: Search) -> None:
    for targets in ([5], [5, 6], [150, 151, 152]):
        among, row, _ = search.among(SETS[7].id, np.array(targets))
        assert np.isfinite(among.reranker.score(row, among.tables).scores).all()


def test_without_targets_there_is_nothing_to_tell_a_query_from(search: Search) -> None:
    among, row, _ = search.among(SETS[7].id, np.array([], dtype=np.int64))
    with pytest.raises(BadInput, match="ask about more targets"):
        among.reranker.score(row, among.tables)


def test_where_nothing_is_done_nobody_else_is_needed() -> None:
    tables = index(SETS[:12])
    search = Search(tables, train(tables, "auto"))
    assert search.reranker.pools == 0
    assert len(search.reranker.needs(np.array([1, 2]))) == 0
    among, row, _ = search.among(SETS[0].id, np.array([1, 2]))
    scored = among.reranker.score(row, among.tables)
    [whole] = search.rows([SETS[0].id])
    np.testing.assert_array_equal(scored.scores, whole.scores[[1, 2]])
