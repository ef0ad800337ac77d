"""A gallery of format 1: read as it is, turned into today's by its first change, once."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import Conflict, GalleryUnreadable
from lookalike.faceset import FaceSet
from lookalike.gallery import schema
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.models import Model
from lookalike.gallery.verify import verify
from tests.gallery import children
from tests.gallery.samples import a_file, a_set, edit, raw, sightings, write_format_1
from tests.waiting import PATIENCE

OLD = [
    a_set("a", 1, origin="film", sources=["1", "2", "3"]),
    a_set("b", 2, pictures=[b"1", b"22", b""]),
]


@pytest.fixture
def path(path: Path) -> Path:
    write_format_1(path, OLD)
    return path


def found(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return schema.found(connection)


def check_old_sets(gallery: Gallery) -> None:
    for given in OLD:
        read = gallery.get(given.id, pictures=True)
        assert read.faces.tobytes() == given.faces.tobytes()
        assert (read.origin, read.sources, read.pictures) == (given.origin, given.sources, given.pictures)
        assert read.sightings == ()
        assert gallery.contents()[given.id] == given.content_hash()


def check_empty_answers(gallery: Gallery) -> None:
    assert gallery.files() == gallery.apart() == []
    assert gallery.file_at("/film", 1, 1) is gallery.file_of("0" * 64) is gallery.hint("model_file") is None
    assert gallery.models() == [Model("array", 4, True, 6)]
    assert (gallery.undescribed("array"), gallery.undescribed("new")) == ([], ["a", "b"])
    assert {(each.start, each.end) for each in gallery.listing()} == {(None, None)}
    assert gallery.facts()["files"] == 0


def test_reading_changes_nothing(path: Path) -> None:
    before = path.read_bytes()
    with Gallery(path) as gallery:
        assert gallery.facts()["format"] == 1
        assert [each.id for each in gallery.sets()] == ["a", "b"]
        check_old_sets(gallery)
        check_empty_answers(gallery)
    assert path.read_bytes() == before
    assert found(path) == 1


def test_a_read_only_folder(path: Path, obeying) -> None:
    code = """
    sys.path.insert(0, ".")
    from tests.gallery.test_schema import check_empty_answers, check_old_sets
    with Gallery(sys.argv[1]) as gallery:
        check_old_sets(gallery)
        check_empty_answers(gallery)
        try:
            gallery.add(FaceSet("c", faces(1)))
        except LookalikeError as error:
            print(type(error).__name__, "|", error)
    """
    before = path.read_bytes()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        said = children.run(code, path, before=obeying)
    finally:
        path.parent.chmod(0o700)
    assert said.startswith(f"StorageFailed | {path} can be read but not written")
    assert path.read_bytes() == before


CHANGES = {
    "add": lambda gallery: gallery.add(a_set("c", 3, sightings=sightings())),
    "keep a file": lambda gallery: gallery.keep_file(a_file(), [a_set("c", 3)], apart=[("c", "a")]),
    "describe": lambda gallery: gallery.describe("new", [("a", np.eye(3)), ("b", np.eye(3))]),
    "hint": lambda gallery: gallery.set_hint("model_file", "/x"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_first_change_makes_it_today_s(path: Path, change: str) -> None:
    with Gallery(path) as gallery, Gallery(path) as other:
        stream = other.sets()
        next(stream)
        before = gallery.facts()["created"]
        CHANGES[change](gallery)
        for each in (gallery, other):
            assert (each.facts()["format"], each.facts()["created"]) == (schema.FORMAT, before)
            check_old_sets(each)
        assert [each.id for each in stream] == ["b"]
    assert found(path) == schema.FORMAT
    with Gallery(path) as gallery:
        check_old_sets(gallery)
        assert gallery._opened.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_it_has_the_tables_of_a_new_one(path: Path) -> None:
    asked = "SELECT name, sql FROM sqlite_schema ORDER BY name"
    with Gallery(path) as gallery, Gallery(path.parent / "new", create=True) as new:
        gallery.add(a_set("c"))
        tables = [each._opened.connection.execute(asked).fetchall() for each in (gallery, new)]
    assert tables[0] == tables[1]


def test_an_old_set_grows_and_goes(path: Path) -> None:
    with Gallery(path) as gallery:
        gallery.keep_file(a_file(), [], [a_set("b", 3, pictures=[b"3"] * 3)])
        assert len(gallery.get("b", pictures=True)) == 6
        gallery.remove(["b"])
        assert (gallery.ids(), gallery.files()) == (["a"], [])
    assert b"/films/a.mp4" not in raw(path)


def test_a_change_that_fails_leaves_it_as_it_was(path: Path) -> None:
    with Gallery(path) as gallery:
        with pytest.raises(Conflict):
            gallery.add(a_set("a", 99))
        assert gallery.facts()["format"] == 1
        check_old_sets(gallery)
        check_empty_answers(gallery)
    assert found(path) == 1


def test_a_full_disk_leaves_it_as_it_was(path: Path) -> None:
    code = """
    with Gallery(sys.argv[1]) as gallery:
        try:
            gallery.add(FaceSet("c", faces(1)))
        except LookalikeError as error:
            print(type(error).__name__)
    """
    said = children.run(code, path, before=children.small_files(path.stat().st_size + 10))
    assert said == "StorageFailed"
    assert found(path) == 1
    with Gallery(path) as gallery:
        check_old_sets(gallery)


def test_processes_migrate_at_once(path: Path) -> None:
    code = """
    import time
    with Gallery(sys.argv[1]) as gallery:
        time.sleep(max(0, float(sys.argv[3]) - time.time()))
        assert gallery.add(FaceSet("new " + sys.argv[2], faces(1)))
        assert gallery.facts()["format"] == 6
    """
    start = time.time() + 1.5
    workers = [children.start(code, path, worker, start) for worker in range(4)]
    for worker in workers:
        _, err = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0, err
    with Gallery(path) as gallery:
        assert len(gallery) == 6
        check_old_sets(gallery)


def test_killed_while_migrating(path: Path) -> None:
    """Dies after every step is taken and before the change is committed."""
    killed = children.start(
        """
        import os, signal
        from lookalike.gallery import set_rows
        with Gallery(sys.argv[1]) as gallery:
            set_rows.add = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
            gallery.add(FaceSet("c", faces(1)))
        """,
        path,
    )
    killed.communicate(timeout=PATIENCE)
    assert killed.returncode == -9
    assert found(path) == 1
    with Gallery(path) as gallery:
        check_old_sets(gallery)
        assert gallery.add(FaceSet("c", np.eye(4)))
        assert gallery.facts()["format"] == 6


def test_a_format_that_came_while_open_is_not_written(path: Path) -> None:
    with Gallery(path) as gallery:
        edit(path, "PRAGMA user_version = 7")
        with pytest.raises(GalleryUnreadable, match="newer lookalike"):
            gallery.add(a_set("c"))
        edit(path, "PRAGMA user_version = 1")


@pytest.mark.parametrize(
    "statement",
    [
        "PRAGMA user_version = 2",
        *(f"DROP TABLE {name}" for name in ("sightings", "set_files", "apart", "vectors")),
        "ALTER TABLE sets DROP COLUMN start_seconds",
        "ALTER TABLE files DROP COLUMN remark",
    ],
)
def test_tables_that_are_missing_are_noticed(path: Path, statement: str) -> None:
    if "user_version" not in statement:
        with Gallery(path) as gallery:
            gallery.add(a_set("c"))
    edit(path, statement)
    with pytest.raises(GalleryUnreadable, match="damaged or is not a gallery"):
        Gallery(path)


def test_a_stranger_s_table_in_the_way(path: Path) -> None:
    edit(path, "CREATE TABLE files (x)")
    with Gallery(path) as gallery:
        check_old_sets(gallery)
        with pytest.raises(GalleryUnreadable, match="table files already exists"):
            gallery.add(a_set("c"))
        check_old_sets(gallery)


# Whatever changes a gallery leaves its seals fitting; what an older format says is sealed as it is.


def test_every_change_is_sealed(tmp_path: Path) -> None:
    path = tmp_path / "g"
    with Gallery(path, create=True) as gallery:
        assert verify(gallery) == []
        gallery.add(a_set("a"))
        gallery.add(a_set("b", 1))
        assert verify(gallery) == []
        gallery.set_hint("model_file", "x.onnx")
        assert verify(gallery) == []
        rng = np.random.default_rng(1)
        gallery.describe("other", [(one, rng.normal(size=(len(gallery.get(one)), 5))) for one in "ab"])
        gallery.use("other")
        assert gallery.hint("model_file") is None
        assert verify(gallery) == []
        gallery.remove(["a", "b"])
        assert verify(gallery) == []
        gallery.add(a_set("c"), "another")
        assert verify(gallery) == []
    with Gallery(path) as gallery:
        assert verify(gallery) == []


def test_an_older_gallery_is_sealed_by_its_first_change(tmp_path: Path) -> None:
    path = tmp_path / "g"
    write_format_1(path, [a_set("a", origin="film"), a_set("b", 1)])
    edit(path, "UPDATE sets SET origin = 'elsewhere' WHERE id = 'b'")
    assert verify(path) == []  # nobody can tell
    with Gallery(path) as gallery:
        gallery.add(a_set("c", 2))
    assert verify(path) == []
    edit(path, "UPDATE sets SET origin = 'elsewhere' WHERE id = 'a'")
    [found] = verify(path)
    assert "set 'a'" in found.what
    assert found.sets == ("a",)
