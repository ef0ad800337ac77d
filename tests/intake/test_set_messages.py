"""A set comes out of a message as it went in; a message that contradicts itself is none."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest

from lookalike.intake.children import Ended
from lookalike.intake.set_messages import packed, take_set
from lookalike.intake.sourceset import SourceSet

MOST = 10_000
SET = SourceSet(
    id="\u00e4 \udcff",
    origin="a\nb",
    sources=("x", "y"),
    faces=np.arange(6, dtype=np.float32).reshape(3, 2).T,
    pictures=(np.arange(6, dtype=np.uint8).reshape(2, 3).T, np.ones((1, 2, 3), dtype=np.uint8)),
    array="e",
    descriptor="d",
)


def body(parts: list[Any]) -> io.BytesIO:
    return io.BytesIO(
        b"".join(bytes(np.asarray(one).tobytes()) if not isinstance(one, bytes) else one for one in parts)
    )


def test_round_trip() -> None:
    header, parts = packed(SET)
    found = take_set(json.loads(json.dumps(header)), body(parts), MOST)
    assert (found.id, found.origin, found.sources) == (SET.id, SET.origin, SET.sources)
    assert (found.array, found.descriptor) == ("e", "d")
    assert found.faces is not None
    assert SET.faces is not None
    assert found.faces.dtype == np.float32
    np.testing.assert_array_equal(found.faces, SET.faces)
    for one, other in zip(found.pictures, SET.pictures, strict=True):
        assert one.dtype == np.uint8
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "change",
    [
        {"texts": -1},
        {"texts": 2**60},
        {"texts": "x"},
        {"texts": None},
        {"texts": 3},
        {"pictures": 1},
        {"pictures": -2},
        {"pictures": 2**60},
        {"faces": [3, 2]},
        {"faces": [2, -3]},
        {"faces": [2, 2**60]},
        {"faces": [2]},
        {"faces": "ab"},
        {"faces": None},
    ],
)
def test_a_header_that_lies(change: dict[str, Any]) -> None:
    header, parts = packed(SET)
    with pytest.raises(Ended):
        take_set({**header, **change}, body(parts), MOST)


@pytest.mark.parametrize(
    "sizes", [[[2, 2, 1]] * 2, [[-1, -1, 0]] * 2, [[2**40, 2**40, 3]] * 2, [[9, 9, 3]] * 2]
)
def test_sizes_that_lie(sizes: list[list[int]]) -> None:
    header, (texts, faces, _, *pictures) = packed(SET)
    with pytest.raises(Ended):
        take_set(header, body([texts, faces, np.array(sizes, dtype="<i8"), *pictures]), MOST)


@pytest.mark.parametrize("texts", [b"[1, 2, 3, 4]", b'["a"]', b"{}", b"[", b"[" * 9000, b"\xff"])
def test_texts_that_are_none(texts: bytes) -> None:
    with pytest.raises(Ended):
        take_set({"texts": len(texts), "pictures": 0, "faces": None}, io.BytesIO(texts), MOST)


def test_a_header_without_a_word() -> None:
    with pytest.raises(Ended):
        take_set({}, io.BytesIO(), MOST)


def test_what_is_cut() -> None:
    header, parts = packed(SET)
    whole = body(parts).getvalue()
    for length in range(len(whole)):
        with pytest.raises(Ended):
            take_set(header, io.BytesIO(whole[:length]), MOST)
