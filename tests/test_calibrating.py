from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, Search, index, open_search, parts, train
from lookalike.calibrating import SAMPLE, calibrate, is_calibrated
from lookalike.collection.tables import TableStore
from lookalike.transitivity.calibration import Calibration
from lookalike.transitivity.tables import Row, Tables
from tests.small_world import small_world

Sets = list[FaceSet]


def world() -> Sets:
    return small_world(people=10, sets=3, faces=3)[0]


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Gallery]:
    with Gallery(tmp_path / "g", create=True) as opened:
        for faceset in world():
            opened.add(faceset)
        yield opened


def same(one: Calibration, other: Calibration) -> bool:
    return all(
        a.tobytes() == b.tobytes()
        for a, b in zip(*(x.to_arrays().values() for x in (one, other)), strict=True)
    )


def test_it_is_kept_and_found_again(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = index(gallery)
    fitted = train(tables, "learnt", 3, gallery)
    assert not is_calibrated(gallery, tables, fitted, 3)
    first = calibrate(tables, fitted, 3, gallery)
    assert is_calibrated(gallery, tables, fitted, 3)
    assert not is_calibrated(gallery, tables, fitted, 4), "another seed learnt something else"
    kinds = [one.manifest.kind for one in TableStore.beside(gallery.path).stored()]
    assert sum(kind.startswith("probabilities of learnt:") for kind in kinds) == 1
    monkeypatch.setattr(Calibration, "fit", lambda *_: pytest.fail("it was there"))
    assert same(calibrate(tables, fitted, 3, gallery), first)


def test_another_set_makes_it_anew(gallery: Gallery) -> None:
    tables = index(gallery)
    fitted = train(tables, "baseline")
    calibrate(tables, fitted, 0, gallery)
    gallery.add(FaceSet("new", np.arange(tables.dimension)[None]))
    assert not is_calibrated(gallery, index(gallery), fitted, 0)


def test_a_gallery_that_cannot_be_written_may_be_asked(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from lookalike.errors import StorageFailed

    def refuse(*_: object) -> None:
        raise StorageFailed("the disk is full")

    tables = index(gallery)
    monkeypatch.setattr(TableStore, "save", refuse)
    found = calibrate(tables, train(tables, "baseline"), 0, gallery)
    assert same(found, calibrate(tables, train(tables, "baseline")))
    assert "not kept: the disk is full" in caplog.text


@pytest.mark.parametrize("name", parts.names("rerankers"))
def test_every_second_stage_gives_probabilities(name: str) -> None:
    search = open_search(world(), reranker=name)
    ranking = search.find("clip-000")
    chances = [answer.probability for answer in ranking]
    assert chances == sorted(chances, reverse=True)
    assert 0 <= chances[-1] <= chances[0] <= 1
    assert ranking.worth_reading == sum(chance >= 0.5 for chance in chances)
    assert search.find(ranking.query, top=2).worth_reading == ranking.worth_reading
    second = ranking[1]
    assert search.explain(ranking.query, second.id).answer.probability == second.probability


def test_the_query_itself_is_left_out_of_its_row() -> None:
    """A member, and the same faces asked from outside a gallery without it, have the same row."""
    sets = world()
    search = open_search(sets, reranker="baseline")
    without = Search(index(sets[1:]), search.reranker, calibration=search.calibration)
    inside, outside = search.find(sets[0].id), without.find(sets[0])
    assert inside.ids == outside.ids
    assert [a.probability for a in inside] == [a.probability for a in outside]


def test_few_sets_say_nothing() -> None:
    sets, _ = small_world(people=4, sets=3)
    ranking = open_search(sets, reranker="baseline").find(sets[0].id)
    assert ranking.worth_reading is None
    assert {answer.probability for answer in ranking} == {None}


def test_without_a_calibration_nothing_is_said() -> None:
    tables = index(world())
    ranking = Search(tables, train(tables, "baseline")).find(tables.ids[0])
    assert ranking.worth_reading is None
    assert ranking[0].probability is None


def test_some_hundred_sets_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = index(world())
    fitted = train(tables, "baseline")
    asked: list[int | None] = []
    score = type(fitted).score

    def counted(self: object, row: Row, tables: Tables) -> object:
        asked.append(row.member)
        return score(self, row, tables)  # type: ignore[arg-type]

    monkeypatch.setattr(type(fitted), "score", counted)
    monkeypatch.setattr("lookalike.calibrating.SAMPLE", 7)
    calibrate(tables, fitted)
    assert sorted(asked) == [0, 4, 9, 14, 19, 24, 29]  # type: ignore[type-var]
    assert SAMPLE == 400
