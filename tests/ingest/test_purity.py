"""Purity: tracks whose faces form two chains are parted, and only those."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.descriptors.contract import Descriptor, Picture, Vector
from lookalike.faceset import Sighting
from lookalike.ingest.seen import Described, SeenTrack, one_person_each, part_mixed, people


def turned(*degrees: float) -> NDArray[np.float32]:
    """Faces of two numbers, by their angle, of any length: 20 degrees apart have a cosine of .94."""
    angles = np.radians(degrees)
    lengths = np.arange(1, len(degrees) + 1)[:, None]
    return (lengths * np.stack([np.cos(angles), np.sin(angles)], axis=1)).astype(np.float32)


def track(number: int, start: float, faces: NDArray[np.float32], *together: int) -> Described:
    sightings = tuple(
        Sighting((0.0, 0.0, 50.0, 50.0), 0.9, 0.5, 0.5, 0.0, start + 0.2 * place)
        for place in range(len(faces))
    )
    pictures = tuple(f"{number}.{place}".encode() for place in range(len(faces)))
    return SeenTrack(number, sightings, pictures, frozenset(together), 2 * len(faces)), faces


def test_a_person_who_turns_is_one_chain() -> None:
    [whole] = people(turned(0, 20, 40, 60, 80, 100, 120), 0.9)
    assert whole.tolist() == list(range(7))


def test_two_people_are_two_chains_whoever_comes_back() -> None:
    found = people(turned(0, 10, 90, 100, 5, 95, 12), 0.9)
    assert [part.tolist() for part in found] == [[0, 1, 4, 6], [2, 3, 5]]


def test_a_few_odd_faces_are_nobody_else() -> None:
    assert len(people(turned(0, 5, 10, 90, 95), 0.9)) == 1
    # With two people they go to whom they are most alike: 50 to those about 80, -40 to those about 5.
    found = people(turned(0, 5, 10, 50, 80, 85, 90, -40), 0.9)
    assert [part.tolist() for part in found] == [[0, 1, 2, 7], [3, 4, 5, 6]]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_short_tracks_are_never_parted(count: int) -> None:
    assert len(people(turned(*(90.0 * place for place in range(count))), 0.9)) == 1


def test_a_parted_track_becomes_tracks_of_their_own() -> None:
    mixed = track(3, 1.0, turned(0, 5, 10, 90, 95, 99), 4, 5)
    others = [track(4, 1.1, turned(20, 20), 3, 5), track(5, 1.4, turned(30), 3, 4)]
    found = part_mixed([mixed, *others], 0.9)
    assert [one.number for one, _ in found] == [3, 4, 5, 6]
    assert [one.start for one, _ in found] == pytest.approx([1.0, 1.1, 1.4, 1.6])
    first, last = found[0], found[3]
    assert first[0].pictures == (b"3.0", b"3.1", b"3.2")
    assert last[0].pictures == (b"3.3", b"3.4", b"3.5")
    np.testing.assert_array_equal(last[1], mixed[1][3:])
    assert first[0].total == last[0].total == 6
    # With which of the two the others were seen is not known.
    assert [set(one.together) for one, _ in found] == [set(), {5}, {4}, set()]


class Sure(Descriptor):
    """A descriptor whose only use is what it says of itself."""

    dimension = 2
    same_person = 0.9
    parts_people = True

    def describe(self, picture: Picture) -> Vector:
        raise NotImplementedError


class Unsure(Sure):
    parts_people = False


class Mute(Sure):
    same_person = None


@pytest.mark.parametrize(("part", "count"), [(Sure(), 2), (Unsure(), 1), (Mute(), 1)])
def test_only_a_descriptor_that_can_tell_parts(part: Descriptor, count: int) -> None:
    assert len(one_person_each([track(0, 0.0, turned(0, 5, 10, 90, 95, 99))], part, 50)) == count


def test_pure_tracks_stay_as_they_are() -> None:
    tracks = [track(0, 0.0, turned(0, 10, 20), 1), track(1, 0.2, turned(90, 95), 0)]
    found = part_mixed(tracks, 0.9)
    assert [one for one, _ in found] == [one for one, _ in tracks]
    assert part_mixed([], 0.9) == []
