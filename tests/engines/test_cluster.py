"""A gallery on a cluster of two nodes: the answers of one process, also when a node is lost."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from lookalike import FaceSet, Gallery, index, open_search
from lookalike.engines.ray import Ray
from lookalike.evaluation.protocol import leave_one_out
from lookalike.indexing.slices import SpreadSets
from lookalike.progress import Item
from tests.engines import places
from tests.engines.nodes import Nodes
from tests.small_world import small_world

PEOPLE = 12
OUTSIDE = FaceSet("outside", small_world(people=2, seed=9)[0][0].faces)


@pytest.fixture(scope="module")
def world() -> tuple[list[FaceSet], dict[str, str]]:
    return small_world(people=PEOPLE, sets=5, faces=3)


@pytest.fixture
def folder(tmp_path: Path, world: tuple[list[FaceSet], dict[str, str]]) -> Path:
    """With the same gallery twice, so that each way makes what it needs."""
    for name in ("one", "cut"):
        with Gallery(tmp_path / f"{name}.gallery", create=True) as gallery:
            for one in world[0]:
                gallery.add(one)
    return tmp_path


# One that learns, one that subtracts, one that asks again; tests/indexing/test_slices.py has all.
STAGES = [("max_max", "learnt:references=3"), ("max_max", "auto"), ("max_correlation", "query_expansion")]


def test_rankings_are_those_of_one_file_to_the_last_bit(nodes: Nodes, folder: Path) -> None:
    with Gallery(folder / "one.gallery") as whole, Gallery(folder / "cut.gallery") as cut:
        for similarity, reranker in STAGES:
            expected = open_search(whole, similarity, reranker)
            found = open_search(cut, similarity, reranker, engine=nodes.engine)
            for query in (whole.ids()[7], OUTSIDE):
                assert found.find(query).to_dict() == expected.find(query).to_dict(), (similarity, reranker)
            target = whole.ids()[8]
            assert found.explain(OUTSIDE, target).to_dict() == expected.explain(OUTSIDE, target).to_dict()


def test_every_node_has_as_many_slices(nodes: Nodes) -> None:
    for count in (2, 6, 5):
        found = nodes.engine.hold(places.opened, [(str(each), [count]) for each in range(count)])
        where = Counter(found.ask_all(places.node))
        assert sorted(where.values()) == [count // 2, count - count // 2]


def test_a_node_that_is_replaced_gets_its_share_of_the_next_search(nodes: Nodes, folder: Path) -> None:
    with Gallery(folder / "cut.gallery") as cut:
        before = open_search(cut, reranker="baseline", engine=nodes.engine)
        answers = before.find(OUTSIDE).to_dict()
        nodes.lose_one()
        assert before.find(OUTSIDE).to_dict() == answers
        alone = open_search(cut, reranker="baseline", engine=nodes.engine)
        assert alone.find(OUTSIDE).to_dict() == answers
        assert isinstance(alone.tables.sets, SpreadSets)
        assert len(alone.tables.sets.places) == 1, "one slice for each machine that is there"
        nodes.replace_it()
        after = open_search(cut, reranker="baseline", engine=nodes.engine)
        assert after.find(OUTSIDE).to_dict() == answers
        assert isinstance(after.tables.sets, SpreadSets)
        assert sorted(Counter(after.tables.sets.residents.ask_all(places.node)).values()) == [1, 1]


def test_a_node_that_is_lost_during_an_index_changes_nothing(nodes: Nodes, folder: Path) -> None:
    lost: list[str] = []

    def losing(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        for item in items:
            if text == "comparing sets" and not lost:
                lost.append(text)
                nodes.lose_one()
            yield item

    with Gallery(folder / "one.gallery") as whole, Gallery(folder / "cut.gallery") as cut:
        found = index(cut, track=losing, engine=nodes.engine)
        assert lost
        expected = index(whole)
        for one, other in zip(expected.neighbours, found.neighbours, strict=True):
            assert one.tobytes() == other.tobytes()
    nodes.replace_it()


def test_a_node_that_is_lost_between_queries_changes_nothing(nodes: Nodes, folder: Path) -> None:
    with Gallery(folder / "cut.gallery") as cut:
        search = open_search(cut, reranker="learnt:references=3", engine=nodes.engine)
        asked = cut.ids()[3:6]
        before = [search.find(one).to_dict() for one in asked]
        nodes.lose_one()
        assert [search.find(one).to_dict() for one in asked] == before
    nodes.replace_it()


def test_a_node_that_is_lost_during_an_evaluation_changes_nothing(
    nodes: Nodes, folder: Path, world: tuple[list[FaceSet], dict[str, str]]
) -> None:
    lost: list[str] = []

    def losing(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        for number, item in enumerate(items):
            if number == 10 and not lost:
                lost.append(text)
                nodes.lose_one()
            yield item

    with Gallery(folder / "cut.gallery") as cut:
        search = open_search(cut, reranker="csls", engine=nodes.engine)
        methods = {"csls": [search.reranker]}
        expected = leave_one_out(search.tables, methods, world[1])
        found = leave_one_out(search.tables, methods, world[1], losing)
        assert lost
        assert found.to_dict() == expected.to_dict()
    nodes.replace_it()


@pytest.mark.parametrize("slices", [1, 3, 7])
def test_any_number_of_slices(nodes: Nodes, folder: Path, slices: int) -> None:
    with Gallery(folder / "one.gallery") as whole, Gallery(folder / "cut.gallery") as cut:
        expected = open_search(whole, reranker="learnt:references=3")
        with Ray(nodes.address, slices=slices) as engine:
            found = open_search(cut, reranker="learnt:references=3", engine=engine)
            assert isinstance(found.tables.sets, SpreadSets)
            assert len(found.tables.sets.places) == slices
            assert found.find(OUTSIDE).to_dict() == expected.find(OUTSIDE).to_dict()


def test_no_machine_needs_the_gallery(nodes: Nodes, folder: Path) -> None:
    """A slice that is lost is opened again from what whoever asks has in memory."""
    with Gallery(folder / "cut.gallery") as cut:
        search = open_search(cut, reranker="baseline", engine=nodes.engine)
        expected = search.find(OUTSIDE).to_dict()
    shutil.rmtree(folder)
    assert isinstance(search.tables.sets, SpreadSets)
    for process in search.tables.sets.residents.ask_all(places.process):
        os.kill(process, signal.SIGKILL)
    assert search.find(OUTSIDE).to_dict() == expected
