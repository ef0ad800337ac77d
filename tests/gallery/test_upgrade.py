"""Galleries of every format become today's at once, and are what they were until then."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from lookalike import Gallery, find, verify
from lookalike.errors import GalleryUnreadable, NotFound, StorageFailed
from lookalike.gallery import schema
from lookalike.gallery.backup import upgrade
from tests.full_gallery import planted
from tests.gallery import children
from tests.gallery.samples import a_file, a_set, write_format_1
from tests.waiting import PATIENCE

OLD = range(1, schema.FORMAT)


def write_format(path: Path, number: int) -> None:
    """A gallery of the first format, and the steps from there up to another."""
    write_format_1(path, [a_set(f"set {place}", place, pictures=[b"p"] * 3) for place in range(4)])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        for step in schema.STEPS[1:number]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")


def contents(path: Path) -> tuple[dict[str, str], object]:
    with Gallery(path) as gallery:
        return gallery.contents(), gallery.facts()["format"]


@pytest.mark.parametrize("number", OLD)
def test_every_format(tmp_path: Path, number: int) -> None:
    path = tmp_path / "g"
    write_format(path, number)
    assert verify(path) == []
    with Gallery(path) as gallery:
        ranking = find("set 0", gallery)
    before, said = contents(path)
    assert said == number
    done = upgrade(path)
    assert (done.before, done.after, done.kept) == (number, schema.FORMAT, tmp_path / f"g.format-{number}")
    assert contents(path) == (before, schema.FORMAT)
    assert contents(done.kept) == (before, number)
    assert verify(path) == verify(done.kept) == []
    with Gallery(path) as gallery:
        assert find("set 0", gallery) == ranking
        [event] = gallery.events()
        assert (event.kind, event.said) == ("upgrade", {"from": number, "to": schema.FORMAT})
        assert [one.path for one in gallery.backups()] == [str(done.kept)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert upgrade(path).kept is None
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_file()) == ["g", f"g.format-{number}"]


@pytest.mark.parametrize("number", range(2, schema.FORMAT))
def test_files_of_every_format(tmp_path: Path, number: int) -> None:
    """Entries written before there were dates are read, upgraded and then dated."""
    path = tmp_path / "g"
    write_format(path, number)
    old = ("content", "path", "size", "changed", "kind", "settings", "remark")
    said = [vars(a_file())[name] for name in old]
    checksum = hashlib.sha256(json.dumps(said).encode()).digest()
    marks = ", ".join("?" * (len(old) + 1))
    with closing(sqlite3.connect(path)) as connection, connection:
        asked = f"INSERT INTO files ({', '.join(old)}, checksum) VALUES ({marks})"
        connection.execute(asked, (*said, checksum))
    with Gallery(path) as gallery:
        assert gallery.files() == [a_file()]
    upgrade(path)
    assert verify(path) == []
    with Gallery(path) as gallery:
        assert gallery.files() == [a_file()]
        dated = a_file(captured="1999-12-31T23:59:59+00:00")
        assert not gallery.keep_file(dated, [])
        assert gallery.files() == [dated]
    assert verify(path) == []


def test_the_old_file_need_not_be_kept(tmp_path: Path) -> None:
    write_format(tmp_path / "g", 2)
    assert upgrade(tmp_path / "g", keep=False).kept is None
    assert [each.name for each in tmp_path.iterdir()] == ["g"]
    with Gallery(tmp_path / "g") as gallery:
        assert gallery.backups() == []


def test_a_name_that_is_taken(tmp_path: Path) -> None:
    write_format(tmp_path / "g", 2)
    (tmp_path / "g.format-2").write_text("mine")
    assert upgrade(tmp_path / "g").kept == tmp_path / "g.format-2-2"
    assert (tmp_path / "g.format-2").read_text() == "mine"


def test_a_damaged_gallery_is_left_as_it_is(tmp_path: Path) -> None:
    write_format(tmp_path / "g", 2)
    planted(tmp_path / "g", "UPDATE faces SET descriptor = zeroblob(16) WHERE number = 5")
    with pytest.raises(GalleryUnreadable, match="left as it is: look at `lookalike verify"):
        upgrade(tmp_path / "g")
    assert [each.name for each in tmp_path.iterdir()] == ["g"]
    assert contents(tmp_path / "g")[1] == 2


def test_a_newer_format_and_no_gallery_are_refused_unchanged(tmp_path: Path) -> None:
    write_format(tmp_path / "g", 2)
    planted(tmp_path / "g", change=lambda c: c.execute(f"PRAGMA user_version = {schema.FORMAT + 1}"))
    before = (tmp_path / "g").read_bytes()
    with pytest.raises(GalleryUnreadable, match="newer lookalike"):
        upgrade(tmp_path / "g")
    assert (tmp_path / "g").read_bytes() == before
    with pytest.raises(NotFound, match="there is no gallery"):
        upgrade(tmp_path / "none")


def test_nobody_else_may_use_it(tmp_path: Path) -> None:
    write_format(tmp_path / "g", 3)
    with Gallery(tmp_path / "g") as gallery:
        with pytest.raises(StorageFailed, match="in use by another process"):
            upgrade(tmp_path / "g", wait=0.2)
        assert gallery.facts()["format"] == 3
        gallery.add(a_set("later"))  # which upgrades it by the way
    assert upgrade(tmp_path / "g").before == schema.FORMAT


def test_those_who_wait_find_the_new_one(tmp_path: Path) -> None:
    """Others add sets at the same time: all of them are there afterwards."""
    path = tmp_path / "g"
    write_format(path, 3)
    code = """
    for number in range(6):
        with Gallery(sys.argv[1]) as gallery:
            gallery.add(FaceSet(f"{sys.argv[2]} {number}", faces(number)))
    """
    workers = [children.start(code, path, name) for name in ("x", "y")]
    done = upgrade(path)
    for worker in workers:
        _, err = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0, err
    found, number = contents(path)
    assert number == schema.FORMAT
    assert len(found) == 4 + 12
    assert done.after == schema.FORMAT
    assert verify(path) == []


@pytest.mark.parametrize("where", ["copy_new", "sync", "replace"])
def test_wherever_it_dies_a_gallery_is_there(tmp_path: Path, where: str) -> None:
    path = tmp_path / "g"
    write_format(path, 3)
    before = contents(path)[0]
    code = """
    import os
    from lookalike import atomic as disk
    from lookalike.gallery.backup import upgrade
    setattr(disk, sys.argv[2], lambda *_: os._exit(9))
    upgrade(sys.argv[1])
    """
    worker = children.start(code, path, where)
    worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 9
    assert contents(path) == (before, 3)
    assert [one for one in verify(path) if not one.is_harmless] == []
    assert upgrade(path).after == schema.FORMAT
    assert contents(path) == (before, schema.FORMAT)
