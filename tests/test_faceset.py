"""FaceSet: what a set of faces may be, and the sentences that say why not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import array_shapes, arrays

from lookalike.errors import BadInput, Conflict
from lookalike.faceset import (
    LONGEST_ID,
    FaceSet,
    Sighting,
    check_id,
    checked_faces,
    from_arrays,
    unique_ids,
)

FACES = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
SEEN = Sighting((10, 20, 80, 90), 0.9, 0.5, 0.4, 0.1, 70.2)


def test_a_set() -> None:
    faceset = FaceSet("a", FACES, origin="a.mp4", sources=["1", "2"], pictures=[b"x", b"y"])
    assert len(faceset) == 2
    assert faceset.dimension == 3
    assert faceset.faces.dtype == np.float32
    assert faceset.sources == ("1", "2")
    assert faceset.pictures == (b"x", b"y")


def test_faces_are_a_copy_that_nobody_may_write() -> None:
    given = FACES.astype(np.float32)
    faceset = FaceSet("a", given)
    given[0, 0] = 99
    assert faceset.faces[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        faceset.faces[0, 0] = 5


def test_whole_numbers_and_lists_are_numbers() -> None:
    np.testing.assert_array_equal(FaceSet("a", [[1, 2], [3, 4]]).faces, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(FaceSet("a", np.array([[True, False]])).faces, [[1, 0]])


@pytest.mark.parametrize(
    ("faces", "sentence"),
    [
        (np.empty((0, 4)), "set 'a' is empty: a set needs at least one face"),
        (np.ones(4), r"the faces of set 'a' have shape \(4,\): give \(faces, numbers per face\)"),
        (np.ones((1, 2, 3)), r"have shape \(1, 2, 3\)"),
        (np.ones((2, 1)), "are 1 numbers long: a descriptor needs at least 2 numbers"),
        (np.ones((2, 0)), "are 0 numbers long"),
        ([["a", "b"]], "are of type <U1, not numbers: give an array of floats"),
        ([[1j, 2j]], "are of type complex128, not numbers"),
        ([[1.0, 2.0], [3.0]], "differ in length: give one row of d numbers per face"),
        ([[1.0, np.nan]], "face 0 of set 'a' has a NaN or infinite number: describe the faces again"),
        ([[1.0, 2.0], [np.inf, 1.0], [1.0, -np.inf]], "faces 1, 2 of set 'a' have a NaN or infinite number"),
        ([[1e39, 1.0]], "face 0 of set 'a' has a NaN or infinite number"),  # no float32
        (
            [[0.0, 0.0]],
            "face 0 of set 'a' has all numbers equal, which describes nothing: leave such faces out",
        ),
        ([[1.0, 2.0], [5.0, 5.0]], "face 1 of set 'a' has all numbers equal"),
        ([[1e-60, 2e-60]], "face 0 of set 'a' has all numbers equal"),  # zero as float32
        ([[1.0, 1.0 + 1e-12]], "face 0 of set 'a' has all numbers equal"),  # equal as float32
        (np.zeros((9, 3)), r"faces 0, 1, 2, \.\.\. of set 'a' have all numbers equal"),
    ],
)
def test_what_is_no_set_of_faces_is_refused_in_words(faces: object, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        FaceSet("a", faces)


@given(arrays(np.float64, array_shapes(min_dims=1, max_dims=3, max_side=4)))
@settings(max_examples=60, deadline=None)
def test_faces_are_taken_or_refused_and_never_changed(given: np.ndarray) -> None:
    before = given.copy()
    try:
        faceset = FaceSet("a", given)
    except BadInput:
        pass
    else:
        assert np.isfinite(faceset.faces).all()
        assert faceset.faces.any(axis=1).all()
        # What was taken once is taken again: a stored set can always be read.
        np.testing.assert_array_equal(FaceSet("a", faceset.faces).faces, faceset.faces)
    np.testing.assert_array_equal(given, before)


def test_checked_faces_keep_their_precision() -> None:
    assert checked_faces(FACES.astype(np.float32), "x").dtype == np.float32
    assert checked_faces(FACES, "x").dtype == np.float64
    assert checked_faces(FACES.astype(int), "x").dtype == np.float64


@pytest.mark.parametrize(("name", "one"), [("sources", "1"), ("pictures", b"1"), ("sightings", SEEN)])
def test_one_for_each_face_or_none(name: str, one: object) -> None:
    assert getattr(FaceSet("a", FACES, **{name: [one, one]}), name) == (one, one)
    assert getattr(FaceSet("a", FACES, **{name: []}), name) == ()
    with pytest.raises(BadInput, match=f"set 'a' has 2 faces but 3 {name}: give one for each face, or none"):
        FaceSet("a", FACES, **{name: [one] * 3})


@pytest.mark.parametrize("wrong", [None, SEEN, [SEEN, None], ["1", "2"], [SEEN.as_text()] * 2])
def test_sightings_are_sightings(wrong: object) -> None:
    with pytest.raises(BadInput, match="sightings of set 'a' must be a list of Sighting, one for each face"):
        FaceSet("a", FACES, sightings=wrong)


@pytest.mark.parametrize("good", ["a", "Größe 7", "日本", "a/b c", "x" * LONGEST_ID, "👩‍🦰"])
def test_ids_may_be_any_text(good: str) -> None:
    check_id(good)
    assert FaceSet(good, FACES).id == good


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ("", "a set id must be a non-empty string, got ''"),
        ("  ", "non-empty string"),
        (7, "non-empty string, got 7"),
        (None, "non-empty string"),
        ("x" * (LONGEST_ID + 1), "a set id may have 1024 characters, got 1025"),
        ("a\nb", r"may not hold control characters, got 'a\\nb'"),
        ("a\x7f", "control characters"),
        ("a\x00", "control characters"),
        ("\ud800", "valid Unicode"),
    ],
)
def test_other_ids_are_refused_in_words(bad: object, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        FaceSet(bad, FACES)


def test_content_decides_the_hash() -> None:
    one = FaceSet("a", FACES, pictures=[b"x", b"y"])
    assert one.content_hash() == FaceSet("b", FACES, "elsewhere", pictures=[b"x", b"y"]).content_hash()
    assert (
        one.content_hash() == FaceSet("a", FACES, "", ["1", "2"], one.pictures, [SEEN, SEEN]).content_hash()
    )
    others = [
        FaceSet("a", FACES),
        FaceSet("a", FACES[::-1], pictures=[b"x", b"y"]),
        FaceSet("a", FACES, pictures=[b"y", b"x"]),
        FaceSet("a", FACES, pictures=[b"xy", b""]),
        FaceSet("a", FACES.reshape(3, 2), pictures=[b"x", b"y", b""]),
    ]
    hashes = {one.content_hash(), *(other.content_hash() for other in others)}
    assert len(hashes) == 6
    assert all(len(text) == 64 for text in hashes)


def test_the_hash_is_known() -> None:
    # SHA-256 of the shape as two little-endian 64-bit numbers, then the numbers as little-endian floats.
    import hashlib
    import struct

    expected = hashlib.sha256(struct.pack("<qq", 1, 2) + struct.pack("<ff", 1.0, 2.0)).hexdigest()
    assert FaceSet("a", [[1.0, 2.0]]).content_hash() == expected


def test_two_sets_of_one_name() -> None:
    a, b = FaceSet("a", FACES), FaceSet("b", FACES)
    unique_ids([a, b])
    unique_ids([])
    with pytest.raises(Conflict, match="two sets are called 'b': set ids must be unique, rename one"):
        unique_ids(iter([a, b, FaceSet("b", FACES[::-1])]))


def test_sources_may_be_any_iterable() -> None:
    assert FaceSet("a", [[1.0, 2.0], [2.0, 1.0]], sources=np.array(["x", "y"])).sources == ("x", "y")
    assert FaceSet("a", [[1.0, 2.0]], sources=(name for name in ["x"])).sources == ("x",)


def test_sets_from_arrays() -> None:
    vectors = np.arange(10.0).reshape(5, 2)
    found = from_arrays(vectors, ["b", "a", "b", np.str_("c"), "a"])
    assert [one.id for one in found] == ["b", "a", "c"]
    assert [one.faces.tolist() for one in found] == [[[0, 1], [4, 5]], [[2, 3], [8, 9]], [[6, 7]]]
    assert [one.id for one in from_arrays(vectors, np.array([3, 3, 0, 0, 3]))] == ["3", "0"]


@pytest.mark.parametrize(
    ("vectors", "ids", "says"),
    [
        (np.eye(3), ["a", "b"], "there are 3 vectors and 2 ids"),
        (np.eye(3), "abc", "got the text 'abc'"),
        (np.eye(3), ["a", "b", ""], "a set id must be a non-empty string"),
        (np.eye(3), ["a", "b", 1.5], "a set id must be a non-empty string"),
        (np.ones(3), ["a"] * 3, "have shape"),
        (np.zeros((2, 3)), ["a", "b"], "all numbers equal"),
    ],
)
def test_arrays_that_are_no_sets(vectors: np.ndarray, ids: object, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        from_arrays(vectors, ids)
