"""Paths in sentences: any path can be written, any refusal of the disk becomes words."""

import os

import pytest

from lookalike.errors import BadInput, NotFound, is_folder, readable, unreadable


def test_readable_is_always_valid_text():
    assert readable("a/ü.jpg") == "a/ü.jpg"
    assert readable(os.fsdecode(b"a\xff.jpg")) == r"a\xff.jpg"
    assert readable("half \ud800").encode("utf-8") == rb"half \ud800"


@pytest.mark.parametrize(
    ("reason", "kind", "words"),
    [
        (FileNotFoundError(2, "No such file"), NotFound, "no file or folder 'x'"),
        (NotADirectoryError(20, "Not a directory"), NotFound, "check the path"),
        (PermissionError(13, "Permission denied"), BadInput, "permission"),
        (OSError(5, "Input/output error"), BadInput, "Input/output error"),
        (ValueError("embedded null byte"), BadInput, "null byte"),
    ],
)
def test_refusals_of_the_disk(tmp_path, reason, kind, words):
    error = unreadable(tmp_path.relative_to(tmp_path) / "x", reason)
    assert type(error) is kind
    assert words in str(error)


def test_folder_or_file(tmp_path):
    (tmp_path / "file").touch()
    assert is_folder(tmp_path)
    assert not is_folder(tmp_path / "file")


def test_neither_folder_nor_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="neither a file nor a folder"):
        is_folder(tmp_path / "pipe")
    with pytest.raises(NotFound, match="missing"):
        is_folder(tmp_path / "missing")
    for odd in ("a\0b", "half \ud800", "x" * 300):
        with pytest.raises(BadInput):
            is_folder(tmp_path / odd)


def test_link_to_itself(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(BadInput, match="loop"):
        is_folder(tmp_path / "loop")
