"""One truth: the same questions through the command line, Python and the page have the same answers."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lookalike import Gallery, find, open_gallery, open_search
from lookalike.cli.app import app
from lookalike.errors import Conflict, LookalikeError, NotFound
from lookalike.gallery.decisions import judge, judged, name, undo
from lookalike.search.decided import NOTHING, known_of
from tests.small_world import small_world
from tests.web.asking import Asker, asker

TOP = 8


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten people of three sets each; two of different people were seen side by side, and more is decided."""
    path = tmp_path_factory.mktemp("truth") / "g.gallery"
    sets, labels = small_world(people=10, sets=3)
    by_person: dict[str, list[str]] = {}
    for one in sets:
        by_person.setdefault(labels[one.id], []).append(one.id)
    ana, ben, eve, flo, *_ = (sorted(ids) for ids in by_person.values())
    with Gallery(path, create=True) as gallery:
        gallery.add_together(sets, [(ana[0], ben[0]), (flo[1], eve[2])])
        for one in ana:
            name(gallery, [one], "Ana")
        judge(gallery, ben[0], [ben[1]], "same")
        judge(gallery, eve[0], [eve[1], flo[0]], "different")
        judge(gallery, eve[0], [ben[2]], "unsure")
    return path


@pytest.fixture(scope="module")
def page(path: Path) -> Iterator[Asker]:
    with asker(path) as made:
        made.done(made.post("/api/jobs", {"kind": "index"})["number"])
        yield made


def commanded(*words: object) -> Any:
    """What a command prints as JSON."""
    said = CliRunner().invoke(app, [*map(str, words), "--json"], catch_exceptions=False)
    assert said.exit_code == 0, said.output
    return json.loads(said.stdout)


def refused(*words: object) -> LookalikeError:
    """Why a command refuses."""
    said = CliRunner().invoke(app, list(map(str, words)))
    assert isinstance(said.exception, LookalikeError), said.output
    return said.exception


def rows(answers: Any) -> list[tuple[str, int, float | None]]:
    return [(one["id"], one["rank"], one["probability"]) for one in answers]


@pytest.mark.parametrize("plain", [False, True])
def test_twenty_questions_have_the_same_answers_through_every_door(
    path: Path, page: Asker, plain: bool
) -> None:
    keys = page.keys()
    with open_gallery(path) as gallery:
        ids, search = gallery.ids()[:20], open_search(gallery)
        many = list(search.find_many(ids, TOP, decisions=not plain))
        told = judged(gallery)
    decided = 0
    for query, ranking in zip(ids, many, strict=True):
        # The gallery was closed since: what is decided is read all the same.
        assert search.find(query, TOP, decisions=not plain) == ranking
        python = ranking.to_dict()
        command = commanded("find", path, query, "--top", TOP, *(["--plain"] if plain else []))
        shown = page.post("/api/searches", {"set": keys[query], "top": TOP, "decisions": not plain})
        seen = [one | {"id": one["set"]["id"]} for one in shown["answers"]]
        assert rows(python["answers"]) == rows(command["answers"]) == rows(seen)
        for known, expected in (("confirmed", told.confirmed(query)), ("rejected", told.rejected(query))):
            if plain:
                expected = []
            assert [one["id"] for one in python[known]] == [one["id"] for one in command[known]] == expected
            assert [one["id"] for one in shown[known]] == expected
            reasons = [one["reason"] for one in python[known]]
            assert reasons == [one["reason"] for one in command[known]]
            assert reasons == [shown["reasons"][one["key"]] for one in shown[known]]
            assert all(reasons)
            assert not {one["id"] for one in command["answers"]} & set(expected)
            decided += len(expected)
        assert shown["reading"] == ranking.reading
    assert bool(decided) is not plain


def test_a_decision_of_a_moment_ago_counts_through_every_door(
    path: Path, page: Asker, tmp_path: Path
) -> None:
    with open_gallery(path) as gallery:
        ids = gallery.ids()
        search = open_search(gallery)
        query = next(one for one in ids if known_of(gallery, one) == NOTHING)
        other = search.find(query, 1).ids[0]
        commanded("judge", path, query, other, "different")
        key = page.keys()[query]
        for found in (
            search.find(query).ids,
            find(query, gallery).ids,
            [one["id"] for one in commanded("find", path, query, "--top", 99)["answers"]],
            [one["set"]["id"] for one in page.post("/api/searches", {"set": key})["answers"]],
        ):
            assert other not in found
            assert len(found) == len(ids) - 2
        commanded("find", path, query, "--top", 99, "--export", tmp_path / "answers.csv")
        with (tmp_path / "answers.csv").open(newline="", encoding="utf-8-sig") as stream:
            assert [row["set"] for row in csv.DictReader(stream)] == search.find(query).ids
        why = search.explain(query, other)
        assert (why.verdict, why.reason[:21]) == ("different", "you said different on")
        said = CliRunner().invoke(app, ["explain", str(path), query, other]).stdout
        assert said.startswith(
            f"{other} is no answer for {query}: it is known to show somebody else (you said"
        )
        target = page.keys()[other]
        evidence = page.post("/api/searches/evidence", {"ask": {"set": key}, "target": target})
        assert "is no answer: it shows somebody else (you said different" in evidence["sentences"][0]
        assert search.explain(query, other, decisions=False).verdict is None
        assert commanded("undo", path)["undone"]["kind"] == "different"
        assert search.find(query, 1).ids == [other]


def test_who_is_seen_side_by_side_is_no_answer_to_the_other(path: Path, page: Asker) -> None:
    with open_gallery(path) as gallery:
        pairs, told = gallery.apart(), judged(gallery)
    assert pairs
    for one, other in (*pairs, *(pair[::-1] for pair in pairs)):
        found = commanded("find", path, one, "--top", 99)
        assert other not in [each["id"] for each in found["answers"]]
        [reason] = [each["reason"] for each in found["rejected"] if each["id"] == other]
        assert reason == "seen in one picture"
        # Nor is anybody who is known to be the other.
        assert {*told.confirmed(other)} <= {each["id"] for each in found["rejected"]}


def test_an_explanation_has_the_place_that_find_gives(path: Path) -> None:
    with open_gallery(path) as gallery:
        search = open_search(gallery)
        query = judged(gallery).people[next(iter(judged(gallery).people))].sets[0]
        ranking = search.find(query)
        for answer in ranking[:5]:
            why = search.explain(query, answer.id)
            assert (why.ranked, why.among, why.verdict) == (answer, ranking.total, None)
            assert why.asked in (query, *(one.id for one in ranking.confirmed))
        same = search.explain(query, ranking.confirmed[0].id)
        assert (same.verdict, same.reason) == ("same", "named Ana")
        assert search.explain(query, ranking.ids[0], decisions=False).ranked is None


# A person, and several sets, as one question.


def test_a_person_asks_with_every_set(path: Path) -> None:
    with open_gallery(path) as gallery:
        sets = next(iter(judged(gallery).people.values())).sets
        by_name = commanded("find", path, "--person", "ANA")
        assert {by_name["query"], *(one["id"] for one in by_name["confirmed"])} == set(sets)
        first, *others = sets
        with_all = commanded("find", path, first, *others)
        assert rows(with_all["answers"]) == rows(by_name["answers"])
        assert with_all["rejected"] == commanded("find", path, first)["rejected"]
        alone = next(one for one in gallery.ids() if known_of(gallery, one) == NOTHING)
        name(gallery, [alone], "Once")
        assert rows(commanded("find", path, "--person", "Once")["answers"]) == rows(
            commanded("find", path, alone)["answers"]
        )
        undo(gallery)
    said = refused("find", path, "--person", "Anna")
    assert isinstance(said, NotFound)
    assert "did you mean 'Ana'" in str(said)


def test_sets_of_two_people_are_no_question(path: Path) -> None:
    with open_gallery(path) as gallery:
        one, other = gallery.apart()[0]
    said = refused("find", path, one, other)
    assert isinstance(said, Conflict)
    assert "is known to show somebody else" in str(said)
    assert commanded("find", path, one, other, "--plain")["confirmed"][0]["id"] == other
    both = commanded("find", path, one, other, "--each")["rankings"]
    assert [each["query"] for each in both] == [one, other]


def test_bad_questions_are_refused_in_a_sentence(path: Path) -> None:
    with open_gallery(path) as gallery:
        one, other, *_ = gallery.ids()
    for words, sentence in (
        ([one, other, "--face", 1], "--set and --face choose in one QUERY, and 2 are given"),
        ([one, other, "--at", "3"], "--at chooses in a video"),
        ([one, "nobody"], "nor is 'nobody' a file or folder"),
        ([one, "--each", "--person", "Ana"], "--each asks several questions"),
    ):
        assert sentence in str(refused("find", path, *words))


# Deciding on the command line.


def test_judge_name_and_undo_are_in_the_history(tmp_path: Path) -> None:
    path = tmp_path / "g.gallery"
    with Gallery(path, create=True) as gallery:
        for one in small_world(people=3, sets=3)[0]:
            gallery.add(one)
        a, b, c, *_ = gallery.ids()
    assert commanded("judge", path, a, b, "same")["new"]
    assert not commanded("judge", path, a, b, "same")["new"]
    made = commanded("name", path, a, "Ana")
    assert (made["person"]["sets"], made["decision"]["kind"]) == ([a, b], "name")
    assert commanded("name", path, b, "ana")["decision"] is None
    assert commanded("undo", path)["undone"]["kind"] == "name"
    assert commanded("undo", path)["undone"]["kind"] == "same"
    with pytest.raises(NotFound, match="there is nothing to undo"):
        raise refused("undo", path)
    with pytest.raises(Conflict, match="undone already"):
        raise refused("undo", path, "--decision", 1)
    with pytest.raises(Conflict, match="took another back, which is final: decide anew"):
        raise refused("undo", path, "--decision", 3)
    kinds = [one["kind"] for one in commanded("history", path)["history"]]
    assert kinds == ["same", "name", "undo", "undo"]
    assert "from 1 to 200 letters, got 300" in str(refused("name", path, a, 300 * "x"))
    assert "a verdict is one of same, different, unsure" in str(refused("judge", path, a, c, "perhaps"))
    assert "cannot be compared with itself" in str(refused("judge", path, a, a, "same"))
    assert "has no set 'nobody'" in str(refused("name", path, "nobody", "Ana"))
    assert len(commanded("history", path)["history"]) == 4


def test_two_pages_that_decide_at_once_both_count(tmp_path: Path) -> None:
    path = tmp_path / "g.gallery"
    with Gallery(path, create=True) as gallery:
        for one in small_world(people=8, sets=3)[0]:
            gallery.add(one)
        query, *others = gallery.ids()
    halves = (others[::2], others[1::2])

    def decide(some: list[str]) -> None:
        with open_gallery(path) as gallery:
            for one in some:
                judge(gallery, query, [one], "different")

    threads = [threading.Thread(target=decide, args=(some,)) for some in halves]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    with open_gallery(path) as gallery:
        ranking = find(query, gallery)
    assert [one.id for one in ranking.rejected] == others
    assert (len(ranking), ranking.reading) == (0, "No set is left to compare: all others are decided.")
