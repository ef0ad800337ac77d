"""People of a gallery: proposed, kept beside it, in keeping with what is decided and seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike
from lookalike import FaceSet, Gallery
from lookalike.errors import BadInput, NotFound
from lookalike.gallery.decisions import accept, judge, name, part, reject, undo
from lookalike.indexing.people import Identity, census
from lookalike.indexing.store import TableStore
from tests.small_world import small_world
from tests.web.asking import picture

SETS, LABELS = small_world(6, 6, dimension=24, spread=0.5)


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Gallery]:
    with Gallery(tmp_path / "g.gallery", create=True) as opened:
        opened.add_together(SETS)
        yield opened


def of(found: list[Identity], set_id: str) -> Identity:
    [one] = (one for one in found if set_id in (*one.sets, *one.likely))
    return one


def test_everybody_is_proposed_once_and_largest_first(gallery: Gallery) -> None:
    found = lookalike.people(gallery)
    assert all(one.proposed and one.name is None and one.likely == () for one in found)
    assert [len(one.sets) for one in found] == sorted((len(one.sets) for one in found), reverse=True)
    together = [set_id for one in found for set_id in one.sets]
    assert len(together) == len(set(together)) > 30
    for one in found:
        assert len({LABELS[set_id] for set_id in one.sets}) == 1
        assert one.handle == min(one.sets)
        assert 0.5 < one.probability < 1
        assert {face.set for face in one.faces} <= set(one.sets)
        assert all(0 <= face.face < 4 for face in one.faces)


def test_groups_are_kept_and_made_anew_when_sets_come_and_go(gallery: Gallery, tmp_path: Path) -> None:
    first = census(gallery)
    store = TableStore.beside(gallery.path)
    [kept] = (one for one in store.stored() if one.manifest.kind.startswith("people of"))
    assert census(gallery) == first
    [still] = (one for one in store.stored() if one.manifest.kind.startswith("people of"))
    assert still.manifest.saved == kept.manifest.saved
    lookalike.forget(gallery, [SETS[0].id, SETS[7].id])
    assert not [one for one in store.stored() if one.manifest.kind.startswith("people of")]
    left = census(gallery)
    gallery.add(FaceSet("zz-new", SETS[7].faces))
    with Gallery(tmp_path / "anew.gallery", create=True) as anew:
        anew.add_together(
            [*(one for one in SETS[1:] if one.id != SETS[7].id), FaceSet("zz-new", SETS[7].faces)]
        )
        assert census(anew) == census(gallery) != left


def test_accepting_is_one_decision_and_can_be_undone(gallery: Gallery) -> None:
    before = lookalike.people(gallery)
    decision = accept(gallery, before[0].sets)
    assert decision is not None
    assert accept(gallery, before[0].sets) is None
    assert [one.kind for one in gallery.decisions()] == ["join"]
    known = of(lookalike.people(gallery), before[0].sets[0])
    assert (known.proposed, known.name, known.sets, known.probability) == (False, None, before[0].sets, 1.0)
    undo(gallery)
    assert lookalike.people(gallery) == before


def test_naming_accepts_and_others_stay_apart_from_the_named(gallery: Gallery) -> None:
    first, second = lookalike.people(gallery)[:2]
    name(gallery, first.sets[:3], "Ann")
    name(gallery, first.sets[3:], "Bob")
    found = lookalike.people(gallery)
    ann, bob = (of(found, one) for one in (first.sets[0], first.sets[-1]))
    assert (ann.name, bob.name) == ("Ann", "Bob")
    assert not {*ann.sets, *ann.likely} & {*bob.sets, *bob.likely}
    assert of(found, second.sets[0]) == second


def test_more_of_somebody_who_is_known_is_likely(gallery: Gallery) -> None:
    first = lookalike.people(gallery)[0]
    name(gallery, first.sets[:2], "Ann")
    ann = of(lookalike.people(gallery), first.sets[0])
    assert (ann.name, ann.sets, ann.proposed) == ("Ann", first.sets[:2], False)
    assert set(ann.likely) == set(first.sets[2:])
    assert ann.probability < 1


def test_what_was_rejected_is_not_proposed_again(gallery: Gallery) -> None:
    first = lookalike.people(gallery)[0]
    reject(gallery, first.sets)
    for one in lookalike.people(gallery):
        assert len({*one.sets, *one.likely} & set(first.sets)) < 2
    undo(gallery)
    assert lookalike.people(gallery)[0] == first


def test_parted_sets_are_different_people(gallery: Gallery) -> None:
    first = lookalike.people(gallery)[0]
    leaving, staying = first.sets[:2], first.sets[2:]
    part(gallery, leaving, staying)
    for one in lookalike.people(gallery):
        assert not (set(one.sets) & set(leaving) and set(one.sets) & set(staying))
    judge(gallery, leaving[0], [leaving[1]], "same")
    assert of(lookalike.people(gallery), leaving[0]).sets == leaving


def test_sets_of_one_frame_are_never_one_person(tmp_path: Path) -> None:
    twins = [one for one in SETS if LABELS[one.id] == "person-0"]
    with Gallery(tmp_path / "g.gallery", create=True) as gallery:
        gallery.add_together(SETS, apart=[(twins[0].id, twins[1].id)])
        for one in lookalike.people(gallery):
            assert not {twins[0].id, twins[1].id} <= set(one.sets)


def test_who_a_set_shows_is_found_by_any_of_their_sets(gallery: Gallery) -> None:
    found = census(gallery)
    assert all(found.of(set_id) is one for one in found.people for set_id in one.sets)
    with pytest.raises(NotFound, match="nobody is known or proposed"):
        found.of("nowhere")


def test_nobody_in_an_empty_gallery_or_in_something_else(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g.gallery", create=True) as gallery:
        assert lookalike.people(gallery) == []
    with pytest.raises(BadInput, match="people are found in a gallery, got list"):
        lookalike.people(SETS)  # type: ignore[arg-type]


def test_two_sets_are_too_few_to_propose_anybody(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g.gallery", create=True) as gallery:
        gallery.add_together([SETS[0], FaceSet("copy", SETS[0].faces + 0.01)])
        assert lookalike.people(gallery) == []
        name(gallery, ["copy"], "Ann")
        assert [(one.name, one.sets) for one in lookalike.people(gallery)] == [("Ann", ("copy",))]


def test_somebody_shows_themselves_in_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / "shown.gallery"
    with Gallery(path, create=True) as gallery:
        for number, one in enumerate(SETS):
            shown = [picture(3 * number + face) for face in range(len(one))]
            gallery.add(FaceSet(one.id, one.faces, pictures=shown))
        name(gallery, [SETS[0].id], "<b>Ann</b>")
        ann = of(lookalike.people(gallery), SETS[0].id)
    html = ann._repr_html_()  # after the gallery was closed
    assert "&lt;b&gt;Ann&lt;/b&gt;: 1 sets" in html
    assert "<b>" not in html
    assert html.count("<tr>") == 1 + len(ann.sets) + len(ann.likely) + len(ann.unsure)
    assert html.count("data:image/png") == 4 * (html.count("<tr>") - 1)
    path.unlink()
    assert "data:image" not in ann._repr_html_()
    assert "pictures" not in ann.to_dict()
