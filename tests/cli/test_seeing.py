"""`find` with filters and two people, `list --files` with dates: as processes, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike import Gallery
from lookalike.gallery import decisions
from tests.cli_process import run, works
from tests.gallery.samples import a_file, a_set, sightings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two films: in one a and b at the same time, then c; in the other a person of another year."""
    folder = tmp_path_factory.mktemp("seeing")
    with Gallery(folder / "g", create=True) as gallery:
        first = [
            a_set(name, number, sightings=sightings(3, start))
            for number, (name, start) in enumerate([("a", 0.0), ("b", 0.5), ("c", 10.0)])
        ]
        gallery.keep_file(a_file("party.mp4", captured="2019-07-14T10:30:05+00:00"), first)
        gallery.keep_file(a_file("old.mp4", captured=""), [a_set("d", 4, sightings=sightings())])
        with gallery.deciding() as log:
            decisions.name(log, ["b", "c"], "Bo Berg")
    return folder


def test_answers_are_filtered_and_keep_their_ranks(folder: Path) -> None:
    whole = works("find", "g", "a", "--json", cwd=folder).json
    assert "filtered_out" not in whole
    some = works("find", "g", "a", "--from", "2019", "--to", "2019-07", "--json", cwd=folder).json
    kept = [one for one in whole["answers"] if one["id"] != "d"]
    assert some["answers"] == kept
    assert kept[0]["captured"] == ["2019-07-14T10:30:05+00:00"]
    assert (some["filtered_out"], some["total"]) == (1, whole["total"])
    said = works("find", "g", "a", "--file", "OLD", cwd=folder).out
    assert "2 answers are left out by date, file or quality" in said
    assert " d " in said


def test_where_two_are_seen(folder: Path) -> None:
    told = works("find", "g", "a", "--with", "bo  berg", "--json", cwd=folder).json
    assert told == {
        "places": [
            {
                "file": "/films/party.mp4",
                "kind": "video",
                "start": 0.5,
                "end": 1.0,
                "captured": "2019-07-14T10:30:05+00:00",
                "sets": ["a", "b"],
                "probability": 1.0,
            }
        ]
    }
    said = works("find", "g", "Bo Berg", "--without", "a", cwd=folder).out
    assert "00:00:01.0 - 00:00:01.5" in said
    assert "00:00:10.0 - 00:00:11.0" in said
    assert "2 places: 2 in videos, 0 in photos" in said
    assert "0 places" in works("find", "g", "d", "--with", "a", cwd=folder).out
    assert "1 place: 1 in videos" in works("find", "g", "a", "--with", "Bo Berg", cwd=folder).out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["a", "--from", "yesterday"], "a date is written as 2019-07-14, 2019-07 or 2019, got 'yesterday'"),
        (["a", "--from", "2020", "--to", "2019"], "no day is both from 2020 on and up to 2019"),
        (["a", "--quality", "best"], "a quality is one of any, good, got 'best'"),
        (["a", "--with", "b", "--without", "d"], "ask two questions: give one of them"),
        (["a", "--with", "b", "--file", "x"], "list places: leave --from"),
        (["b", "--with", "Bo Berg"], "both are the same person, as 'b' shows"),
        (["a", "--with", "nobody"], "nor is 'nobody' a file or folder"),
    ],
)
def test_what_is_refused(folder: Path, options: list[str], says: str) -> None:
    before = (folder / "g").read_bytes()
    ended = run("find", "g", *options, cwd=folder)
    assert ended.code in (2, 3, 4)
    assert says in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert (folder / "g").read_bytes() == before


def test_files_tell_when_they_were_taken(folder: Path) -> None:
    files = works("list", "g", "--files", "--json", cwd=folder).json["files"]
    assert [one["captured"] for one in files] == [None, "2019-07-14T10:30:05+00:00"]
    assert "2019-07-14 10:30:05+00:00" in works("list", "g", "--files", cwd=folder).out
