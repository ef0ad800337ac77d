"""Proposed people by JSON and on the page: shown, answered by one decision, undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike import FaceSet, Gallery
from lookalike.web.catalogue import key_of
from tests.small_world import small_world
from tests.waiting import until
from tests.web.asking import Asker, asker


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asker]:
    with Gallery(tmp_path / "g.gallery", create=True) as gallery:
        for one in small_world(6, 6, dimension=24, spread=0.5)[0]:
            gallery.add(FaceSet(one.id, one.faces, f"films/{one.origin}"))
    with asker(tmp_path / "g.gallery") as made:
        yield made


def test_a_proposal_is_accepted_named_and_undone(server: Asker) -> None:
    before = server.get("/api/groups")
    first, second = before["people"][:2]
    assert first["proposed"]
    assert first["handle"] in first["sets"]
    assert first["sure"].endswith("%")
    assert server.post("/api/groups", {"answer": "yes", "sets": first["sets"]}) == {"new": [1]}
    assert server.post("/api/groups", {"answer": "yes", "sets": first["sets"]}) == {"new": []}
    made = server.post("/api/groups", {"answer": "yes", "sets": second["sets"], "name": "Ann"})
    assert made == {"new": [2]}
    after = {one["handle"]: one for one in server.get("/api/groups")["people"]}
    assert (after[first["handle"]]["proposed"], after[first["handle"]]["name"]) == (False, None)
    assert after[second["handle"]]["name"] == "Ann"
    [newest, older] = server.get("/api/judgements")["decisions"]
    assert newest["words"] == f"{len(second['sets'])} clips show Ann."
    assert older["words"] == f"{len(first['sets'])} clips show one person."
    server.post("/api/judgements/undo", {"numbers": [1, 2]})
    assert server.get("/api/groups") == before


def test_no_and_part(server: Asker) -> None:
    first, second = server.get("/api/groups")["people"][:2]
    server.post("/api/groups", {"answer": "no", "sets": first["sets"]})
    leaving, staying = second["sets"][:1], second["sets"][1:]
    server.post("/api/groups", {"answer": "no", "sets": staying, "others": leaving})
    for one in server.get("/api/groups")["people"]:
        assert len(set(one["sets"]) & set(first["sets"])) < 2
        assert not (set(one["sets"]) & set(leaving) and set(one["sets"]) & set(staying))
    [parted, rejected] = server.get("/api/judgements")["decisions"]
    assert parted["words"] == f"1 clip and {len(staying)} others are different people."
    assert rejected["words"] == f"{len(first['sets'])} clips are not one person."
    # What was parted is no answer any more.
    found = server.post("/api/searches", {"set": staying[0]})
    assert leaving[0] in [one["key"] for one in found["rejected"]]


def test_two_named_people_become_one_or_stay_two(server: Asker) -> None:
    first, second, third = server.get("/api/groups")["people"][:3]
    for one, name in ((first, "Ann"), (second, "Bea"), (third, "Cid")):
        server.post("/api/groups", {"answer": "yes", "sets": one["sets"], "name": name})
    server.post("/api/groups", {"answer": "no", "sets": first["sets"], "others": second["sets"]})
    assert server.get("/api/judgements")["decisions"][0]["kind"] == "different"
    server.post("/api/groups", {"answer": "yes", "sets": [*first["sets"], *third["sets"]]})
    assert server.get("/api/judgements")["decisions"][0]["kind"] == "merge"
    assert sorted(one["name"] for one in server.get("/api/people")["people"]) == ["Ann", "Bea"]


def test_somebody_without_a_name_is_opened_searched_and_exported(server: Asker) -> None:
    one = server.get("/api/groups")["people"][0]
    page = server("GET", f"/groups/{one['sets'][-1]}")
    assert page.status == 200
    assert "Is this one person?" in page.body.decode()
    saved = server.get(f"/api/groups/{one['handle']}")
    assert [each["key"] for each in saved["sets"]] == one["sets"]
    found = server.post("/api/searches", {"set": one["handle"], "together": one["sets"]})
    assert not {each["set"]["key"] for each in found["answers"]} & set(one["sets"])
    assert found["confirmed"] == []
    assert server("GET", f"/sets/{one['handle']}?together=1").status == 200
    server.post("/api/groups", {"answer": "yes", "sets": one["sets"], "name": "Ann"})
    assert server("GET", f"/groups/{one['handle']}").status == 303


def test_the_page_begins_with_who_is_proposed(server: Asker) -> None:
    server.get("/api/groups")
    page = server("GET", "/people").body.decode()
    assert page.index("Is each of these one person?") < page.index('data-do="group-yes"')
    for words in ("Yes, one person", "No, several people", "Part some"):
        assert words in page


def test_what_is_refused(server: Asker) -> None:
    one = server.get("/api/groups")["people"][0]
    refused = server("POST", "/api/groups", {"answer": "yes", "sets": [key_of("nowhere")]})
    assert refused.status == 404
    refused = server("POST", "/api/groups", {"answer": "yes", "sets": one["sets"][:1]})
    assert "two sets at least" in refused.error
    both = {"answer": "no", "sets": one["sets"], "others": one["sets"][:1]}
    assert "either leaves or stays" in server("POST", "/api/groups", both).error
    assert server("GET", f"/groups/{key_of('nowhere')}").status == 404
    assert server.get("/api/judgements")["total"] == 0


def test_of_two_pages_that_decide_at_once_the_later_one_is_told(server: Asker) -> None:
    [seen, *_] = server.get("/api/groups")["people"]  # by both
    server.post("/api/groups", {"answer": "yes", "sets": seen["sets"], "name": "Ann"})
    said = server("POST", "/api/groups", {"answer": "no", "sets": seen["sets"]})
    assert said.status == 409
    assert "were decided to be one person" in said.error
    assert len(server.get("/api/judgements")["decisions"]) == 1
    [ann] = [one for one in server.get("/api/groups")["people"] if one["name"] == "Ann"]
    assert set(seen["sets"]) <= set(ann["sets"])


def test_the_page_of_people_says_how_many_sets_it_does_not_know_yet(tmp_path: Path) -> None:
    sets, labels = small_world(6, 6, dimension=24, spread=0.5)
    first = {labels[one.id]: one.id for one in reversed(sets)}
    with Gallery(tmp_path / "g.gallery", create=True) as gallery:
        for one in sets:
            if one.id in first.values():
                gallery.add(one)
    with asker(tmp_path / "g.gallery") as server:
        assert server.get("/api/groups")["people"] == []
        page = server("GET", "/people").body.decode()
        assert "And nobody was found twice so far." in page
        assert 'id="newer"' not in page
        with Gallery(tmp_path / "g.gallery") as gallery:
            for one in sets:
                if one.id not in first.values():
                    gallery.add(one)
        until(lambda: server.get("/api/gallery")["sets"] == len(sets))
        page = server("GET", "/people").body.decode()
        assert "30 new clips and photos were not looked through for people yet" in page
        assert "And nobody was found twice so far." not in page
        until(lambda: "proposals" in server("GET", "/people").body.decode())
        assert 'id="newer"' not in server("GET", "/people").body.decode()
