"""Decisions change the order: by hand on a baseline, in a small world, and with every re-ranker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from lookalike import FaceSet, Search, index, open_search, registry, train
from lookalike.errors import BadInput, NotFound
from lookalike.method.shortlist import Sizes
from lookalike.ranking import Decided
from lookalike.search.feedback import MOST_AGAINST, MOST_ASKING, PENALTY, refine
from lookalike.search.query import Excerpt
from tests.small_world import small_world


def turned(name: str, *degrees: float) -> FaceSet:
    """Faces in a plane: how alike two are is the cosine between them."""
    radians = np.radians(degrees)
    return FaceSet(name, np.column_stack([np.cos(radians), np.sin(radians), np.full(len(radians), 1e-3)]))


# Alone, the query finds b before d. What it is shown with: c, who leads to d, and e, who is like b.
PLANE = [turned("q", 0), turned("b", 40), turned("c", -40), turned("d", -60), turned("e", 50)]


@pytest.fixture(scope="module")
def plane() -> Search:
    tables = index(PLANE, preparation="none")
    return Search(tables, train(tables, "baseline"))


@pytest.fixture(scope="module")
def world() -> tuple[Search, dict[str, str]]:
    sets, labels = small_world(people=12, sets=6, spread=1.2)
    return open_search(sets, reranker="adaptive"), labels


def cos(degrees: float) -> float:
    return float(np.cos(np.radians(degrees)))


def test_the_plane_by_hand(plane: Search) -> None:
    assert plane.find("q").ids == ["b", "c", "e", "d"]
    found = refine(plane, "q", ["c"], ["e"])
    group = {"b": (cos(40) + cos(80)) / 2, "d": (cos(60) + cos(20)) / 2}
    over = {"b": cos(10) - group["b"], "d": max(cos(110) - group["d"], 0.0)}
    assert found.ranking.ids == ["d", "b"]
    for answer in found.ranking:
        assert answer.score == pytest.approx(group[answer.id] - PENALTY * over[answer.id], abs=1e-5)
        assert answer.baseline == pytest.approx(group[answer.id], abs=1e-5)
    assert [answer.baseline_rank for answer in found.ranking] == [1, 2]
    assert found.before == {"d": 2, "b": 1}
    assert found.asked == {"d": "c", "b": "q"}
    assert (found.ranking.confirmed, found.ranking.rejected) == ((Decided("c"),), (Decided("e"),))
    assert (found.ranking.total, found.ranking.sets, found.ranking.query) == (2, 2, "q")


def test_a_rejected_set_alone(plane: Search) -> None:
    found = refine(plane, "q", [], ["e"])
    assert found.ranking.ids == ["c", "b", "d"]
    assert [found.before[id] for id in found.ranking.ids] == [2, 1, 3]


def test_without_decisions_it_is_find(world: tuple[Search, dict[str, str]]) -> None:
    search, _ = world
    for query in search.tables.ids[:5]:
        for top in (None, 3):
            found = refine(search, query, [], [], top)
            assert found.ranking == search.find(query, top)
            assert found.before == {answer.id: answer.rank for answer in found.ranking}
            assert set(found.asked.values()) == {query}
    unknown = refine(search, search.tables.ids[0], ["unknown"], []).ranking
    assert unknown.answers == search.find(search.tables.ids[0]).answers
    assert unknown.confirmed == (Decided("unknown"),)


def test_outside_the_gallery(plane: Search) -> None:
    """Faces from outside ask as the set itself does, which is an answer now."""
    query = turned("q", 0)
    found = refine(plane, query, ["c"], ["e"])
    assert found.ranking.ids == ["q", "d", "b"]
    member = {answer.id: answer.score for answer in refine(plane, "q", ["c"], ["e"]).ranking}
    assert {answer.id: answer.score for answer in found.ranking if answer.id != "q"} == pytest.approx(member)


def test_some_faces_stand_for_their_set(plane: Search) -> None:
    """The set whose faces ask is no answer, with decisions and without."""
    query = Excerpt("q", turned("q", 0).faces)
    for yes, no in (([], []), (["c"], ["e"]), ([], ["e"]), (["q", "c"], ["q"])):
        found, member = refine(plane, query, yes, no), refine(plane, "q", yes, no)
        assert found.ranking.ids == member.ranking.ids
        assert [one.score for one in found.ranking] == pytest.approx([one.score for one in member.ranking])
        assert (found.before, found.asked, found.baseline) == (member.before, member.asked, member.baseline)
        assert found.ranking.total == member.ranking.total
    assert "q" not in plane.find(query).ids
    with pytest.raises(BadInput, match="same set"):
        plane.explain(query, "q")


def test_the_first_by_likeness_alone(world: tuple[Search, dict[str, str]]) -> None:
    """They are those of the baseline itself, whatever the re-ranker puts first."""
    search, _ = world
    alone, moved = Search(search.tables, train(search.tables, "baseline")), 0
    for query in search.tables.ids[:8]:
        found = refine(search, query, [], [], 5)
        whole = {answer.id: answer.rank for answer in search.find(query)}
        assert found.baseline == tuple((id, whole[id]) for id in alone.find(query, 5).ids)
        moved += {id for id, _ in found.baseline} != set(found.ranking.ids)
    assert moved


def test_everything_decided(plane: Search) -> None:
    found = refine(plane, "q", ["b", "c"], ["d", "e"])
    assert (found.ranking.ids, found.ranking.total, found.before) == ([], 0, {})


def test_a_set_on_both_sides_is_not_held_against_itself(plane: Search) -> None:
    assert refine(plane, "q", ["c"], ["c"]).ranking.ids == refine(plane, "q", ["c"], []).ranking.ids


def test_bad_input(plane: Search) -> None:
    with pytest.raises(BadInput, match="top must be"):
        refine(plane, "q", ["c"], [], 0)
    with pytest.raises(NotFound, match="no set called 'x'"):
        refine(plane, "x", ["c"], [])
    with pytest.raises(BadInput, match="must come as a list"):
        refine(plane, "q", "c", [])


@pytest.mark.parametrize("reranker", registry.names("rerankers"))
def test_any_reranker(reranker: str) -> None:
    sets, labels = small_world()
    search = open_search(sets, reranker=reranker)
    query = search.tables.ids[0]
    same = [id for id in search.tables.ids if labels[id] == labels[query] and id != query]
    other = next(id for id in search.tables.ids if labels[id] != labels[query])
    whole = refine(search, query, same[:1], [other])
    assert sorted(whole.ranking.ids) == sorted(set(search.tables.ids) - {query, same[0], other})
    assert [answer.rank for answer in whole.ranking] == list(range(1, whole.ranking.total + 1))
    scores = [answer.score for answer in whole.ranking]
    assert scores == sorted(scores, reverse=True)
    first = refine(search, query, same[:1], [other], 4)
    assert first.ranking.answers == whole.ranking[:4]
    assert first.before == {id: whole.before[id] for id in first.ranking.ids}
    for id, asked in first.asked.items():
        assert search.explain(asked, id).answer.id == id


def test_decisions_help_in_a_small_world(world: tuple[Search, dict[str, str]]) -> None:
    """A user who judges the first five answers finds the others of the person earlier."""
    search, labels = world
    before, after = [], []
    for query, ranking in zip(search.tables.ids, search.find_many(search.tables.ids), strict=True):
        yes = [id for id in ranking.ids[:5] if labels[id] == labels[query]]
        no = [id for id in ranking.ids[:5] if labels[id] != labels[query]]
        found = refine(search, query, yes, no)
        wanted = [id for id in found.ranking.ids if labels[id] == labels[query]]
        before += [found.before[id] for id in wanted]
        after += [answer.rank for answer in found.ranking if answer.id in wanted]
    assert len(after) > 50
    assert np.mean(after) < 0.9 * np.mean(before)


def test_probabilities_fall_with_the_rank(world: tuple[Search, dict[str, str]]) -> None:
    search, labels = world
    query = search.tables.ids[0]
    friends = [id for id in search.tables.ids if labels[id] == labels[query] and id != query]
    found = refine(search, query, friends[:2], []).ranking
    chances = [answer.probability for answer in found]
    assert (found.worth_reading is None) == (chances[0] is None)
    if chances[0] is not None:
        assert chances == sorted(chances, reverse=True)
        assert found.worth_reading == sum(chance >= 0.5 for chance in chances)


def test_many_decisions_cost_no_more_than_some(
    world: tuple[Search, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    search, _ = world
    query, *others = search.tables.ids
    asked: list[int] = []
    rows = search.rows

    def counted(queries) -> Iterator:
        asked.append(len(queries))
        return rows(queries)

    monkeypatch.setattr(search, "rows", counted)
    found = refine(search, query, others[:30], others[30:60])
    assert asked == [MOST_ASKING + MOST_AGAINST]
    assert sorted(found.ranking.ids) == sorted(others[60:])


@pytest.mark.parametrize("reranker", ["baseline", "learnt", "geometric_mean", "adaptive"])
def test_a_shortlist_finds_the_same(reranker: str) -> None:
    sets, labels = small_world(people=12, sets=6, spread=1.2)
    whole = open_search(sets, reranker=reranker, shortlist=False)
    short = open_search(sets, reranker=reranker, shortlist=True)
    short.shortlist.sizes = Sizes(served=10)
    query, yes, *_ = [id for id in whole.tables.ids if labels[id] == labels[whole.tables.ids[0]]]
    no = next(id for id in whole.tables.ids if labels[id] != labels[query])
    for given in (query, replace(next(one for one in sets if one.id == query), id="outside")):
        one, other = (refine(each, given, [yes], [no], 5) for each in (whole, short))
        assert one.ranking.ids == other.ranking.ids
        for mine, its in zip(one.ranking, other.ranking, strict=True):
            assert (mine.score, mine.through) == (pytest.approx(its.score), its.through)
            assert mine.probability == pytest.approx(its.probability)
        assert (one.before, one.asked) == (other.before, other.asked)
        assert one.ranking.sets == other.ranking.sets
