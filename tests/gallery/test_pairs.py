"""Sets kept apart: each pair once, both ways the same, or damage is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.errors import BadInput, GalleryUnreadable, NotFound
from lookalike.gallery.gallery import Gallery
from tests.gallery.samples import a_file, a_set, edit


def test_pairs(gallery: Gallery) -> None:
    # Ids in another order than the numbers that SQLite gives them.
    for name in "cab":
        gallery.add(a_set(name))
    assert gallery.keep_file(a_file("1"), [a_set("d")], apart=iter([("d", "a"), ("a", "c"), ("c", "a")]))
    assert gallery.keep_file(a_file("2"), [], apart=[("a", "d"), ["b", "c"]])
    assert gallery.apart() == [("a", "c"), ("a", "d"), ("b", "c")]
    assert gallery._opened.connection.execute(
        "SELECT count(*) FROM apart WHERE first < second"
    ).fetchone() == (3,)
    gallery.remove(["c"])
    assert gallery.apart() == [("a", "d")]


@pytest.mark.parametrize("wrong", [["ab"], [("a", "a")], [("a",)], [("a", "b", "c")], [None]])
def test_what_is_no_pair_is_said(gallery: Gallery, wrong: list[object]) -> None:
    with pytest.raises(BadInput, match="a pair of two ids"):
        gallery.keep_file(a_file(), [a_set("a"), a_set("b")], apart=wrong)
    assert len(gallery) == 0


def test_both_must_be_there(gallery: Gallery) -> None:
    with pytest.raises(NotFound, match="no set 'b'"):
        gallery.keep_file(a_file(), [a_set("a")], apart=[("a", "b")])
    assert (len(gallery), gallery.files(), gallery.descriptor) == (0, [], None)


@pytest.mark.parametrize("change", ["second = 3", "second = 9", "checksum = x'00'", "checksum = 'text'"])
def test_damage_is_found_out(path: Path, change: str) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.keep_file(a_file(), [a_set(name) for name in "abc"], apart=[("a", "b")])
    edit(path, f"UPDATE apart SET {change}")
    with Gallery(path) as gallery, pytest.raises(GalleryUnreadable, match="not the pair that was kept apart"):
        gallery.apart()


def test_a_renamed_set_is_found_out(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.keep_file(a_file(), [a_set("a"), a_set("b")], apart=[("a", "b")])
    edit(path, "UPDATE sets SET id = CASE id WHEN 'a' THEN x'00' ELSE id END")
    with Gallery(path) as gallery, pytest.raises(GalleryUnreadable, match="not the pair"):
        gallery.apart()
