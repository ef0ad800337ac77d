"""Where faces were seen comes back as it was, or damage is named."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from lookalike.collection.gallery import Gallery
from lookalike.errors import GalleryUnreadable
from tests.collection.samples import a_file, a_set, edit, sightings


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
