"""Files that were looked at: found again by place or content, or damage is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lookalike.errors import BadInput, GalleryUnreadable
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from tests.gallery.samples import a_file, a_set, edit


def test_a_file_is_found_by_place_and_by_content(gallery: Gallery) -> None:
    one = a_file("a.mp4", 10, 99, settings="every 5th", remark="cut short")
    other = replace(a_file("b.jpg"), kind="photo")
    assert gallery.file_of(one.content) is None
    assert gallery.keep_file(other, [])
    assert gallery.keep_file(one, [a_set()])
    assert gallery.files() == [one, other]
    assert gallery.file_of(one.content) == one == gallery.file_at(one.path, 10, 99)
    for place in (("/films/b.jpg", 10, 99), (one.path, 11, 99), (one.path, 10, 98)):
        assert gallery.file_at(*place) is None
    assert gallery.facts()["files"] == 2


def test_a_known_file_only_moves(gallery: Gallery) -> None:
    one = a_file("a.mp4", 10, 1, settings="every 5th")
    gallery.keep_file(one, [a_set("a")])
    before = gallery.fingerprint(), list(gallery.listing())
    there = replace(one, path="/elsewhere/a.mp4", changed=2)
    again = replace(there, kind="photo", settings="all", remark="other")
    assert not gallery.keep_file(again, [a_set("b", 1)], [a_set("a", 2)], [("a", "b")], "lbp")
    assert gallery.files() == [there]
    assert gallery.file_at(one.path, 10, 1) is None
    assert gallery.file_at("/elsewhere/a.mp4", 10, 2) == there
    assert (gallery.fingerprint(), list(gallery.listing())) == before
    assert gallery.apart() == []


def test_a_file_that_replaced_another(gallery: Gallery) -> None:
    """Both are remembered; the place leads to the one that was kept last."""
    old, new = a_file("old"), replace(a_file("new"), path="/films/old")
    for file in (old, new):
        gallery.keep_file(file, [])
    assert gallery.file_at("/films/old", 10, 1) == new
    assert gallery.file_of(old.content) == old


def test_names_that_are_not_unicode_are_found_again(gallery: Gallery) -> None:
    given = replace(a_file(), path="/film/caf\udce9.mp4", remark="\udce9")
    gallery.keep_file(given, [])
    assert gallery.file_at(given.path, 10, 1) == replace(given, path=r"/film/caf\udce9.mp4", remark=r"\udce9")
    assert not gallery.keep_file(given, [])
    assert gallery.file_of("\udce9") is None


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"content": "abc"}, "SHA-256 in 64 digits, got 'abc'"),
        ({"content": "A" * 64}, "SHA-256 in 64 digits"),
        ({"path": Path("a")}, "the path of a file must be text"),
        ({"remark": None}, "the remark of a file must be text"),
        ({"size": -1}, "0 bytes or more, got a 'video' of -1 bytes"),
        ({"size": 1.5}, "the size of a file must be a whole number, got 1.5"),
        ({"changed": 2**63}, "the changed of a file must be a whole number"),
        ({"kind": "song"}, "a file is a video or a photo .* got a 'song'"),
        ({"captured": "2019-07-14"}, "taken at a time such as .* got '2019-07-14'"),
        ({"captured": "2019-13-01T00:00:00"}, "taken at a time such as"),
        ({"captured": "2019-07-14T12:30:05Z"}, "taken at a time such as"),
        ({"captured": 0}, "taken at a time such as .* got 0"),
    ],
)
def test_what_is_no_file_is_said(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        MediaFile(**{**vars(a_file()), **wrong})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("path = '/other'", "the entry of the file '/other' does not fit its checksum"),
        ("size = 11", "does not fit its checksum"),
        ("remark = 'x'", "does not fit its checksum"),
        ("checksum = x'00'", "does not fit its checksum"),
        ("kind = 'song'", "has an entry that is none"),
        ("changed = 'now'", "has an entry that is none"),
        ("settings = x'00'", "has an entry that is none"),
        ("captured = '2019-07-14T12:30:05'", "does not fit its checksum"),
        ("captured = ''", "does not fit its checksum"),
        ("captured = 'once'", "has an entry that is none"),
    ],
)
def test_damage_is_found_out(path: Path, change: str, says: str) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.keep_file(a_file(), [])
    edit(path, f"UPDATE files SET {change}")
    with Gallery(path) as gallery:
        for ask in (gallery.files, lambda: gallery.file_of(a_file().content)):
            with pytest.raises(GalleryUnreadable, match=says):
                ask()
        with pytest.raises(GalleryUnreadable, match=says):
            gallery.keep_file(a_file(), [a_set()])
        assert gallery.ids() == []


@pytest.mark.parametrize("said", ["2019-07-14T12:30:05", "2019-07-14T12:30:05+02:00", ""])
def test_a_date_is_kept_and_is_asked_for_once(path: Path, said: str) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.keep_file(a_file(), [a_set()])
        assert gallery.files()[0].captured is None
        assert not gallery.keep_file(a_file(changed=7, captured=said), [])
        assert not gallery.keep_file(a_file(changed=8, captured="2001-01-01T00:00:00"), [])
        assert gallery.files() == gallery.files_of("a") == [a_file(changed=8, captured=said)]
        assert gallery.paths() == {"a": ["/films/a.mp4"]}
    edit(path, "UPDATE files SET captured = NULL")
    with Gallery(path) as gallery, pytest.raises(GalleryUnreadable, match="does not fit its checksum"):
        gallery.files()
