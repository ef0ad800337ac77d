"""Tables, read back by the libraries of others: csv, pyarrow, DuckDB; and which rows they have."""

from __future__ import annotations

import csv
import errno
import json
import os
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from pyarrow import parquet

from lookalike import Answer, FaceSet, Gallery, Ranking
from lookalike.errors import BadInput, NotFound, StorageFailed
from lookalike.exchange.appearances import COLUMNS, Appearance, appearances, files_of_faces
from lookalike.gallery import decisions
from lookalike.gallery.export import FORMATS, OWN, export_as, format_of
from lookalike.gallery.media import MediaFile
from tests.exchange.samples import face_set, media, seen
from tests.hostile_names import NAMES
from tests.small_world import small_world


@pytest.fixture
def gallery(tmp_path: Path) -> Gallery:
    """Ada in a film and in two photos; somebody else, ready-made, of whom no file is known."""
    opened = Gallery(tmp_path / "g", create=True)
    film = media(tmp_path / "film.mp4")
    faces = [seen((0, 0, 60, 60), 1.0), seen((5, 6, 70, 80), 2.5), seen((0, 0, 20, 20), 3.0)]
    opened.keep_file(film, [face_set("film.mp4#1", faces)])
    first, second = (media(tmp_path / "album" / name, "photo") for name in ("b.jpg", "a.jpg"))
    opened.keep_file(first, [face_set("album#1", [seen((1, 2, 50, 60))], ["b.jpg"])])
    opened.keep_file(second, (), [face_set("album#1", [seen((3, 4, 55, 66))], ["a.jpg"], 1)])
    opened.add(FaceSet("plain", np.eye(2, 8) + 1), "array")
    decisions.name(opened, ["film.mp4#1", "album#1"], "Ada")
    decisions.judge(opened, "plain", ["album#1"], "different")
    return opened


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Rows of a table, by a reader that did not write them."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [{name: value or None for name, value in row.items()} for row in csv.DictReader(file)]
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))["appearances"]
    found = duckdb.sql(f"SELECT * FROM '{path}'")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_a_row_for_each_film_and_each_photo(format: str, gallery: Gallery, tmp_path: Path) -> None:
    path = tmp_path / f"x.{format}"
    done = export_as(gallery, path, format)
    assert (done.sets, done.appearances, done.files, done.remarks) == (3, 4, 1, ())
    rows = rows_of(path)
    assert [list(row) for row in rows] == [list(COLUMNS)] * 4
    shown = [(row["set"], row["person"], row["file"], row["kind"]) for row in rows]
    assert shown == [
        ("album#1", "Ada", str(tmp_path / "album" / "a.jpg"), "photo"),
        ("album#1", "Ada", str(tmp_path / "album" / "b.jpg"), "photo"),
        ("film.mp4#1", "Ada", str(tmp_path / "film.mp4"), "video"),
        ("plain", None, None, None),
    ]
    boxes = [[row[f"box_{side}"] for side in ("left", "top", "width", "height", "time")] for row in rows]
    # Of the film the largest clear face, and when it is seen.
    expected = [[3, 4, 55, 66, None], [1, 2, 50, 60, None], [5, 6, 70, 80, 2.5], [None] * 5]
    assert [[None if one is None else float(one) for one in box] for box in boxes] == expected
    assert [(row["start"], row["end"]) for row in rows][2] in [(1.0, 3.0), ("1.0", "3.0")]
    assert [int(row["faces"]) for row in rows] == [1, 1, 3, 2]
    assert [row["decision"] for row in rows] == ["different", "different", "name", "different"]
    assert rows[2]["file_sha256"] == media(tmp_path / "film.mp4").content
    assert [row["set_sha256"] for row in rows] == [gallery.contents()[row["set"]] for row in rows]


def test_parquet_has_types(gallery: Gallery, tmp_path: Path) -> None:
    export_as(gallery, tmp_path / "x.parquet", "parquet", ids=["plain"])
    table = parquet.read_table(tmp_path / "x.parquet")
    kinds = {"string": str, "int64": int, "double": float}
    assert {field.name: kinds[str(field.type)] for field in table.schema} == COLUMNS
    assert table.num_rows == 1


def test_answers_of_a_query(tmp_path: Path) -> None:
    sets, _ = small_world(people=8, sets=3)
    with Gallery(tmp_path / "g", create=True) as gallery:
        for one in sets:
            gallery.add(one)
        query, right, wrong = (one.id for one in sets[:3])
        decisions.judge(gallery, query, [right], "same")
        decisions.judge(gallery, right, [wrong], "different")
        others = [one.id for one in sets if one.id != query]
        answers = [Answer(n, one, 0.9 - n / 99, 0.5, n, None, 1 / n) for n, one in enumerate(others, 1)]
        ranking = Ranking(query, tuple(answers), 23, "max_max", "auto", 23, 2)
        export_as(gallery, tmp_path / "x.json", "json", ranking=ranking)
    told = json.loads((tmp_path / "x.json").read_text())
    assert (told["query"], told["reranker"], told["worth_reading"]) == (
        query,
        ranking.reranker,
        ranking.worth_reading,
    )
    rows = {row["set"]: row for row in told["appearances"]}
    assert list(rows) == ranking.ids
    assert [row["probability"] for row in rows.values()] == [one.probability for one in ranking]
    assert (rows[right]["decision"], bool(rows[right]["decided"])) == ("same", True)
    # It follows, and was never said of these two.
    assert (rows[wrong]["decision"], rows[wrong]["decided"]) == ("different", None)


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_hostile_names_come_back_as_they_were(format: str, tmp_path: Path) -> None:
    ids = [name for name in NAMES if name.strip()]
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.keep_file(media(tmp_path / 'a,"b"\n.mp4'), [face_set(one, [seen(time=0.1)]) for one in ids])
        export_as(gallery, tmp_path / f"x.{format}", format)
    rows = rows_of(tmp_path / f"x.{format}")
    found = [row["set"] for row in rows]
    assert {row["file"] for row in rows} == {str(tmp_path / 'a,"b"\n.mp4')}
    if format == "csv":
        # A spreadsheet would compute these.
        ids = [f"'{one}" if one.startswith(("=", "+", "-", "@")) else one for one in ids]
        assert sum(one.startswith(("'=", "'+", "'-", "'@")) for one in found) > 3
    assert sorted(found) == sorted(ids)


def test_photos_of_one_name_are_not_mistaken_for_one_another() -> None:
    files = [
        MediaFile(f"{n:064x}", path, 1, 1, "photo") for n, path in enumerate(("/x/a/1.jpg", "/y/a/1.jpg"))
    ]
    both = face_set("a#1", [seen(), seen()], ["1.jpg", "1.jpg"])
    assert [(one.file, one.places) for one in files_of_faces(both, files)] == [(None, (0, 1))]
    apart = face_set("a#1", [seen(), seen()], ["y/a/1.jpg", "x/a/1.jpg"])
    assert [(one.file, one.places) for one in files_of_faces(apart, files)] == [
        (files[0], (1,)),
        (files[1], (0,)),
    ]
    # A name that ends alike is another name.
    other = [*files, MediaFile(f"{7:064x}", "/x/a/11.jpg", 1, 1, "photo")]
    assert files_of_faces(face_set("a#1", [seen()], ["11.jpg"]), other)[0].file == other[2]


def test_formats_by_name_and_by_suffix() -> None:
    assert format_of(Path("x.CSV")) == "csv"
    assert format_of(Path("x.csv"), "json") == "json"
    assert format_of(Path("folder")) == format_of(Path("x.npz")) == OWN
    with pytest.raises(BadInput, match="there is no format 'xls': choose one of npz, csv, json"):
        format_of(Path("x.csv"), "xls")
    with pytest.raises(BadInput, match=r"the suffix of 'x.txt' is of no format: choose one of csv, json"):
        format_of(Path("x.txt"), None, None)


@pytest.mark.parametrize("format", ["csv", "json", "parquet", "html"])
def test_what_cannot_be_exported(format: str, gallery: Gallery, tmp_path: Path) -> None:
    path = tmp_path / "x"
    with pytest.raises(NotFound, match="nobody called 'Eve'"):
        export_as(gallery, path, format, person="Eve")
    with pytest.raises(NotFound, match="no set 'nobody'"):
        export_as(gallery, path, format, ids=["plain", "nobody"])
    with pytest.raises(BadInput, match="there is nothing to export"):
        export_as(gallery, path, format, ids=[])
    with pytest.raises(StorageFailed, match="No such file or directory; nothing was exported"):
        export_as(gallery, tmp_path / "missing" / "x", format)
    path.write_text("mine")
    with pytest.raises(BadInput, match="x is there already"):
        export_as(gallery, path, format)
    assert path.read_text() == "mine"
    with pytest.raises(BadInput, match="there is no format 'npz'"):
        export_as(gallery, tmp_path / "y", "npz")
    assert sorted(one.name for one in tmp_path.iterdir() if not one.name.startswith("g")) == ["x"]


@pytest.mark.parametrize("format", ["csv", "json", "parquet", "html", "vtt"])
def test_a_full_disk_leaves_nothing(
    format: str, gallery: Gallery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert format in FORMATS

    def full(*given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = sorted(tmp_path.iterdir())
    for name in ("link", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            with pytest.raises(StorageFailed, match="No space left on device; nothing was exported"):
                export_as(gallery, tmp_path / "x", format)
        assert sorted(tmp_path.iterdir()) == before


def test_a_hundred_thousand_rows(gallery: Gallery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(appearances(gallery, ["film.mp4#1"]))
    many = (Appearance(f"set {n}", *list(vars(one).values())[1:]) for n in range(100_000))
    monkeypatch.setattr("lookalike.gallery.export.appearances", lambda *given: many)
    export_as(gallery, tmp_path / "x.parquet", "parquet")
    assert duckdb.sql(f"SELECT count(DISTINCT \"set\") FROM '{tmp_path / 'x.parquet'}'").fetchall() == [
        (100_000,)
    ]
