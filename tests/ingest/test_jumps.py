"""Tracks on both sides of a jump: joined if the descriptors say one person, and left apart otherwise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.faceset import Sighting
from lookalike.ingest.seen import Described, SeenTrack, join_jumps

ONE, OTHER = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
NEAR = (0.96, 0.28, 0.0)  # cosine .96 to ONE, .28 to OTHER


def track(
    number: int,
    times: list[float],
    face: tuple[float, ...],
    after: int | None = None,
    *together: int,
    alike: float = 0.8,
) -> Described:
    sightings = tuple(Sighting((0.0, 0.0, 50.0, 50.0), 0.9, 0.5, 0.5, 0.0, time) for time in times)
    pictures = tuple(f"{number} at {time}".encode() for time in times)
    faces: NDArray[np.float32] = np.array([face] * len(times), np.float32) * (number + 1)
    follows = None if after is None else (after, alike)
    return SeenTrack(number, sightings, pictures, frozenset(together), len(times), follows), faces


def numbers(tracks: list[Described]) -> list[int]:
    return [one.number for one, _ in tracks]


def test_one_person_goes_on_after_a_jump() -> None:
    parts = [track(0, [0.0, 0.2], ONE), track(1, [0.4], NEAR, 0), track(2, [0.6, 0.8], ONE, 1)]
    [(whole, faces)] = join_jumps(parts[::-1], 0.94, 50)
    assert whole.number == 0
    assert [one.time for one in whole.sightings] == [0.0, 0.2, 0.4, 0.6, 0.8]
    assert whole.pictures[2] == b"1 at 0.4"
    assert whole.total == 5
    assert np.array_equal(faces, np.concatenate([faces for _, faces in parts]))


def test_another_person_in_the_same_place_does_not() -> None:
    assert numbers(join_jumps([track(0, [0.0], ONE), track(1, [0.4], OTHER, 0)], 0.94, 50)) == [0, 1]
    assert numbers(join_jumps([track(0, [0.0], ONE), track(1, [0.4], NEAR, 0)], 0.97, 50)) == [0, 1]


def test_whoever_looks_unlike_must_be_described_alike() -> None:
    parts = [track(0, [0.0], ONE), track(1, [0.4], NEAR, 0, alike=0.6)]
    assert numbers(join_jumps(parts, 0.94, 50)) == [0, 1]
    # Half way from .91 to 1 is .955.
    assert numbers(join_jumps(parts, 0.91, 50)) == [0]


def test_a_sure_descriptor_is_believed_whatever_they_look_like() -> None:
    parts = [track(0, [0.0], ONE), track(1, [0.4], NEAR, 0, alike=0.6)]
    assert numbers(join_jumps(parts, 0.94, 50, is_sure=True)) == [0]
    assert numbers(join_jumps([*parts[:1], track(1, [0.4], OTHER, 0)], 0.94, 50, is_sure=True)) == [0, 1]


def test_the_same_person_elsewhere_or_later_does_not() -> None:
    assert numbers(join_jumps([track(0, [0.0], ONE), track(1, [9.0], ONE)], 0.94, 50)) == [0, 1]


def test_a_descriptor_that_cannot_tell_joins_nothing() -> None:
    assert numbers(join_jumps([track(1, [0.4], ONE, 0), track(0, [0.0], ONE)], None, 50)) == [0, 1]


def test_who_was_dropped_as_noise_is_nobody() -> None:
    assert numbers(join_jumps([track(3, [0.4], ONE, 2)], 0.94, 50)) == [3]


def test_who_was_seen_together_keeps_to_the_joined_tracks() -> None:
    parts = [
        track(0, [0.0], ONE, None, 1),
        track(1, [0.0], OTHER, None, 0),
        track(2, [0.4], ONE, 0, 3),
        track(3, [0.4], OTHER, 1, 2),
        track(4, [0.8], ONE, 2, 5),
        track(5, [0.8], (0.0, 0.0, 1.0), 3, 4),
    ]
    found = join_jumps(parts, 0.94, 50)
    assert {one.number: set(one.together) for one, _ in found} == {0: {1, 5}, 1: {0}, 5: {0}}


def test_a_joined_track_has_no_more_faces_than_any() -> None:
    parts = [track(0, [0.0, 0.2, 0.4, 0.6], ONE), track(1, [0.8, 1.0, 1.2], ONE, 0)]
    [(whole, faces)] = join_jumps(parts, 0.94, 4)
    assert [one.time for one in whole.sightings] == [0.0, 0.4, 0.8, 1.2]
    assert len(faces) == len(whole.pictures) == 4
    assert whole.total == 7
