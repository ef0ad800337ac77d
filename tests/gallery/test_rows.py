"""Faces that are damaged on the disk are found out, never returned."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import GalleryUnreadable, NotFound
from lookalike.gallery import set_rows
from lookalike.gallery.gallery import Gallery
from tests.gallery.samples import SEED, a_file, a_set, edit, sightings


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("UPDATE faces SET descriptor = zeroblob(16) WHERE position = 1", "face 1 of set 'a' does not fit"),
        (
            "UPDATE faces SET descriptor = zeroblob(12) WHERE position = 2",
            "face 2 of set 'a' has 12 bytes where 16",
        ),
        ("UPDATE faces SET descriptor = 'text' WHERE position = 2", "face 2 of set 'a' has no bytes"),
        ("UPDATE faces SET source = 'elsewhere' WHERE position = 0", "face 0 of set 'a' does not fit"),
        ("UPDATE faces SET position = 7 WHERE position = 2", "face 2 of set 'a'"),
        ("UPDATE faces SET source = x'00' WHERE position = 0", "face 0 of set 'a' does not fit"),
        ("UPDATE sets SET origin = x'00'", "set 'a' has lost its origin"),
        ("DELETE FROM faces WHERE position = 2", "set 'a' has 2 of its 3 faces"),
        ("UPDATE sets SET id = 'b'", "the origin or the time of set 'b' does not fit"),
        ("UPDATE sets SET origin = 'elsewhere'", "the origin or the time of set 'a' does not fit"),
        ("UPDATE sets SET pictures = 1", "set 'a' does not have the 1 pictures"),
        ("UPDATE sets SET seal = NULL", "the origin or the time of set 'a' does not fit"),
        ("DELETE FROM facts WHERE name = 'dimension'", "set 'a' is listed but cannot be found"),
        ("UPDATE facts SET value = '5' WHERE name = 'dimension'", "has 16 bytes where 20"),
        ("UPDATE facts SET value = 'many' WHERE name = 'dimension'", "'many' numbers"),
    ],
)
def test_damaged_rows_are_found_out(path: Path, change: str, says: str) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set())
    edit(path, change)
    with Gallery(path) as gallery:
        (name,) = gallery.ids()
        with pytest.raises(GalleryUnreadable, match=says):
            gallery.get(name)
        with pytest.raises(GalleryUnreadable, match=says):
            list(gallery.sets())


def test_damaged_pictures_are_found_out(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set(pictures=[b"1", b"2", b"3"]))
    edit(path, "UPDATE faces SET picture = x'00' WHERE position = 1")
    with Gallery(path) as gallery:
        gallery.get("a")
        with pytest.raises(GalleryUnreadable, match="pictures of set 'a'"):
            gallery.get("a", pictures=True)


def test_a_wrong_number_of_pictures_is_found_out(path: Path) -> None:
    """What is listed may be all pictures or none; which of them is true is told when they are read."""
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set(pictures=[b"1", b"2", b"3"]))
    edit(path, "UPDATE sets SET pictures = 1")
    with Gallery(path) as gallery, pytest.raises(GalleryUnreadable, match="list of sets"):
        gallery.listing()
    edit(path, "UPDATE sets SET pictures = 0")
    with Gallery(path) as gallery, pytest.raises(GalleryUnreadable, match="does not have the 0 pictures"):
        gallery.get("a", pictures=True)


@pytest.mark.parametrize(
    ("index", "partial"),
    [
        ("sqlite_autoindex_sets_1", "UNIQUE INDEX partial ON sets (id) WHERE id <> 'hidden'"),
        ("files_by_path", "INDEX partial ON files (path) WHERE path <> '/films/a.mp4'"),
        ("set_files_by_file", "INDEX partial ON set_files (file_number) WHERE set_number > 1"),
        ("apart_by_second", "INDEX partial ON apart (second) WHERE second <> 'hidden'"),
        ("sqlite_autoindex_models_1", "UNIQUE INDEX partial ON models (name) WHERE name <> 'new'"),
    ],
)
def test_what_is_missing_from_a_list_is_noticed(path: Path, index: str, partial: str) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.keep_file(a_file(), [a_set("here"), a_set("hidden")], apart=[("here", "hidden")])
        gallery.describe("new", [("here", np.eye(3))])
    # An index is rewritten as if it were partial: a row is in the table but not in it.
    edit(
        path,
        "PRAGMA writable_schema = ON",
        f"CREATE {partial}",
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'partial')"
        f" WHERE name = '{index}'",
        "DELETE FROM sqlite_schema WHERE name = 'partial'",
    )
    with pytest.raises(GalleryUnreadable, match=r"missing from index|wrong # of entries in index"):
        Gallery(path)


def test_a_face_that_is_not_where_it_is_listed_is_noticed(gallery: Gallery) -> None:
    gallery.add(a_set())
    write = "UPDATE faces SET position = position WHERE number = ?"
    connection = gallery._opened.connection
    assert set_rows.numbers(connection, "a") == [1, 2, 3]
    set_rows.write(connection, gallery.path, "a", write, [(1,), (2,), (3,)])
    with pytest.raises(GalleryUnreadable, match="not every face of set 'a' is found where it is listed"):
        set_rows.write(connection, gallery.path, "a", write, [(1,), (99,)])


def test_a_schema_that_is_not_text(path: Path) -> None:
    Gallery(path, create=True).close()
    content = path.read_bytes()
    path.write_bytes(content.replace(b"CREATE TABLE sets", b"CREATE TABLE \xe6\xffts"))
    with pytest.raises(GalleryUnreadable, match="damaged"):
        Gallery(path)


def test_a_damaged_list(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set())
    edit(path, "UPDATE sets SET id = x'61', content = x'00', faces = 'many'")
    with Gallery(path) as gallery:
        for ask in (gallery.ids, gallery.contents, gallery.fingerprint, gallery.listing):
            with pytest.raises(GalleryUnreadable, match="list of sets"):
                ask()


def test_text_that_is_not_text(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set())
    edit(path, "UPDATE sets SET id = CAST(x'ff' AS TEXT)")
    with pytest.raises(GalleryUnreadable, match="damaged"), Gallery(path) as gallery:
        gallery.ids()


def test_damaged_bytes_are_found_out_or_harmless(path: Path) -> None:
    """Flips, cuts, holes anywhere in the file: faces come back as they were, or an error says why not."""
    with Gallery(path, create=True) as gallery:
        for number in range(12):
            more = {"sources": [f"frame {face}" for face in range(40)], "sightings": sightings(40)}
            pairs = [("set 0", f"set {number}")] if number else []
            gallery.keep_file(a_file(str(number)), [a_set(f"set {number}", number, 40, **more)], apart=pairs)
        right = {each.id: (each.faces.tobytes(), each.sources) for each in gallery.sets()}
        rest = {name: gallery.get(name).sightings for name in right}, gallery.files(), gallery.apart()
    whole = path.read_bytes()
    chance = random.Random(SEED)
    found_out: list[str] = []
    for _ in range(150):
        damaged = bytearray(whole)
        place = chance.randrange(len(whole))
        kind = chance.choice(["flip", "flip", "cut", "hole"])
        if kind == "flip":
            damaged[place] ^= 1 << chance.randrange(8)
        elif kind == "cut":
            del damaged[place:]
        else:
            damaged[place : place + 512] = bytes(len(damaged[place : place + 512]))
        path.write_bytes(damaged)
        for litter in ("-wal", "-shm"):
            Path(f"{path}{litter}").unlink(missing_ok=True)
        try:
            with Gallery(path) as gallery:
                ids = gallery.ids()
                for each in gallery.sets(ids):
                    assert right[each.id] == (each.faces.tobytes(), each.sources)
                assert len(ids) == len(right)
                seen = {name: gallery.get(name).sightings for name in ids}
                assert (seen, gallery.files(), gallery.apart()) == rest
        except (GalleryUnreadable, NotFound) as error:
            # NotFound: the list of ids is damaged itself, so that one leads nowhere.
            found_out.append(str(error))
    assert len(found_out) > 50
    assert all(str(path) in sentence for sentence in found_out)


# Sightings.


def test_times_are_listed(gallery: Gallery) -> None:
    gallery.add(a_set("film", sightings=sightings(3, 70.2)))
    gallery.add(a_set("photos", sightings=sightings(3, None)))
    gallery.add(a_set("vectors"))
    assert {one.id: (one.start, one.end) for one in gallery.listing()} == {
        "film": (70.2, 71.2),
        "photos": (None, None),
        "vectors": (None, None),
    }
    assert gallery.get("photos").sightings == tuple(sightings(3, None))
    assert gallery.get("film", pictures=True).sightings == gallery.get("film").sightings


def test_they_shape_neither_content_nor_fingerprint(gallery: Gallery, tmp_path: Path) -> None:
    gallery.add(a_set("a", sightings=sightings()))
    with Gallery(tmp_path / "other", create=True) as other:
        other.add(a_set("a"))
        assert other.contents() == gallery.contents()
        assert other.fingerprint() == gallery.fingerprint()
    assert not gallery.add(a_set("a", sightings=sightings(3, 100.0)))
    assert gallery.get("a").sightings == tuple(sightings())


FIRST = "(SELECT number FROM faces WHERE position = 0)"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (f"UPDATE sightings SET said = replace(said, '0.9', '0.8') WHERE face = {FIRST}", "do not fit"),
        (f"UPDATE sightings SET said = x'00' WHERE face = {FIRST}", "do not fit"),
        (f"DELETE FROM sightings WHERE face = {FIRST}", "do not fit"),
        ("DELETE FROM sightings", "do not fit"),
        ("UPDATE sets SET sighted = NULL", "do not fit"),
        ("UPDATE sets SET start_seconds = 0.25", "do not fit"),
        ("UPDATE sets SET end_seconds = NULL", "do not fit"),
    ],
)
def test_damage_is_found_out(path: Path, change: str, says: str) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a", sightings=sightings()))
    edit(path, change)
    with Gallery(path) as gallery:
        with pytest.raises(GalleryUnreadable, match=says):
            gallery.get("a")
        # Who asks for the faces alone is not stopped; who would write a new checksum over damage is.
        assert len(next(gallery.sets())) == 3
        with pytest.raises(GalleryUnreadable, match=says):
            gallery.keep_file(a_file(), [], [a_set("a", 1, sightings=sightings(3, 9.0))])
        assert gallery.files() == []


@pytest.mark.parametrize("said", ["", "{}", "[" * 100_000, '{"box":[1' + "0" * 400 + ",1,1,1]}", "null"])
def test_a_stranger_may_fit_the_checksum(path: Path, said: str) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a", count=1, sightings=sightings(1)))
    check = hashlib.sha256(f"a\x000.0 0.0\0{said}".encode()).hexdigest()
    edit(path, f"UPDATE sightings SET said = '{said}'", f"UPDATE sets SET sighted = '{check}'")
    with Gallery(path) as gallery, pytest.raises(GalleryUnreadable, match="cannot be read back"):
        gallery.get("a")


def test_listed_times_that_are_none(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a", sightings=sightings()))
    edit(path, "UPDATE sets SET start_seconds = 'soon'")
    with Gallery(path) as gallery, pytest.raises(GalleryUnreadable, match="list of sets"):
        gallery.listing()


def test_a_wrong_number_of_good_faces_is_found_out(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a", sightings=sightings()))
        [listed] = gallery.listing()
    edit(path, "UPDATE sets SET good = good + 1")
    with (
        Gallery(path) as gallery,
        pytest.raises(GalleryUnreadable, match=f"{(listed.good or 0) + 1} good faces"),
    ):
        gallery.get("a")
