"""Sources: what a path holds is recognised by content."""

import os

import numpy as np
import pytest
from PIL import Image

from lookalike.errors import BadInput, NotFound
from lookalike.intake.sources import SourceSet, read_source


@pytest.fixture
def picture():
    return np.arange(48, dtype=np.uint8).reshape(8, 6)


def test_folder(tmp_path, picture):
    (tmp_path / "a").mkdir()
    Image.fromarray(picture).save(tmp_path / "a" / "1.png")
    [found] = read_source(tmp_path)
    assert isinstance(found, SourceSet)
    assert (found.id, found.sources) == ("a", ("a/1.png",))


def test_npz_under_another_name(tmp_path, picture):
    np.savez(tmp_path / "x.npz", images=picture[None], image_set=[0], set_names=["a"])
    os.rename(tmp_path / "x.npz", tmp_path / "x.jpg")
    [found] = read_source(tmp_path / "x.jpg")
    np.testing.assert_array_equal(found.pictures[0], picture)


def test_npz_with_a_chosen_array(tmp_path, picture):
    np.savez(tmp_path / "x.npz", e=[[1.0, 2.0]], f=[[3.0, 4.0]], image_set=[0], set_names=["a"])
    [found] = read_source(tmp_path / "x.npz", array="f")
    assert found.faces.tolist() == [[3, 4]]


def test_one_picture_is_a_set_of_one(tmp_path, picture):
    Image.fromarray(picture).save(tmp_path / "query.png")
    [found] = read_source(str(tmp_path / "query.png"))
    assert (found.id, found.sources, found.origin) == (
        "query.png",
        ("query.png",),
        str(tmp_path / "query.png"),
    )
    np.testing.assert_array_equal(found.pictures[0], picture)


def test_a_damaged_picture_is_refused_at_once(tmp_path):
    (tmp_path / "query.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    with pytest.raises(BadInput, match=r"query\.png"):
        read_source(tmp_path / "query.png")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY\x01\x00", bytes(64)])
def test_unknown(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(BadInput, match=r"x\.npz.*folder of pictures.*\.npz file.*JPEG"):
        read_source(tmp_path / "x.npz")


def test_nothing_there(tmp_path):
    with pytest.raises(NotFound, match="no file or folder"):
        read_source(tmp_path / "missing")
    with pytest.raises(NotFound):
        read_source(tmp_path / "missing" / "deeper")


def test_pipes_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="neither a file nor a folder"):
        read_source(tmp_path / "pipe")


def test_array_where_there_are_none(tmp_path, picture):
    Image.fromarray(picture).save(tmp_path / "1.png")
    for path in (tmp_path, tmp_path / "1.png"):
        with pytest.raises(BadInput, match="no array 'embeddings'"):
            read_source(path, array="embeddings")


def test_file_that_may_not_be_read(tmp_path, monkeypatch):
    (tmp_path / "x").write_bytes(b"x")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(BadInput, match="may not be read"):
        read_source(tmp_path / "x")


def test_name_that_is_not_utf8(tmp_path, picture):
    path = tmp_path / os.fsdecode(b"caf\xe9.png")
    Image.fromarray(picture).save(tmp_path / "x.png")
    os.rename(tmp_path / "x.png", path)
    [found] = read_source(path)
    assert found.id == r"caf\xe9.png"
    assert found.origin.encode("utf-8")
