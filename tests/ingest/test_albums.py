"""Faces of an album are grouped by person, carefully."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import BadInput
from lookalike.ingest.seen import Album

ANNA, BEN = np.float32([1, 0, 0]), np.float32([0, 1, 0])
LIKE_ANNA = np.float32([0.9, 0.1, 0])


def test_the_same_face_joins_and_another_begins() -> None:
    album = Album(0.9)
    assert album.place(np.stack([ANNA, BEN])) == [0, 1]
    assert album.place(np.stack([BEN, LIKE_ANNA])) == [1, 0]
    assert album.place(np.float32([[0, 0, 1]])) == [2]
    assert len(album) == 3


def test_two_faces_of_one_photo_never_join() -> None:
    album = Album(0.5)
    assert album.place(np.stack([ANNA])) == [0]
    # The nearer of the two is taken for the one that is known.
    assert album.place(np.stack([LIKE_ANNA, ANNA])) == [1, 0]


def test_lengths_do_not_matter() -> None:
    album = Album(0.9)
    album.place(np.stack([ANNA * 1000]))
    album.place(np.stack([LIKE_ANNA / 1000]))
    assert len(album) == 1


def test_a_descriptor_that_cannot_tell_groups_nothing() -> None:
    album = Album(None)
    assert album.place(np.stack([ANNA])) == [0]
    assert album.place(np.stack([ANNA])) == [1]


def test_groups_made_before_are_taken_over() -> None:
    album = Album(0.9)
    album.remember(np.stack([ANNA, LIKE_ANNA]))
    assert album.place(np.stack([BEN, ANNA])) == [1, 0]


def test_zeros_are_refused() -> None:
    with pytest.raises(BadInput, match="zeros only"):
        Album(0.9).place(np.zeros((1, 3), np.float32))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.integers(0, 99), st.floats(-1, 1))
def test_every_face_has_a_place_and_no_two_of_a_photo_share_it(
    counts: list[int], seed: int, least: float
) -> None:
    rng, album = np.random.default_rng(seed), Album(least)
    for count in counts:
        before = len(album)
        places = album.place(rng.standard_normal((count, 5)).astype(np.float32))
        assert len(set(places)) == count
        new = sorted(place for place in places if place >= before)
        assert new == list(range(before, len(album)))
