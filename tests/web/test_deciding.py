"""Judgements and people by JSON: kept, told back, undone, and they change the answers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike import Gallery
from lookalike.gallery.decisions import judged
from lookalike.search.query import open_search
from lookalike.web.app import Parts
from lookalike.web.catalogue import key_of
from lookalike.web.models import SearchAsk
from tests.small_world import small_world
from tests.web.asking import Asker, asker, fill


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
    # Places are those among the answers that are left: none has moved because one above it is gone.
    order = [one["set"]["key"] for one in before["answers"] if one["set"]["key"] in left]
    assert [one["before"] for one in after["answers"]] == [1 + order.index(key) for key in left]
    assert after["moved"] == sum(one["before"] != one["rank"] for one in after["answers"]) > 0
    assert (before["moved"], {one["before"] for one in before["answers"]}) == (0, {None})
    plain = server.post("/api/searches", {"set": key, "decisions": False})
    assert [one["set"]["key"] for one in plain["answers"]] == [one["set"]["key"] for one in before["answers"]]
    assert [one["verdict"] for one in plain["answers"][:3]] == ["same", "different", "unsure"]
    for target in (first, second, third, after["answers"][0]["set"]["key"]):
        why = server.post("/api/searches/evidence", {"ask": {"set": key}, "target": target})
        assert why["sentences"]
    for _ in range(3):
        [undone] = server.post("/api/judgements/undo", {})["decisions"]
        assert undone["undone"]
    assert server.post("/api/judgements/undo", {})["decisions"] == []
    why = server.post("/api/searches/evidence", {"ask": {"set": key}, "target": third})
    assert why["answer"]["before"] is None
    again = server.post("/api/searches", {"set": key})
    assert [one["score"] for one in again["answers"]] == [one["score"] for one in before["answers"]]


def test_that_chances_fall_when_the_surest_are_confirmed_is_told(tmp_path: Path) -> None:
    path = tmp_path / "many.gallery"
    with Gallery(path, create=True) as gallery:
        for one in small_world(people=40, sets=3)[0]:
            gallery.add(one)
    parts = Parts(path)
    try:
        key = key_of("clip-000")
        before = parts.answering.search(SearchAsk(set=key))
        parts.deciding.judge(key, [before.answers[0].set.key], "same")
        after = parts.answering.search(SearchAsk(set=key))
    finally:
        parts.close()
    assert before.worth_reading is not None
    assert "fewer are to be expected" not in before.reading
    assert after.reading.endswith("so fewer matches are left among the others.")


def test_the_history_is_newest_first_and_cut_into_pages(server: Asker) -> None:
    key = key_of("clip-000")
    targets = [key_of(f"clip-{number:03d}") for number in range(1, 8)]
    server.post("/api/judgements", {"query": key, "targets": targets, "verdict": "unsure"})
    server.post("/api/judgements/undo", {"numbers": [3]})
    whole = server.get("/api/judgements")
    assert [one["number"] for one in whole["decisions"]] == [7, 6, 5, 4, 3, 2, 1]
    assert [one["number"] for one in whole["decisions"] if one["undone"]] == [3]
    assert whole["total"] == 7
    assert server.get("/api/judgements?offset=2&limit=2")["decisions"] == whole["decisions"][2:4]


def test_what_is_undone_is_what_was_just_decided(server: Asker) -> None:
    """Saying again what stands is nothing new; many verdicts go at once, or none does."""
    key, *others = (key_of(f"clip-{number:03d}") for number in range(5))
    first = server.post("/api/judgements", {"query": key, "targets": others[:1], "verdict": "unsure"})
    assert first["new"] == [1]
    again = server.post("/api/judgements", {"query": key, "targets": others[:1], "verdict": "unsure"})
    assert ([one["number"] for one in again["decisions"]], again["new"]) == ([1], [])
    many = server.post("/api/judgements", {"query": key, "targets": others, "verdict": "unsure"})
    assert ([one["number"] for one in many["decisions"]], many["new"]) == ([1, 2, 3, 4], [2, 3, 4])
    assert server("POST", "/api/judgements/undo", {"numbers": [2, 3, 99]}).status == 404
    assert server("POST", "/api/judgements/undo", {"numbers": [2] * 1001}).status == 422
    assert not any(one["undone"] for one in server.get("/api/judgements")["decisions"])
    gone = server.post("/api/judgements/undo", {"numbers": many["new"]})["decisions"]
    assert [(one["number"], one["undone"]) for one in gone] == [(4, True), (3, True), (2, True)]
    assert server("POST", "/api/judgements/undo", {"numbers": [1, 2]}).status == 409
    left = [one["number"] for one in server.get("/api/judgements")["decisions"] if not one["undone"]]
    assert left == [1]


def test_somebody_who_was_rejected_is_no_answer_by_another_clip(server: Asker) -> None:
    a, b, c, d = (key_of(f"clip-{number:03d}") for number in (0, 4, 8, 12))
    server.post("/api/judgements", {"query": a, "targets": [b], "verdict": "different"})
    server.post("/api/judgements", {"query": b, "targets": [c], "verdict": "same"})
    found = server.post("/api/searches", {"set": a})
    assert {one["key"] for one in found["rejected"]} == {b, c}
    assert not {b, c} & {one["set"]["key"] for one in found["answers"]}
    plain = server.post("/api/searches", {"set": a, "decisions": False})
    verdicts = {one["set"]["key"]: one["verdict"] for one in plain["answers"]}
    assert (verdicts[b], verdicts[c]) == ("different", "different")
    # Somebody with another name stays an answer: the two can be merged.
    ada, dan = (
        server.post("/api/people", {"name": name, "sets": [one]})["person"]["number"]
        for name, one in (("Ada", a), ("Dan", d))
    )
    named = {one["set"]["key"]: one for one in server.post("/api/searches", {"set": a})["answers"]}
    assert (named[d]["set"]["person"]["number"], named[d]["verdict"]) == (dan, None)
    said = server("POST", "/api/judgements", {"query": a, "targets": [d], "verdict": "same"})
    assert (said.status, "merge these two people" in said.error) == (409, True)
    assert server("POST", f"/api/people/{dan}/merge", {"into": ada}).status == 200
    assert [one["key"] for one in server.post("/api/searches", {"set": a})["confirmed"]] == [d]


def test_some_faces_of_a_set_do_not_find_it_whatever_was_decided(server: Asker) -> None:
    key, other, third = (key_of(f"clip-{number:03d}") for number in (3, 7, 11))
    server.post("/api/judgements", {"query": key, "targets": [other], "verdict": "same"})
    server.post("/api/judgements", {"query": key, "targets": [third], "verdict": "different"})
    found = server.post("/api/searches", {"set": key, "faces": [2]})
    shown = [one["set"]["key"] for one in found["answers"] + found["baseline"]]
    assert not {key, other, third} & set(shown)
    assert found["total"] == 15
    target = found["answers"][0]["set"]["key"]
    asked = {"ask": {"set": key, "faces": [2]}, "target": target}
    assert server.post("/api/searches/evidence", asked)["answer"]["rank"] == 1


def test_evidence_tells_two_rankings_apart(server: Asker) -> None:
    """The rank shown is that with decisions; chains are of the ranking of whoever is asked with, alone."""
    key = key_of("clip-000")
    first, second = (one["set"]["key"] for one in server.post("/api/searches", {"set": key})["answers"][:2])
    server.post("/api/judgements", {"query": key, "targets": [first], "verdict": "same"})
    server.post("/api/judgements", {"query": key, "targets": [second], "verdict": "different"})
    search = open_search(server.parts.gallery)
    answers = server.post("/api/searches", {"set": key})["answers"]
    for one in answers[:6]:
        asked = {"ask": {"set": key}, "target": one["set"]["key"]}
        why = server.post("/api/searches/evidence", asked)
        told = search.explain(why["asked"]["id"], one["set"]["id"])
        assert (why["answer"]["rank"], why["rank_alone"]) == (one["rank"], told.answer.rank)
        assert [chain["rank_without"] for chain in why["chains"]] == [
            witness.rank_without for witness in told.witnesses
        ]
        alone = f"With {why['asked']['title']} alone as the query, and without decisions, it is answer"
        assert any(f"{alone} {told.answer.rank} of 17" in words for words in why["sentences"])


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
    with Gallery(server.parts.gallery.path) as gallery:
        assert sorted(one.name for one in judged(gallery).people.values()) == ["Ada", "Cleo"]
    words = [one["words"] for one in server.get("/api/judgements")["decisions"]]
    assert all(words)
    assert words[::-1] == [
        "2 clips show Ada.",
        "2 clips show Bea.",
        "1 clip shows Ada.",
        "Bea is called Bee now.",
        "Bee is the same person as Ada.",
        "2 clips were taken out of Ada and are called Cleo now.",
    ]
    for _ in words:
        server.post("/api/judgements/undo", {})
    assert server.get("/api/people") == {"people": []}


def test_every_change_of_people_says_which_decisions_it_made(server: Asker) -> None:
    """So that whoever made it can take just that back, whatever others decide meanwhile."""
    keys = [key_of(f"clip-{number:03d}") for number in range(4)]
    ada = server.post("/api/people", {"name": "Ada", "sets": keys[:2]})
    bea = server.post("/api/people", {"name": "Bea", "sets": keys[2:]})
    assert (ada["new"], bea["new"]) == ([1], [2])
    assert server.post("/api/people", {"name": "Ada", "sets": keys[:1]})["new"] == []
    first, second = (f"/api/people/{one['person']['number']}" for one in (ada, bea))
    assert server.post(f"{second}/rename", {"name": "Bee"})["new"] == [3]
    assert server.post(f"{second}/rename", {"name": "Bee"})["new"] == []
    assert server.post(f"{second}/merge", {"into": ada["person"]["number"]})["new"] == [4]
    assert server.post(f"{first}/split", {"sets": keys[3:]})["new"] == [5]
    assert server.post(f"{first}/split", {"sets": keys[2:3], "name": "Cleo"})["new"] == [6]
    assert "new" not in server.get(first)
    assert "new" not in server.get("/api/people")
    gone = server.post("/api/judgements/undo", {"numbers": [6, 5]})["decisions"]
    assert [one["words"] for one in gone] == [
        "1 clip was taken out of Ada and is called Cleo now.",
        "1 clip was taken out of Ada.",
    ]
    assert server.get(first)["person"]["sets"] == 4


@pytest.mark.parametrize("name", ["\u200b", "\u2800\u3164", "\u0301", "\u00ad \ufeff", "\u2066"])
def test_a_name_that_nobody_can_see_is_refused(server: Asker, name: str) -> None:
    keys = [key_of(f"clip-{number:03d}") for number in range(3)]
    refused = server("POST", "/api/people", {"name": name, "sets": keys[:1]})
    assert (refused.status, refused.error[:7]) == (400, "A name ")
    person = server.post("/api/people", {"name": "Ada", "sets": keys})["person"]["number"]
    for what, asked in (("rename", {"name": name}), ("split", {"name": name, "sets": keys[:1]})):
        assert server("POST", f"/api/people/{person}/{what}", asked).status == 400
    assert server.get(f"/api/people/{person}")["person"] | {"cover": None} == {
        "number": person,
        "name": "Ada",
        "sets": 3,
        "cover": None,
    }


def test_tables_open_in_spreadsheets_with_their_accents(server: Asker) -> None:
    """A spreadsheet knows UTF-8 by the mark in front; our own readers pass over it."""
    server.post("/api/people", {"name": "Zoë Ångström", "sets": [key_of("clip-000")]})
    for table, column in (("people", "person"), ("judgements", "number")):
        body = server("GET", f"/api/{table}.csv").body
        assert body.startswith(b"\xef\xbb\xbf" + column.encode() + b",")
        assert body.count(b"\xef\xbb\xbf") == 1
        [row] = csv.DictReader(io.StringIO(body.decode("utf-8-sig")))
        assert row["name"] == "Zoë Ångström"


def test_names_and_decisions_leave_as_tables(server: Asker) -> None:
    key = key_of("clip-000")
    server.post("/api/people", {"name": "=cmd|' /C calc'!A0", "sets": [key]})
    sheet = server("GET", "/api/people.csv")
    assert sheet.header("content-type") == "text/csv; charset=utf-8"
    assert sheet.header("content-disposition") == 'attachment; filename="people.csv"'
    assert "'=cmd|" in sheet.body.decode()
    assert server.get("/api/people.json")[0]["name"] == "=cmd|' /C calc'!A0"
    assert server.get("/api/judgements.json")[0]["what"] == "name"
    assert server("GET", "/api/judgements.csv").body.decode("utf-8-sig").startswith("number,made,what")


def test_a_person_who_is_not_there(server: Asker) -> None:
    for number in (1, 0, 2**53):
        assert server("GET", f"/api/people/{number}").status == 404
        assert server("POST", f"/api/people/{number}/rename", {"name": "Ada"}).status == 404
        assert server("POST", f"/api/people/{number}/merge", {"into": 5}).status == 404
    for wrong in ("-1", "x", str(2**53 + 1), "1.5"):
        assert server("GET", f"/api/people/{wrong}").status == 422
