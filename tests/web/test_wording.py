"""Sentences that hang on a count or a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike import Gallery
from lookalike.gallery.decision_log import draft
from lookalike.web.people import in_words
from lookalike.web.wording import counted, sentence
from tests.web.asking import asker


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
