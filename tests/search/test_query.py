from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import FaceSet, Gallery, Search, explain, find, index, open_search, registry, train
from lookalike.errors import BadInput, NotFound
from lookalike.indexing import manifest
from lookalike.indexing.store import TableStore
from lookalike.progress import Task
from lookalike.ranking import Decided
from lookalike.search.decided import GIVEN
from lookalike.search.feedback import refine
from tests.small_world import chain_world, small_world

SIMILARITIES = [*registry.names("similarities"), "max_max:half=true"]
RERANKERS = registry.names("rerankers")


def test_people_are_found() -> None:
    sets, labels = small_world(spread=0.1)
    ranking = find(sets[0].id, sets)
    assert len(ranking) == ranking.total == len(sets) - 1
    assert {labels[id] for id in ranking.ids[:2]} == {labels[sets[0].id]}
    assert [answer.rank for answer in ranking] == list(range(1, len(sets)))
    assert json.loads(json.dumps(ranking.to_dict()))["query"] == sets[0].id


def test_the_go_between_lifts_the_far_end_of_a_chain() -> None:
    """A hardly resembles C, but both resemble B, and through the same face: C rises above the strangers."""
    ranking = find("a", chain_world(), reranker="arithmetic_mean")
    answer = next(one for one in ranking if one.id == "c")
    assert answer.through == "b"
    assert answer.score > answer.baseline


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("reranker", RERANKERS)
def test_single_and_batch_agree_bit_for_bit(similarity: str, reranker: str) -> None:
    sets, _ = small_world()
    search = open_search(sets, similarity, reranker)
    outsiders = [FaceSet(f"out-{n}", one.faces[:2] + 0.1) for n, one in enumerate(sets[:4])]
    queries = [*(one.id for one in sets), *outsiders]
    assert list(search.find_many(queries)) == [search.find(query) for query in queries]


def test_query_is_never_its_own_target_or_proxy() -> None:
    sets, _ = small_world()
    search = open_search(sets)
    for faceset in sets:
        ranking = search.find(faceset.id)
        assert faceset.id not in ranking.ids
        assert faceset.id not in {answer.through for answer in ranking}
        target = ranking[0].id
        assert faceset.id not in {one.proxy for one in search.explain(faceset.id, target).witnesses}


def test_left_out_query_ranks_as_from_outside() -> None:
    """The baseline of a member equals that of the same faces asked from outside a gallery without them."""
    sets, _ = small_world()
    inside = find(sets[0].id, sets, reranker="baseline")
    outside = find(sets[0], sets[1:], reranker="baseline")
    assert inside.answers == outside.answers
    # With proxies too: the members of each list that are not the query are the same sets.
    inside = find(sets[0].id, sets, reranker="arithmetic_mean:proxies=3")
    outside = find(sets[0], sets[1:], reranker="arithmetic_mean:proxies=3")
    assert inside.answers == outside.answers


def test_copy_of_a_gallery_set_finds_it_first() -> None:
    sets, _ = small_world()
    ranking = find(FaceSet("copy", sets[3].faces), sets, reranker="baseline")
    assert ranking[0].id == sets[3].id
    assert ranking[0].score == pytest.approx(1.0, abs=1e-6)


def test_ties_go_to_the_baseline_then_to_the_id() -> None:
    face = np.eye(3)[:1]
    same = [FaceSet(id, face) for id in "dbca"]
    assert find("b", same).ids == ["a", "c", "d"]
    assert find(FaceSet("q", face), [*same, FaceSet("e", np.eye(3)[1:2])]).ids == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("reranker", RERANKERS)
def test_tiny_galleries(count: int, reranker: str) -> None:
    sets, _ = small_world(people=1, sets=count)
    outside = FaceSet("q", sets[0].faces + 0.01)
    assert len(find(outside, sets, reranker=reranker)) == count
    if count == 1:
        with pytest.raises(BadInput, match="only the query itself"):
            find(sets[0].id, sets, reranker=reranker)
    else:
        assert len(find(sets[0].id, sets, reranker=reranker)) == count - 1


def test_explanation_adds_up() -> None:
    sets, _ = small_world()
    search = open_search(sets, reranker="learnt")
    answer = search.find(sets[0].id)[0]
    found = search.explain(sets[0].id, answer.id)
    assert found.answer == answer
    best = max(one.belief for one in found.witnesses)
    assert answer.score == max(best, answer.baseline)
    tables = search.tables
    for one in found.witnesses:
        assert 0.0 <= one.belief <= 1.0
        assert one.belief == np.clip(one.regression, 0, 1)
        s1, s2, s3, s4, s5 = one.numbers
        assert s2 == answer.baseline
        query, proxy, target = (sets_by_id(sets, id) for id in (sets[0].id, one.proxy, answer.id))
        assert cosine(query.faces[one.query_face], proxy.faces[one.proxy_face_to_query]) == pytest.approx(s1)
        assert cosine(proxy.faces[one.proxy_face_to_target], target.faces[one.target_face_to_proxy]) == (
            pytest.approx(s3)
        )
        met = proxy.faces[[one.proxy_face_to_query, one.proxy_face_to_target]]
        assert cosine(*met) == pytest.approx(s4)
        met = target.faces[[found.target_face, one.target_face_to_proxy]]
        assert cosine(*met) == pytest.approx(s5)
        assert 1 <= one.rank_without <= len(tables) - 1
    json.dumps(found.to_dict())


def test_several_explanations_are_those_of_each_alone() -> None:
    sets, _ = small_world()
    search = open_search(sets)
    for query in (sets[0].id, FaceSet("out", sets[0].faces + 0.1)):
        targets = search.find(query, 4).ids
        assert list(search.explain_many(query, targets)) == [search.explain(query, one) for one in targets]


def test_silencing_the_decisive_proxy_is_what_rank_without_says() -> None:
    sets, _ = small_world(people=5, spread=1.0)
    search = open_search(sets, reranker="learnt:proxies=1")
    for faceset in sets[:5]:
        for answer in search.find(faceset.id)[:3]:
            [witness] = search.explain(faceset.id, answer.id).witnesses
            if answer.through is None:
                assert witness.rank_without == answer.rank
            else:
                assert witness.rank_without >= answer.rank


def sets_by_id(sets: list[FaceSet], id: str) -> FaceSet:
    return next(one for one in sets if one.id == id)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize("reranker", RERANKERS)
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_explain_works_for_every_part(similarity: str, reranker: str) -> None:
    sets, _ = small_world(people=4, sets=2)
    found = explain(sets[0].id, sets[1].id, sets, similarity, reranker)
    assert found.answer.id == sets[1].id
    assert 0 <= found.query_face < len(sets[0])
    assert 0 <= found.target_face < len(sets[1])


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda sets: find("nobody", sets), NotFound, "no set called 'nobody'"),
        (lambda sets: find(FaceSet("q", [[1.0, 2.0]]), sets), BadInput, "2 numbers a face"),
        (lambda sets: find(sets[0].id, sets, top=0), BadInput, "top must be"),
        (lambda sets: find(sets[0].id, sets, seed=-1), BadInput, "seed must be"),
        (lambda sets: find(sets[0].id, sets, "maxmax"), NotFound, "choose one of dffs"),
        (lambda sets: find(sets[0].id, sets, reranker="learnt:proxies=0"), BadInput, "from 1 to 10"),
        (lambda sets: explain(sets[0].id, sets[0].id, sets), BadInput, "same set"),
        (lambda sets: explain(sets[0].id, "nobody", sets), NotFound, "no set called"),
    ],
)
def test_mistakes_are_said(call, error: type[Exception], said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=said):
        call(small_world(people=2)[0])


def test_stored_regressor_is_used_again(tmp_path: Path) -> None:
    sets, _ = small_world()
    with Gallery(tmp_path / "g", create=True) as gallery:
        for faceset in sets:
            gallery.add(faceset)
        first = list(open_search(gallery, reranker="learnt").find_many(gallery.ids()))
        tables = index(gallery)
        stored = train(tables, "learnt", 0, gallery)
        fresh = train(tables, "learnt", 0)
        np.testing.assert_array_equal(stored.regressor_.weights_, fresh.regressor_.weights_)
        assert list(Search(tables, stored).find_many(gallery.ids())) == first
        assert first == list(open_search(sets, reranker="learnt").find_many(gallery.ids()))


SCRIPT = """
import json
from lookalike import open_search
from tests.small_world import small_world
sets, _ = small_world(people=10, faces=6, dimension=30)
for similarity in ("max_max", "max_correlation", "dffs", "manifold"):
    search = open_search(sets, similarity)
    for ranking in search.find_many([one.id for one in sets[:20]]):
        print(json.dumps(ranking.to_dict()))
"""


def test_threads_do_not_change_a_bit() -> None:
    def run(threads: str) -> str:
        environment = {
            **os.environ,
            "LOOKALIKE_THREADS": threads,
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert run("1") == run("2") != ""


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 7), st.integers(1, 3), st.integers(1, 5))
def test_any_world_is_ranked_completely(seed: int, people: int, sets: int, faces: int) -> None:
    world, _ = small_world(people, sets, faces, seed=seed)
    for reranker in RERANKERS:
        ranking = find(world[0].id, world, reranker=reranker)
        assert sorted(ranking.ids) == sorted(one.id for one in world[1:])
        scores = [answer.score for answer in ranking]
        assert scores == sorted(scores, reverse=True)
        assert np.isfinite(scores).all()


# One way to open a search.


def test_what_has_to_be_made_is_announced_before_it_is_and_once(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        for faceset in small_world(people=15, sets=2, faces=4)[0]:
            gallery.add(faceset)
        told: list[Task] = []
        made = open_search(gallery, reranker="learnt", preparation="within", before=told.append)
        assert [task.what for task in told] == ["preparation", "index", "reranker"]
        assert [task.need is None for task in told] == [True, False, True]
        assert told[1].words == f"indexing 30 sets by max_max, which is kept: {told[1].need}"
        assert told[2].words == "training learnt on 30 sets first; this is kept"
        told.clear()
        again = open_search(gallery, reranker="learnt", preparation="within", before=told.append)
        assert told == []
        query = made.tables.ids[0]
        assert again.find(query) == made.find(query)


def test_every_parameter_is_checked_before_anything_is_made(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.add(FaceSet("a", [[1.0, 2.0]]))
        cannot = {"similarity": "dffs", "shortlist": True}
        for wrong in ({"seed": -1}, {"reranker": "learnt:proxies=0"}, cannot):
            told: list[Task] = []
            with pytest.raises(BadInput):
                open_search(gallery, **wrong, before=told.append)  # type: ignore[arg-type]
            assert told == []
            assert not TableStore.beside(gallery.path).stored()


def test_a_gallery_that_is_ready_is_read_in_one_transaction_and_decisions_in_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        for faceset in small_world(people=15, sets=2, faces=4)[0]:
            gallery.add(faceset)
        open_search(gallery, reranker="learnt", preparation="within")
        read: list[str] = []
        opened = manifest.read
        monkeypatch.setattr(manifest, "read", lambda folder: read.append(folder.name) or opened(folder))
        begun: list[str] = []
        gallery._opened.connection.set_trace_callback(begun.append)
        search = open_search(gallery, reranker="learnt", preparation="within")
        search.find(search.tables.ids[0], 5, decisions=False)
        assert sum(statement.startswith("BEGIN") for statement in begun) == 1
        search.find(search.tables.ids[0], 5)
        assert sum(statement.startswith("BEGIN") for statement in begun) == 3, (
            "the log, and the query's pairs"
        )
        assert len(read) == len(set(read)) == 4, "preparation, index, re-ranker, probabilities"


def test_decisions_change_what_is_found() -> None:
    search = open_search(small_world(people=8, sets=4, faces=4)[0])
    query, same, other = (search.tables.ids[place] for place in (0, 1, 9))
    found, refined = search.find(query, 5, [same], [other]), refine(search, query, [same], [other], 5).ranking
    assert (found.answers, found.total, found.sets) == (refined.answers, refined.total, refined.sets)
    assert found.confirmed == (Decided(same, GIVEN),)
    assert found.rejected == (Decided(other, GIVEN),)
    assert search.find(query, 5, [same], [other]) != search.find(query, 5)
    assert refine(search, query, [], [], 5).ranking == search.find(query, 5)


# Ids.


def test_ids_are_plain_text() -> None:
    """Not NumPy's, which are written otherwise, whatever the caller had them in."""
    faces = np.random.default_rng(0).normal(size=(30, 3, 8))
    names = np.array([f"set-{number:02d}" for number in range(30)])
    search = open_search([FaceSet(*given) for given in zip(names, faces, strict=True)], reranker="learnt")
    found = search.find(names[3])
    asked = refine(search, names[3], [names[4]], [names[5]])
    told = search.explain(names[3], names[4])
    answers = [*found, *asked.ranking, told.answer]
    ids = [*search.tables.ids, found.query, told.query, asked.ranking.query, *asked.before]
    ids += [*asked.asked.values(), *(one.proxy for one in told.witnesses)]
    ids += [one.id for one in (*asked.ranking.confirmed, *asked.ranking.rejected)]
    ids += [text for one in answers for text in (one.id, one.through) if text is not None]
    assert len(ids) > 100
    assert {type(id) for id in ids} == {str}
