"""Sentences that hang on a count or a name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from lookalike.decision import draft
from lookalike.ranking import Explanation
from lookalike.retrieval import Search
from lookalike.server.catalogue import key_of
from lookalike.server.deciding import in_words
from lookalike.server.wording import counted, sentence
from tests.server.asking import asker


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("there is no such set: see the list", "There is no such set: see the list"),
        ("sorry, not now", "Sorry, not now"),
        ("no", "No"),
        ("", ""),
        ("This is a sentence.", "This is a sentence."),
        ("img.jpg is not a photo", "img.jpg is not a photo"),
        ("'img.jpg' is not a photo", "'img.jpg' is not a photo"),
        ("clip-007 is not there", "clip-007 is not there"),
        ("p0/v0 is not there", "p0/v0 is not there"),
        ("/films/a.mp4 is gone", "/films/a.mp4 is gone"),
        ("größe.jpg is not a photo", "größe.jpg is not a photo"),
        ("iPhone is not a photo", "iPhone is not a photo"),
        ("archive is damaged", "archive is damaged"),
    ],
)
def test_a_capital_is_for_words_and_not_for_names(given: str, said: str) -> None:
    assert sentence(given, Path("archive")) == said


def test_what_is_refused_names_files_and_fields_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Gallery(Path("archive"), create=True).close()
    with asker(Path("archive")) as server:
        assert server("POST", "/api/searches", {"set": "0" * 16}).error.startswith("archive holds no sets")
        assert server("GET", "/api/sets?sort=sideways").error.startswith("'sort' is not right: ")
        assert server("GET", "/api/people/1").error.startswith("There is no such person")
        assert b"&#39;sort&#39; in this address" in server("GET", "/?sort=sideways").body


@pytest.mark.parametrize(
    ("sets", "named", "parted"),
    [
        (1, "1 clip shows Ada.", "1 clip was taken out of Bo and is called Ada now."),
        (2, "2 clips show Ada.", "2 clips were taken out of Bo and are called Ada now."),
        (1200, "1,200 clips show Ada.", "1,200 clips were taken out of Bo and are called Ada now."),
    ],
)
def test_one_and_many(sets: int, named: str, parted: str) -> None:
    ids = tuple(map(str, range(sets)))
    assert in_words(draft("name", ids, None, "Ada"), {}) == named
    assert in_words(draft("split", ids, 1, "Ada"), {1: "Bo"}) == parted
    assert in_words(draft("split", ids[:1], 1), {1: "Bo"}) == "1 clip was taken out of Bo."
    assert in_words(draft("rename", (), 1, "Bobby"), {1: "Bobby"}, "Bo") == "Bo is called Bobby now."


def test_counts() -> None:
    assert [counted(number, "clip") for number in (0, 1, 2, 1000)] == [
        "0 clips",
        "1 clip",
        "2 clips",
        "1,000 clips",
    ]


@pytest.mark.parametrize("most", [0, 1, 99])
def test_kin_are_counted_once_and_in_grammar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    rng = np.random.default_rng(0)
    people = rng.normal(size=(12, 64))
    with Gallery(tmp_path / "g", create=True) as gallery:
        for number in range(60):
            gallery.add(FaceSet(f"clip-{number:02d}", people[number % 12] + rng.normal(size=(4, 64))))
    explain = Search.explain

    def with_few_kin(self: Search, query: str | FaceSet, target: str) -> Explanation:
        told = explain(self, query, target)
        kin = [one for one in told.relatives if one.kind == "kin"]
        strangers = [one for one in told.relatives if one.kind != "kin"]
        return replace(told, relatives=(*kin[:most], *strangers))

    monkeypatch.setattr(Search, "explain", with_few_kin)
    ask = {"set": key_of("clip-00"), "reranker": "adaptive"}
    with asker(tmp_path / "g") as server:
        target = server.post("/api/searches", ask)["answers"][0]["set"]["key"]
        told = server.post("/api/searches/evidence", {"ask": ask, "target": target})
    kin = [one["set"]["key"] for one in told["relatives"] if one["kind"] == "kin"]
    many = len(set(kin))
    pooled = {
        0: "",
        1: ", and 1 clip that seems to show one of the two people was asked too",
        99: f", and {many} clips that seem to show one of the two people were asked too",
    }[most]
    assert any(line.endswith(f"{told['rank_before_kin']}{pooled}.") for line in told["sentences"])
    assert not any(" set" in line for line in told["sentences"])
    assert most < 99 or 1 < many < len(kin)
