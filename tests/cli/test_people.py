"""`lookalike people`: who is proposed, one answer, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike import Gallery
from tests.cli_process import run, works
from tests.small_world import small_world


@pytest.fixture
def gallery(tmp_path: Path) -> Path:
    path = tmp_path / "g.gallery"
    with Gallery(path, create=True) as opened:
        opened.add_together(small_world(6, 6, dimension=24, spread=0.5)[0])
    return path


def test_people_are_told_answered_and_told_again(gallery: Path, tmp_path: Path) -> None:
    told = works("people", gallery, "--json", cwd=tmp_path).json
    assert set(told) == {"people", "pairs"}
    first, second, third = told["people"][:3]
    assert {"name", "proposed", "sets", "unsure", "probability"} <= set(first)
    assert (first["name"], first["proposed"]) == (None, True)
    counts = [len(one["sets"]) for one in told["people"]]
    assert counts == sorted(counts, reverse=True)
    named = works("people", gallery, "--yes", first["handle"], "--name", "Ann", "--json", cwd=tmp_path).json
    [ann] = (one for one in named["people"] if one["name"] == "Ann")
    assert (ann["sets"], ann["proposed"], ann["probability"]) == (first["sets"], False, 1.0)
    works("people", gallery, "--yes", second["sets"][-1], cwd=tmp_path)
    after = works("people", gallery, "--no", third["handle"], "--json", cwd=tmp_path).json["people"]
    assert [
        one for one in after if one["sets"] == second["sets"] and not one["proposed"] and one["name"] is None
    ]
    assert not [one for one in after if len(set(one["sets"]) & set(third["sets"])) > 1]
    table = works("people", gallery, cwd=tmp_path).out
    for who in ("Ann", "no name", "proposed"):
        assert who in table
    assert "the same" in works("people", gallery, "--pairs", cwd=tmp_path).out
    with Gallery(gallery) as opened:
        assert [one.kind for one in opened.decisions()] == ["name", "join", "reject"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--yes", "nowhere"], 4, "nobody is known or proposed whom 'nowhere' shows"),
        (["--yes", "a", "--no", "b"], 3, "--yes and --no are two answers"),
        (["--name", "Ann"], 3, "--name goes with --yes"),
    ],
)
def test_what_is_refused(gallery: Path, tmp_path: Path, words: list[str], code: int, sentence: str) -> None:
    ended = run("people", gallery, *words, cwd=tmp_path)
    assert (ended.code, sentence in ended.err) == (code, True), ended.err
    with Gallery(gallery) as opened:
        assert opened.decisions() == []
