"""Faces that are damaged on the disk are found out, never returned."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lookalike.collection.gallery import Gallery
from lookalike.errors import GalleryUnreadable, NotFound
from tests.collection.samples import SEED, a_set, edit


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
        ("UPDATE sets SET id = 'b'", "face 0 of set 'b' does not fit"),
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


def test_a_set_missing_from_the_list_is_noticed(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("here"))
        gallery.add(a_set("hidden"))
    # The index over ids is rewritten as if it were partial: the second set is in the table but not in it.
    edit(
        path,
        "PRAGMA writable_schema = ON",
        "CREATE UNIQUE INDEX partial ON sets (id) WHERE id <> 'hidden'",
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'partial')"
        " WHERE name = 'sqlite_autoindex_sets_1'",
        "DELETE FROM sqlite_schema WHERE name = 'partial'",
    )
    with pytest.raises(GalleryUnreadable, match="missing from index"):
        Gallery(path)


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
            gallery.add(a_set(f"set {number}", number, 40, sources=[f"frame {face}" for face in range(40)]))
        right = {each.id: (each.faces.tobytes(), each.sources) for each in gallery.sets()}
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
        except (GalleryUnreadable, NotFound) as error:
            # NotFound: the list of ids is damaged itself, so that one leads nowhere.
            found_out.append(str(error))
    assert len(found_out) > 50
    assert all(str(path) in sentence for sentence in found_out)
