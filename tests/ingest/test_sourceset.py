"""SourceSet: it comes out of a message as it went in; a message that contradicts itself is none."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from lookalike.ingest.sandbox import Ended, Message
from lookalike.ingest.sourceset import SourceSet

SET = SourceSet(
    id="\u00e4 \udcff",
    origin="a\nb",
    sources=("x", "y"),
    faces=np.arange(6, dtype=np.float32).reshape(3, 2).T,
    pictures=(np.arange(6, dtype=np.uint8).reshape(2, 3).T, np.ones((1, 2, 3), dtype=np.uint8)),
    array="e",
    descriptor="d",
)


def taken(found: SourceSet, **changes: bytes) -> Message:
    """A message about a set as its reader gets it, with some of its parts changed."""
    header, parts = found.message()
    texts, faces, sizes, pictures = parts
    plain = {
        "texts": texts,
        "faces": faces.tobytes(),
        "sizes": sizes.tobytes(),
        "pixels": b"".join(picture.tobytes() for picture in pictures),
    }
    return Message(header, [np.frombuffer(part, dtype=np.uint8) for part in (plain | changes).values()])


def test_length_and_defaults() -> None:
    found = SourceSet(id="a", origin="folder", sources=("1.jpg", "2.jpg"))
    assert len(found) == 2
    assert found.faces is None
    assert found.pictures == ()


def test_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SET.id = "b"  # type: ignore[misc]


def test_round_trip() -> None:
    found = SourceSet.from_message(taken(SET))
    assert (found.id, found.origin, found.sources) == (SET.id, SET.origin, SET.sources)
    assert (found.array, found.descriptor) == ("e", "d")
    assert found.faces is not None
    assert SET.faces is not None
    assert found.faces.dtype == np.float32
    np.testing.assert_array_equal(found.faces, SET.faces)
    for one, other in zip(found.pictures, SET.pictures, strict=True):
        assert one.dtype == np.uint8
        np.testing.assert_array_equal(one, other)


def test_a_set_without_descriptors_or_pictures() -> None:
    found = SourceSet.from_message(taken(SourceSet("a", "b", ("c",))))
    assert (found.id, found.sources, found.faces, found.pictures) == ("a", ("c",), None, ())


@pytest.mark.parametrize("header", [{}, {"width": 2}, {"width": -3}, {"width": 2**60}, {"width": "ab"}])
def test_a_header_that_lies(header: dict[str, Any]) -> None:
    with pytest.raises(Ended):
        SourceSet.from_message(Message(header, taken(SET).parts))


@pytest.mark.parametrize(
    "sizes", [[[2, 2, 1]] * 2, [[-1, -1, 0]] * 2, [[2**40, 2**40, 3]] * 2, [[9, 9, 3]] * 2, [[3, 4, 0]]]
)
def test_sizes_that_lie(sizes: list[list[int]]) -> None:
    with pytest.raises(Ended):
        SourceSet.from_message(taken(SET, sizes=np.array(sizes, dtype="<i8").tobytes()))


@pytest.mark.parametrize(
    "texts", [b"[1, 2, 3, 4]", b'["a"]', b"{}", b"[", b"[" * 9000, b"\xff", b'["a", "b", "c", "d", "e"]']
)
def test_texts_that_are_none(texts: bytes) -> None:
    with pytest.raises(Ended):
        SourceSet.from_message(taken(SET, texts=texts))


@pytest.mark.parametrize("name", ["faces", "sizes", "pixels"])
def test_parts_that_are_cut_or_missing(name: str) -> None:
    with pytest.raises(Ended):
        SourceSet.from_message(taken(SET, **{name: b"1234567"}))
    message = taken(SET)
    with pytest.raises(Ended):
        SourceSet.from_message(Message(message.header, message.parts[:-1]))
