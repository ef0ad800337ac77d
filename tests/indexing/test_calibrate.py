from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, Search, index, open_search, registry, train
from lookalike.descriptors.deep import Deep
from lookalike.indexing.fit import SAMPLE, calibrate
from lookalike.indexing.store import TableStore
from lookalike.method.calibration import NEVER, Calibration, Grounds, Window
from lookalike.method.tables import Row, Tables
from lookalike.rerankers.baseline import Baseline
from lookalike.rerankers.contract import Scored
from tests.rerankers.test_adaptive import lit_sets
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
    first = calibrate(tables, fitted, 3, gallery)
    kinds = [one.manifest.kind for one in TableStore.beside(gallery.path).stored()]
    assert sum(kind.startswith("probabilities of learnt:") for kind in kinds) == 1
    monkeypatch.setattr(Calibration, "fit", lambda *_: pytest.fail("it was there"))
    assert same(calibrate(tables, fitted, 3, gallery), first)
    with pytest.raises(pytest.fail.Exception, match="it was there"):
        calibrate(tables, fitted, 4, gallery)  # another seed learnt something else


def test_another_set_makes_it_anew(gallery: Gallery) -> None:
    tables = index(gallery)
    fitted = train(tables, "baseline")
    first = calibrate(tables, fitted, 0, gallery)
    gallery.add(FaceSet("new", np.arange(tables.dimension)[None]))
    assert not same(calibrate(index(gallery), fitted, 0, gallery), first)


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


@pytest.mark.parametrize("name", registry.names("rerankers"))
def test_every_reranker_gives_probabilities(name: str) -> None:
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
    monkeypatch.setattr("lookalike.indexing.fit.SAMPLE", 7)
    calibrate(tables, fitted)
    assert sorted(asked) == [0, 4, 9, 14, 19, 24, 29]  # type: ignore[type-var]
    assert SAMPLE == 400


def test_where_nothing_can_be_told_nothing_is_said_or_kept(tmp_path: Path) -> None:
    """Each of two lamps lights half of the gallery: who is alike may be in the same light only."""
    sets = [FaceSet(f"set-{number:03d}", faces) for number, faces in enumerate(lit_sets(60, 2, 2.0))]
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.add_together(sets)
        search = open_search(gallery, reranker="auto")
        assert not search.reranker.tells
        kinds = [one.manifest.kind for one in TableStore.beside(gallery.path).stored()]
        assert not any(kind.startswith("probabilities") for kind in kinds)
    ranking = search.find("set-000")
    assert ranking.worth_reading is None
    assert {answer.probability for answer in ranking} == {None}


class Clear(Baseline):
    """Has odds of its own for sets of these numbers, and values that tell whose they are."""

    def __init__(self, members: range) -> None:
        self.members = members

    def score(self, row: Row, tables: Tables) -> Scored:
        assert row.member is not None
        clearly = 0.5 if row.member in self.members else 0.49
        values = row.member + np.linspace(0, 0.5, len(tables))
        return super().score(row, tables)._replace(grounds=Grounds(values, np.zeros(len(tables)), clearly))


@pytest.mark.parametrize(("clear", "learnt_from"), [(10, range(10, 30)), (11, range(30)), (0, range(30))])
def test_who_is_told_by_clear_odds_is_no_example_of_a_tail(
    clear: int, learnt_from: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless too few others are left: 20 are enough."""
    seen: list[np.ndarray] = []

    def keep(best: np.ndarray, others: int) -> Calibration:
        seen.append(best)
        return Calibration(Window(0, 0), np.empty(0), np.empty(0))

    monkeypatch.setattr(Calibration, "fit", keep)
    calibrate(index(world()), Clear(range(clear)))
    # Learnt from the values, of which the best is near the next whole number.
    assert np.floor(seen[0][:, 0]).tolist() == list(learnt_from)


def test_from_where_on_two_faces_are_one_person_is_the_word_of_the_descriptor(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, fitted = index(gallery), train(index(gallery), "baseline")
    assert calibrate(tables, fitted).same_person == NEVER
    # Ready-made numbers are nobody's: whoever made them has not said it.
    assert calibrate(tables, fitted, 0, gallery).same_person == NEVER
    monkeypatch.setattr("lookalike.ingest.describe.same_person_of", lambda _: Deep.same_person)
    fitted = train(tables, "csls")
    for _ in range(2):  # learnt, and kept
        assert calibrate(tables, fitted, 0, gallery).same_person == Deep.same_person == 0.94
    # It is said of faces: not where whole sets are compared.
    whole = index(gallery, "max_correlation")
    assert calibrate(whole, train(whole, "baseline"), 0, gallery).same_person == NEVER
