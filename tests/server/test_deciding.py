"""Judgements and people by JSON: kept, told back, undone, and they change the answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike import Gallery
from lookalike.judging import judged
from lookalike.server.catalogue import key_of
from tests.server.asking import Asker, asker, fill


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asker]:
    with asker(fill(tmp_path / "g.gallery")) as made:
        yield made


def test_a_judgement_is_kept_and_changes_the_answers(server: Asker) -> None:
    key = key_of("clip-000")
    before = server.post("/api/searches", {"set": key})
    first, second, third = (one["set"]["key"] for one in before["answers"][:3])
    made = server.post("/api/judgements", {"query": key, "targets": [first], "verdict": "same"})["decisions"]
    assert [one["number"] for one in made] == [1]
    assert made[0]["words"].endswith("shows the same person as clip-000.")
    server.post("/api/judgements", {"query": key, "targets": [second], "verdict": "different"})
    server.post("/api/judgements", {"query": key, "targets": [third], "verdict": "unsure"})
    after = server.post("/api/searches", {"set": key})
    assert [one["key"] for one in after["confirmed"]] == [first]
    assert [one["key"] for one in after["rejected"]] == [second]
    left = {one["set"]["key"]: one for one in after["answers"]}
    assert not {first, second} & left.keys()
    assert left[third]["verdict"] == "unsure"
    assert all(one["before"] is not None for one in after["answers"])
    assert after["total"] == before["total"] - 2
    plain = server.post("/api/searches", {"set": key, "decisions": False})
    assert [one["set"]["key"] for one in plain["answers"]] == [one["set"]["key"] for one in before["answers"]]
    assert [one["verdict"] for one in plain["answers"][:3]] == ["same", "different", "unsure"]
    for target in (first, second, third, after["answers"][0]["set"]["key"]):
        why = server.post("/api/searches/evidence", {"ask": {"set": key}, "target": target})
        assert why["sentences"]
    for _ in range(3):
        assert server.post("/api/judgements/undo", {})["decision"]["undone"]
    assert server.post("/api/judgements/undo", {})["decision"] is None
    again = server.post("/api/searches", {"set": key})
    assert [one["score"] for one in again["answers"]] == [one["score"] for one in before["answers"]]


def test_the_history_is_newest_first_and_cut_into_pages(server: Asker) -> None:
    key = key_of("clip-000")
    targets = [key_of(f"clip-{number:03d}") for number in range(1, 8)]
    server.post("/api/judgements", {"query": key, "targets": targets, "verdict": "unsure"})
    server.post("/api/judgements/undo", {"number": 3})
    whole = server.get("/api/judgements")
    assert [one["number"] for one in whole["decisions"]] == [7, 6, 5, 4, 3, 2, 1]
    assert [one["number"] for one in whole["decisions"] if one["undone"]] == [3]
    assert whole["total"] == 7
    assert server.get("/api/judgements?offset=2&limit=2")["decisions"] == whole["decisions"][2:4]


def test_judgements_that_contradict_are_refused_whole(server: Asker) -> None:
    a, b, c = (key_of(f"clip-{number:03d}") for number in range(3))
    server.post("/api/judgements", {"query": a, "targets": [b], "verdict": "same"})
    server.post("/api/judgements", {"query": b, "targets": [c], "verdict": "different"})
    said = server(
        "POST", "/api/judgements", {"query": a, "targets": [key_of("clip-005"), c], "verdict": "same"}
    )
    assert said.status == 409
    assert "undo" in said.error
    assert server.get("/api/judgements")["total"] == 2


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"query": "0" * 16, "targets": ["1" * 16], "verdict": "same"}, 404),
        ({"query": "KEY", "targets": ["KEY"], "verdict": "same"}, 400),
        ({"query": "KEY", "targets": [], "verdict": "same"}, 422),
        ({"query": "KEY", "targets": ["0" * 16], "verdict": "maybe"}, 422),
        ({"query": "KEY", "targets": "KEY", "verdict": "same"}, 422),
        ({"query": "KEY", "targets": ["0" * 16] * 1001, "verdict": "same"}, 422),
    ],
)
def test_judgements_that_cannot_be_made(server: Asker, asked: dict[str, object], status: int) -> None:
    key = key_of("clip-000")
    given = {
        name: [key if one == "KEY" else one for one in value]
        if isinstance(value, list)
        else (key if value == "KEY" else value)
        for name, value in asked.items()
    }
    said = server("POST", "/api/judgements", given)
    assert (said.status, bool(said.error)) == (status, True)
    assert server.get("/api/judgements")["total"] == 0


def test_people_are_named_renamed_merged_and_split(server: Asker) -> None:
    keys = [key_of(f"clip-{number:03d}") for number in range(6)]
    ada = server.post("/api/people", {"name": "Ada", "sets": keys[:2]})["person"]
    bea = server.post("/api/people", {"name": "Bea", "sets": keys[2:4]})["person"]
    assert (ada["name"], ada["sets"], ada["cover"]["face"]) == ("Ada", 2, 2)
    more = server.post("/api/people", {"name": "ADA", "sets": [keys[4]]})["person"]
    assert (more["number"], more["sets"]) == (ada["number"], 3)
    assert server.post(f"/api/people/{bea['number']}/rename", {"name": "Bee"})["person"]["name"] == "Bee"
    assert server("POST", f"/api/people/{bea['number']}/rename", {"name": "ada"}).status == 409
    assert server("POST", f"/api/people/{bea['number']}/rename", {"name": " "}).status == 400
    assert [one["name"] for one in server.get("/api/people")["people"]] == ["Ada", "Bee"]
    both = server.post(f"/api/people/{bea['number']}/merge", {"into": ada["number"]})
    assert (both["person"]["sets"], len(both["sets"])) == (5, 5)
    assert server("GET", f"/api/people/{bea['number']}").status == 404
    split = server.post(f"/api/people/{ada['number']}/split", {"sets": keys[2:4], "name": "Cleo"})
    assert [(one["name"], one["sets"]) for one in split["people"]] == [("Ada", 3), ("Cleo", 2)]
    assert server.get("/api/gallery")["named"] == 5
    assert server.get("/api/sets?named=named")["total"] == 5
    assert server.get("/api/sets?text=cleo")["total"] == 2
    by_person = server.get("/api/sets?sort=person")["sets"]
    assert [one["person"]["name"] for one in by_person[:5]] == ["Ada"] * 3 + ["Cleo"] * 2
    with Gallery(server.desk.gallery.path) as gallery:
        assert sorted(one.name for one in judged(gallery).people.values()) == ["Ada", "Cleo"]
    words = [one["words"] for one in server.get("/api/judgements")["decisions"]]
    assert all(words)
    assert words[-1] == "2 sets show Ada."
    for _ in words:
        server.post("/api/judgements/undo", {})
    assert server.get("/api/people") == {"people": []}


def test_names_and_decisions_leave_as_tables(server: Asker) -> None:
    key = key_of("clip-000")
    server.post("/api/people", {"name": "=cmd|' /C calc'!A0", "sets": [key]})
    sheet = server("GET", "/api/people.csv")
    assert sheet.header("content-type") == "text/csv; charset=utf-8"
    assert sheet.header("content-disposition") == 'attachment; filename="people.csv"'
    assert "'=cmd|" in sheet.body.decode()
    assert server.get("/api/people.json")[0]["name"] == "=cmd|' /C calc'!A0"
    assert server.get("/api/judgements.json")[0]["what"] == "name"
    assert server("GET", "/api/judgements.csv").body.decode().startswith("number,made,what")


def test_a_person_who_is_not_there(server: Asker) -> None:
    for number in (1, 0, 2**53):
        assert server("GET", f"/api/people/{number}").status == 404
        assert server("POST", f"/api/people/{number}/rename", {"name": "Ada"}).status == 404
        assert server("POST", f"/api/people/{number}/merge", {"into": 5}).status == 404
    for wrong in ("-1", "x", str(2**53 + 1), "1.5"):
        assert server("GET", f"/api/people/{wrong}").status == 422
