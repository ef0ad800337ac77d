"""Folders of pictures: which folders are sets, in which order, what is left out or refused."""

import logging
import os

import numpy as np
import pytest
from PIL import Image

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.readers import folders
from lookalike.ingest.readers.folders import read_folder


def put(path, value=0):
    """Write a small gray picture whose pixels all have one value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((4, 3), value, dtype=np.uint8)).save(path, "PNG")


def ids(path):
    return [found.id for found in read_folder(path)]


def test_innermost_folders_are_sets(tmp_path):
    for value, name in enumerate(["ann/0/1.png", "ann/0/2.png", "ann/1/1.png", "bob/1.png"]):
        put(tmp_path / name, value)
    found = list(read_folder(tmp_path))
    assert [one.id for one in found] == ["ann/0", "ann/1", "bob"]
    assert [len(one) for one in found] == [2, 1, 1]
    assert found[0].sources == ("ann/0/1.png", "ann/0/2.png")
    assert found[0].origin == str(tmp_path / "ann" / "0")
    assert found[0].faces is None
    assert [picture[0, 0] for one in found for picture in one.pictures] == [0, 1, 2, 3]


def test_a_folder_of_pictures_is_called_by_its_name(tmp_path, monkeypatch):
    put(tmp_path / "album" / "1.png")
    put(tmp_path / "album" / "inner" / "1.png")
    assert ids(tmp_path / "album") == ["album", "inner"]
    monkeypatch.chdir(tmp_path / "album")
    assert ids(folders.Path(".")) == ["album", "inner"]


def test_natural_order(tmp_path):
    for value, name in enumerate(["0.1.png", "0.9.png", "0.10.png", "1.2.png", "10.1.png"]):
        put(tmp_path / "s" / name, value)
    for name in ("a2", "a10", "a1"):
        put(tmp_path / name / "x.png")
    found = list(read_folder(tmp_path))
    assert [one.id for one in found] == ["a1", "a2", "a10", "s"]
    assert [picture[0, 0] for picture in found[-1].pictures] == [0, 1, 2, 3, 4]


def test_hidden_and_system_files_are_left_out(tmp_path, caplog):
    put(tmp_path / "a" / "1.png")
    for name in (".DS_Store", "._1.png", ".hidden.png", "Thumbs.db", "desktop.ini"):
        (tmp_path / "a" / name).write_bytes(b"not a picture")
    put(tmp_path / ".git" / "1.png")
    put(tmp_path / "__MACOSX" / "1.png")
    (tmp_path / "a" / "notes.txt").write_text("hello")
    (tmp_path / "a" / "clip.mp4").write_bytes(bytes(100))
    with caplog.at_level(logging.INFO):
        [found] = read_folder(tmp_path)
    assert found.sources == ("a/1.png",)
    assert "2 files that are no pictures" in caplog.text


def test_pictures_are_found_by_content_too(tmp_path):
    put(tmp_path / "a" / "no_suffix")
    put(tmp_path / "a" / "subject01.happy")
    [found] = read_folder(tmp_path)
    assert found.sources == ("a/no_suffix", "a/subject01.happy")


def test_links_that_lead_back_are_not_followed(tmp_path):
    put(tmp_path / "a" / "1.png")
    (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self").symlink_to("self")
    assert ids(tmp_path) == ["a"]


def test_links_to_pictures_are_pictures(tmp_path):
    put(tmp_path / "store" / "1.png", 7)
    (tmp_path / "album").mkdir()
    (tmp_path / "album" / "first.png").symlink_to(tmp_path / "store" / "1.png")
    (tmp_path / "album" / "second").symlink_to("../store/1.png")
    found = {one.id: one for one in read_folder(tmp_path)}
    assert [picture[0, 0].tolist() for picture in found["album"].pictures] == [7, 7]


@pytest.mark.parametrize("target", ["../store/1.png", "../../{top}/store/1.png", "{root}/store/1.png"])
def test_links_that_lead_out_are_not_opened(tmp_path, target):
    """Whoever packed a folder does not choose what else of the user's is read."""
    put(tmp_path / "store" / "1.png", 7)
    put(tmp_path / "album" / "1.png")
    link = target.format(top=tmp_path.name, root=tmp_path)
    (tmp_path / "album" / "plain").symlink_to(link)
    [found] = read_folder(tmp_path / "album")
    assert found.sources == ("1.png",)
    (tmp_path / "album" / "first.png").symlink_to(link)
    with pytest.raises(BadInput, match=r"first\.png' is a link that leads out of"):
        read_folder(tmp_path / "album")
    # What is given itself may be a link.
    (tmp_path / "given").symlink_to("store")
    [found] = read_folder(tmp_path / "given")
    assert found.sources == ("1.png",)


def test_one_set_at_a_time(tmp_path):
    put(tmp_path / "a" / "1.png")
    put(tmp_path / "b" / "1.png")
    found = read_folder(tmp_path)
    next(found)
    # The second set is read only now: what happens to its file meanwhile is noticed.
    (tmp_path / "b" / "1.png").write_bytes(b"broken")
    with pytest.raises(BadInput, match=r"1\.png"):
        next(found)


@pytest.mark.parametrize("content", [b"", b"text", b"\xff\xd8\xff\xe0 cut"])
def test_a_broken_picture_is_named(tmp_path, content):
    put(tmp_path / "a" / "1.png")
    (tmp_path / "a" / "2.jpg").write_bytes(content)
    with pytest.raises(BadInput, match=r"a/2\.jpg"):
        list(read_folder(tmp_path))


def test_lost_links_and_pipes_named_as_pictures(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.jpg").symlink_to(tmp_path / "gone.jpg")
    with pytest.raises(NotFound, match=r"1\.jpg"):
        list(read_folder(tmp_path))
    (tmp_path / "a" / "1.jpg").unlink()
    os.mkfifo(tmp_path / "a" / "1.jpg")
    os.mkfifo(tmp_path / "a" / "pipe")
    with pytest.raises(BadInput, match=r"1\.jpg"):
        list(read_folder(tmp_path))


def test_no_picture_anywhere(tmp_path):
    with pytest.raises(BadInput, match="no picture in it"):
        read_folder(tmp_path)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "notes.txt").write_text("hello")
    with pytest.raises(BadInput, match="no picture in it"):
        read_folder(tmp_path)


def test_two_sets_of_one_name(tmp_path):
    put(tmp_path / "a" / "1.png")
    put(tmp_path / "a" / "a" / "1.png")
    with pytest.raises(BadInput, match="both be called 'a'"):
        read_folder(tmp_path / "a")


@pytest.mark.parametrize("place", [b"caf\xe9/1.png", b"a/caf\xe9.png"])
def test_names_that_are_not_utf8(tmp_path, place):
    put(tmp_path / os.fsdecode(place))
    with pytest.raises(BadInput, match="not valid UTF-8: rename") as caught:
        read_folder(tmp_path)
    assert r"caf\xe9" in str(caught.value).replace("\\\\", "\\")
    str(caught.value).encode("utf-8")


def test_names_that_cannot_be_ids(tmp_path):
    put(tmp_path / "two\nlines" / "1.png")
    with pytest.raises(BadInput, match="control characters"):
        read_folder(tmp_path)


def test_a_folder_that_may_not_be_read(tmp_path, monkeypatch):
    put(tmp_path / "a" / "1.png")
    (tmp_path / "locked").mkdir()
    plain = os.scandir

    def scandir(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(BadInput, match=r"locked.*may not be read"):
        read_folder(tmp_path)
