"""Why an answer is where it is, where kin are asked too: every step is told, and nobody twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from lookalike.search.explain import Explanation, Relative
from lookalike.search.query import Search
from lookalike.web.catalogue import key_of
from lookalike.web.evidence import effect, listed
from lookalike.web.models import EvidenceView
from tests.web.asking import Asker, asker

QUERY = key_of("clip-00")
ASK = {"set": QUERY, "reranker": "adaptive"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asker]:
    """Four clips of each of fifteen people, each in another light, so that strangers and kin have a say."""
    rng = np.random.default_rng(0)
    people, lights = rng.normal(size=(15, 64)), 1.5 * rng.normal(size=(5, 64))
    with Gallery(tmp_path / "g", create=True) as gallery:
        for number in range(60):
            faces = people[number % 15] + lights[number // 15] + rng.normal(size=(4, 64))
            gallery.add(FaceSet(f"clip-{number:02d}", faces))
    with asker(tmp_path / "g") as made:
        yield made


def why(server: Asker, target: str) -> dict[str, Any]:
    told = server.post("/api/searches/evidence", {"ask": ASK, "target": target})
    assert isinstance(told, dict)
    return told


def answers(server: Asker) -> list[dict[str, Any]]:
    return list(server.post("/api/searches", ASK)["answers"])


@pytest.mark.parametrize("most", [1, 99])
def test_kin_are_counted_in_grammar(server: Asker, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    explain = Search.explain

    def with_few_kin(self: Search, query: str | FaceSet, target: str) -> Explanation:
        told = explain(self, query, target)
        kin = [one for one in told.relatives if one.kind == "kin"][:most]
        others = [one for one in told.relatives if one.kind != "kin"]
        influences = [
            replace(one, others=most - len(kin) if one.kind == "kin" else one.others)
            for one in told.influences
        ]
        return replace(told, relatives=(*kin, *others), influences=tuple(influences))

    monkeypatch.setattr(Search, "explain", with_few_kin)
    told = why(server, answers(server)[0]["set"]["key"])
    said = {
        1: "Then 1 clip that may show one of the two people was asked too, which ",
        99: "Then 99 clips that may show one of the two people were asked too, which ",
    }[most]
    assert any(line.startswith(said) for line in told["sentences"])
    assert not any(" set" in line for line in told["sentences"])


def test_every_step_is_told_up_to_the_place_that_the_answer_has(server: Asker) -> None:
    moved = 0
    for one in answers(server)[:20]:
        told = why(server, one["set"]["key"])
        places = [re.findall(r"answer (\d+)\.$", line) for line in told["sentences"]]
        steps = [int(found[0]) for found in places if found]
        on_the_way = [told["rank_before_kin"], told["rank_before_lists"]]
        assert steps == [one["baseline_rank"], *on_the_way, one["rank"]]
        moved += told["rank_before_kin"] != one["rank"]
        for line in told["sentences"]:
            assert "makes" not in line or "leaves" not in line
    assert moved


def test_what_the_page_shows_adds_up_to_the_score(server: Asker) -> None:
    """The sum, and every list to its term: as people add up what they read."""
    names = set()
    for one in answers(server)[:20]:
        key = one["set"]["key"]
        told = why(server, key)
        assert sum(term["moved"] for term in told["terms"]) == pytest.approx(told["score"], abs=1e-9)
        amounts = {term["kind"]: number(term["amount"]) for term in told["terms"]}
        assert sum(amounts.values()) == pytest.approx(round(told["score"], 3), abs=1e-9)
        assert [*amounts] == ["alone", "everybody", "stranger", "kin", "neighbour", "mutual"]
        page = server("GET", f"/sets/{QUERY}/why/{key}?stage=adaptive").body.decode()
        for term in told["terms"]:
            assert f'<dd class="number">{term["amount"]}</dd>' in page
        assert f"<b>{told['score']:.3f}</b>" in page
        for group in listed(EvidenceView.model_validate(told)):
            assert f'<h2 id="{group.name}">{group.title}</h2>' in page
            said = [row.words for row in group.rows] + [group.rest] * bool(group.rest)
            assert sum(map(done, said)) == pytest.approx(amounts[group.name], abs=1e-9)
            names.add(group.name)
    assert names == {"kin", "neighbour", "stranger"}


def number(amount: str) -> float:
    return float(amount.replace("\N{MINUS SIGN}", "-"))


def done(words: str) -> float:
    [(verb, amount)] = re.findall(r"(raised|lowered) the score by (\d\.\d{3})$", words)
    return float(amount) if verb == "raised" else -float(amount)


def test_nobody_is_both_somebody_else_and_the_same_person(server: Asker) -> None:
    for one in answers(server):
        told = EvidenceView.model_validate(why(server, one["set"]["key"]))
        shown = {group.name: [row.set.key for row in group.rows] for group in listed(told)}
        assert all(len(keys) == len(set(keys)) for keys in shown.values())
        assert not set(shown.get("kin", [])) & set(shown.get("stranger", []))
    page = server("GET", f"/sets/{QUERY}/why/{one['set']['key']}?stage=adaptive").body.decode()
    assert "its face most like who you asked for" in page
    assert "this one" not in page


def test_what_somebody_did_is_told_in_words() -> None:
    kin = Relative("a", "kin", "query", 0.83, -0.285, 0, 0, 0, 0)
    asked = "who you asked for"
    assert effect(kin, -0.285, asked, (), ()) == (
        "83 % likely the same as who you asked for; is not so like the answer: lowered the score by 0.285"
    )
    assert effect(replace(kin, of="target"), 0.1, asked, ["a"], ()) == (
        "83 % likely the same as the answer; is like who you asked for too: raised the score by 0.100"
    )
    assert effect(kin, -0.285, "clip-3", ["a"], ()).startswith(
        "you said it is the same person (83 % likely by its faces alone); is not so like the answer"
    )
    said = effect(kin, -0.285, asked, (), ["a"])
    assert said.startswith("you said it is somebody else (83 % likely the same")
    stranger = replace(kin, kind="stranger", chance=None)
    assert effect(stranger, -0.285, asked, (), ()) == (
        "looks like who you asked for, like the answer too: lowered the score by 0.285"
    )
    assert effect(replace(stranger, of="both"), -0.2, asked, (), ()) == (
        "looks like both, so being alike says less: lowered the score by 0.200"
    )
    neighbour = replace(stranger, kind="neighbour", of="both")
    assert effect(neighbour, 0.02, asked, (), ()) == "found near both: raised the score by 0.020"


def test_the_query_is_never_likely_to_be_itself(server: Asker) -> None:
    """Asked through a confirmed clip, the query may be kin of that clip: the user said so."""
    first = answers(server)[0]["set"]["key"]
    server.post("/api/judgements", {"query": QUERY, "targets": [first], "verdict": "same"})
    found = 0
    for one in answers(server)[:20]:
        told = why(server, one["set"]["key"])
        for each in told["relatives"]:
            if each["set"]["key"] == QUERY and (each["kind"], each["of"]) == ("kin", "query"):
                assert each["words"].startswith("you said it is the same person (")
                found += 1
    assert found


def test_the_five_numbers_are_told_in_the_words_of_the_page(server: Asker) -> None:
    ask = {"set": QUERY, "reranker": "learnt"}
    target = server.post("/api/searches", ask)["answers"][0]["set"]["key"]
    told = server.post("/api/searches/evidence", {"ask": ask, "target": target})
    meanings = [one["meaning"] for one in told["chains"][0]["numbers"]]
    assert meanings[2] == "the go-between and the answer are alike"
    assert not re.search("proxy|target|query", " ".join(meanings))
