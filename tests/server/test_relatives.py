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
from lookalike.ranking import Explanation, Relative
from lookalike.retrieval import Search
from lookalike.server.catalogue import key_of
from lookalike.server.models import EvidenceView
from lookalike.server.relatives import LEAST, effect, listed
from tests.server.asking import Asker, asker

QUERY = key_of("clip-00")
ASK = {"set": QUERY, "reranker": "adaptive"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asker]:
    """Five clips of each of twelve people, who look so alike that kin change the order."""
    rng = np.random.default_rng(0)
    people = rng.normal(size=(12, 64))
    with Gallery(tmp_path / "g", create=True) as gallery:
        for number in range(60):
            gallery.add(FaceSet(f"clip-{number:02d}", people[number % 12] + 1.5 * rng.normal(size=(4, 64))))
    with asker(tmp_path / "g") as made:
        yield made


def why(server: Asker, target: str) -> dict[str, Any]:
    told = server.post("/api/searches/evidence", {"ask": ASK, "target": target})
    assert isinstance(told, dict)
    return told


def answers(server: Asker) -> list[dict[str, Any]]:
    return list(server.post("/api/searches", ASK)["answers"])


@pytest.mark.parametrize("most", [0, 1, 99])
def test_kin_are_counted_once_and_in_grammar(
    server: Asker, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    explain = Search.explain

    def with_few_kin(self: Search, query: str | FaceSet, target: str) -> Explanation:
        told = explain(self, query, target)
        kin = [one for one in told.relatives if one.kind == "kin" and (one.chance or 0.0) >= LEAST]
        strangers = [one for one in told.relatives if one.kind != "kin"]
        return replace(told, relatives=(*kin[:most], *strangers))

    monkeypatch.setattr(Search, "explain", with_few_kin)
    told = why(server, answers(server)[0]["set"]["key"])
    kin = [one["set"]["key"] for one in told["relatives"] if one["kind"] == "kin"]
    many = len(set(kin))
    said = {
        0: "",
        1: "Then 1 clip that may show one of the two people was asked too, which ",
        99: f"Then {many} clips that may show one of the two people were asked too, which ",
    }[most]
    assert any(line.startswith(said) for line in told["sentences"])
    assert not any(" set" in line for line in told["sentences"])
    assert most < 99 or 1 < many < len(kin)


def test_every_step_is_told_up_to_the_place_that_the_answer_has(server: Asker) -> None:
    moved = 0
    for one in answers(server)[:20]:
        told = why(server, one["set"]["key"])
        places = [re.findall(r"answer (\d+)\.$", line) for line in told["sentences"]]
        steps = [int(found[0]) for found in places if found]
        assert steps == [one["baseline_rank"], told["rank_before_kin"], one["rank"]]
        moved += told["rank_before_kin"] != one["rank"]
        for line in told["sentences"]:
            assert "makes" not in line or "leaves" not in line
    assert moved


def test_nobody_is_listed_twice(server: Asker) -> None:
    both = 0
    for one in answers(server):
        told = why(server, one["set"]["key"])
        kin, strangers = (
            {each["set"]["key"] for each in told["relatives"] if each["kind"] == kind}
            for kind in ("kin", "stranger")
        )
        both += bool(kin & strangers)
        shown = [row.set.key for group in listed(EvidenceView.model_validate(told)) for row in group.rows]
        assert len(shown) == len(set(shown))
    assert both
    page = server("GET", f"/sets/{QUERY}/why/{one['set']['key']}?stage=adaptive").body.decode()
    assert "Nobody stands in both lists" in page
    assert "its face most like who you asked for" in page
    assert "this one" not in page


def test_what_somebody_did_is_told_in_words() -> None:
    kin = Relative("a", "kin", "query", 0.83, -0.285, 0, 0, 0, 0)
    asked = "who you asked for"
    assert effect(kin, asked, (), ()) == (
        "83 % likely the same as who you asked for; fits less well with the answer: "
        "lowered the score by 0.285"
    )
    assert effect(replace(kin, of="target", moved=0.1), asked, ["a"], ()) == (
        "83 % likely the same as the answer; fits with who you asked for: raised the score by 0.100"
    )
    assert effect(kin, "clip-3", ["a"], ()).startswith(
        "you said it is the same person (83 % likely by its faces alone); fits less well"
    )
    assert effect(kin, asked, (), ["a"]).startswith("you said it is somebody else (83 % likely the same")
    stranger = replace(kin, kind="stranger", chance=None)
    assert effect(stranger, asked, (), ()) == (
        "looks like who you asked for, like the answer too: lowered the score by 0.285"
    )


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
