"""Export and import at the command line: formats, refusals with their codes, nothing half written."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from lookalike import Gallery
from lookalike.gallery import decisions
from tests.cli_process import Ready, tree
from tests.exchange.samples import face_set, media, seen, write_film, write_photo
from tests.exchange.test_xmp import STORED, at, marked

USAGE, BAD, MISSING, STORAGE = 2, 3, 4, 7


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    process = Ready()
    yield process
    process.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A gallery of a film with two people, one of them Ada, and a photo in which somebody marked Grace."""
    film = write_film(tmp_path / "film.mov", Fraction(25), code="10:00:00:00")
    photo = marked(write_photo(tmp_path / "photo.jpg", STORED), at(STORED, "Grace"))
    with Gallery(tmp_path / "g", create=True) as gallery:
        sets = [face_set(f"film.mov#{n}", [seen(time=0.4 * n), seen(time=0.4 * n + 0.2)]) for n in (1, 2)]
        gallery.keep_file(media(film), sets)
        gallery.keep_file(media(photo, "photo"), [face_set("photo.jpg#1", [seen(STORED)], ["photo.jpg"])])
        decisions.name(gallery, ["film.mov#2"], "Ada")
    return tmp_path


def test_export_in_every_format(folder: Path, ready: Ready) -> None:
    assert ready.works("export", "g", "old.npz", cwd=folder).out == "3 sets written to old.npz\n"
    ended = ready.works("export", "g", "--format", "edl", "--out", "x", "--person", "ada", cwd=folder)
    assert ended.out == "1 set written to x\n"
    assert "10:00:00:20 10:00:01:01 01:00:00:00 01:00:00:06" in (folder / "x").read_text()
    ready.works("export", "g", "some.csv", "film.mov#1", "photo.jpg#1", cwd=folder)
    with (folder / "some.csv").open(encoding="utf-8-sig") as file:
        assert [row["set"] for row in csv.DictReader(file)] == ["film.mov#1", "photo.jpg#1"]
    # With --out, all words are sets.
    ready.works("export", "g", "film.mov#1", "--out", "one.json", cwd=folder)
    assert len(json.loads((folder / "one.json").read_text())["appearances"]) == 1
    told = ready.works("export", "g", "x.vtt", "--json", cwd=folder)
    remark = "left out, as they have no times: 1 in photos or unknown files"
    assert told.json == {"sets": 3, "appearances": 3, "files": 1, "file": "x.vtt", "remarks": [remark]}
    assert remark in told.err
    for format in ("parquet", "markers", "otio", "xmp", "html"):
        ready.works("export", "g", "--out", f"all.{format}", "--format", format, "-q", cwd=folder)
    assert (folder / "all.xmp" / "photo.jpg.xmp").is_file()


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("export g", USAGE, "say which file to write"),
        ("export g x --format xls", BAD, "there is no format 'xls'"),
        ("export g x.csv --person Eve", MISSING, "knows nobody called 'Eve'"),
        ("export g x.csv nobody", MISSING, "has no set 'nobody'"),
        ("export g x.csv --person Ada film.mov#1", BAD, "leave SET and --pictures out"),
        ("export g x.csv --pictures y", BAD, "--pictures goes with --format npz"),
        ("export g x.npz --rate 25", BAD, "--rate and --start are about time codes"),
        ("export g x.edl photo.jpg#1", BAD, "none of the chosen sets is of a video"),
        ("export g film.mov#1 --out film.mov --format csv", BAD, "film.mov is there already"),
        ("export g nowhere/x.csv", STORAGE, "cannot be written"),
        ("find g film.mov#1 --export x.txt", BAD, "the suffix of 'x.txt' is of no format"),
        ("find g film.mov#1 --export x.npz", BAD, "answers are not written as npz"),
        ("find g film.mov#1 --format csv", BAD, "--format is about --export"),
        ("find g film.mov#1 --export film.mov --format csv", BAD, "film.mov is there already"),
        ("find g film.mov#1 --export nowhere/x.csv", MISSING, "the folder of nowhere/x.csv does not exist"),
        ("import g missing", MISSING, "there is no file or folder 'missing'"),
    ],
)
def test_refusals(command: str, code: int, says: str, folder: Path, ready: Ready) -> None:
    before = tree(folder)
    ended = ready.run(*command.split(), cwd=folder)
    assert ended.code == code, ended
    assert says in ended.err
    assert "Traceback" not in ended.err
    assert tree(folder) == before


def test_the_answers_of_a_query(folder: Path, ready: Ready) -> None:
    ended = ready.works(
        "find", "g", "film.mov#1", "--reranker", "baseline", "--export", "answers.csv", cwd=folder
    )
    assert "the answers are in answers.csv" in ended.err
    with (folder / "answers.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [row["rank"] for row in rows] == ["1", "2"]
    assert {row["set"] for row in rows} == {"film.mov#2", "photo.jpg#1"}
    assert all(float(row["score"]) for row in rows)


def test_names_come_in(folder: Path, ready: Ready) -> None:
    tried = ready.works("import", "g", ".", "--dry-run", cwd=folder)
    assert "marked faces with names: 1, in photos that the gallery knows: 1\n" in tried.out
    assert "1 set would get a name; had it already: 0; not matched: 0\n" in tried.out
    told = ready.works("import", "g", ".", "--json", cwd=folder).json
    assert (told["people"], told["unmatched"], told["decisions"]) == ({"Grace": ["photo.jpg#1"]}, [], [2])
    again = ready.works("import", "g", "photo.jpg", cwd=folder)
    assert "0 sets got a name; had it already: 1; not matched: 0\n" in again.out
