"""Tracks: drawn people who stay, move, pass each other, vanish and are replaced."""

from __future__ import annotations

import functools
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from lookalike.errors import BadInput
from lookalike.faceset import Sighting
from lookalike.ingest.align import TEMPLATE
from lookalike.ingest.detect import Found
from lookalike.ingest.seen import SAME
from lookalike.ingest.tracks import ELSEWHERE, Kept, Seen, Track, Tracker
from tests.ingest.drawn_frames import face

STEP = 0.2


@functools.cache
def square(person: int, yaw: float = 0.0) -> np.ndarray:
    return face(person, yaw, 192)


def seen(
    person: int,
    left: float,
    time: float,
    top: float = 50.0,
    score: float = 0.9,
    yaw: float = 0.0,
    scale: float = 1.0,
) -> Seen:
    """A face 80 wide and 100 high, or so many times that, as a detector would have found it."""
    box = (float(left), float(top), 80.0 * scale, 100.0 * scale)
    found = Found(box, TEMPLATE / 2 + (left, top), score)
    # The person's number is kept where it does not matter, to tell in the end who was joined.
    return Seen(found, square(person, yaw), Sighting(box, score, person / 100, 0.5, 0.0, time))


def people(track: Track) -> set[int]:
    return {round(one.sighting.sharpness * 100) for one in track.seen}


def run(
    frames: list[list[tuple[int, float]]], tracker: Tracker | None = None, cuts: tuple[int, ...] = ()
) -> list[Track]:
    """Feed frames of (person, left), one every fifth of a second; return all tracks by number."""
    tracker = tracker or Tracker(encode=lambda _: b"")
    ended = []
    for number, faces in enumerate(frames):
        if number in cuts:
            ended += tracker.cut(number * STEP)
        ended += tracker.see(number * STEP, [seen(person, left, number * STEP) for person, left in faces])
    ended += tracker.end()
    return sorted(ended, key=lambda track: track.number)


def spans(tracks: list[Track]) -> list[tuple[float, float, int]]:
    return [(round(track.start, 6), round(track.end, 6), track.total) for track in tracks]


def test_one_person_who_stays() -> None:
    (track,) = run([[(1, 100)]] * 6)
    assert (track.number, track.start, track.end, track.total) == (0, 0.0, 1.0, 6)
    assert [one.sighting.time for one in track.seen] == [STEP * number for number in range(6)]
    assert track.together == set()


def test_one_person_who_walks_and_turns() -> None:
    tracker = Tracker(encode=lambda _: b"")
    for number in range(10):
        # More than half a head from frame to frame.
        tracker.see(number * STEP, [seen(1, 50.0 * number, number * STEP, yaw=-27.0 + 6 * number)])
    assert spans(tracker.end()) == [(0.0, 1.8, 10)]


def test_two_people_know_of_each_other() -> None:
    one, other, third = run([[(1, 100), (2, 300)]] * 3 + [[(1, 100), (2, 300), (3, 500)]] * 2)
    assert [people(track) for track in (one, other, third)] == [{1}, {2}, {3}]
    assert one.together == {1, 2}
    assert other.together == {0, 2}
    assert third.together == {0, 1}


def test_who_comes_later_in_an_empty_place_was_not_together() -> None:
    one, other = run([[(1, 100)]] * 3 + [[(2, 400)]] * 3)
    assert one.together == other.together == set()


def test_people_who_pass_each_other_keep_their_tracks() -> None:
    frames = [[(1, 100 + 20 * number), (2, 400 - 20 * number)] for number in range(16)]
    one, other = run(frames)
    assert (people(one), people(other)) == ({1}, {2})
    assert one.total == other.total == 16


def test_a_jerk_of_the_camera_does_not_end_a_track() -> None:
    assert spans(run([[(1, 100)]] * 3 + [[(1, 500)]] * 3)) == [(0.0, 1.0, 6)]


def test_people_who_change_places_at_once_keep_their_tracks() -> None:
    one, other = run([[(1, 100), (2, 200)]] * 4 + [[(2, 100), (1, 200)]] * 4)
    assert (people(one), people(other)) == ({1}, {2})
    assert one.total == other.total == 8


def test_another_person_in_the_same_place_starts_a_new_track() -> None:
    one, other = run([[(1, 100)]] * 5 + [[(3, 100)]] * 5)
    assert (people(one), people(other)) == ({1}, {3})
    assert one.end < other.start
    assert one.together == set()


def test_a_gap_is_bridged_up_to_its_length() -> None:
    here, away = [(1, 100.0)], []
    assert spans(run([[*here]] * 2 + [away] * 4 + [[*here]] * 2)) == [(0.0, 1.4, 4)]
    assert spans(run([[*here]] * 2 + [away] * 5 + [[*here]] * 2)) == [(0.0, 0.2, 2), (1.4, 1.6, 2)]


# The drawn people 0 and 1 are alike enough to be one person who turned, but only where that person may be.


def test_a_changed_look_is_followed_as_far_as_a_head_moves() -> None:
    assert spans(run([[(0, 100)]] * 2 + [[(1, 200)]] * 2)) == [(0.0, 0.6, 4)]
    assert len(run([[(0, 100)]] * 2 + [[(1, 300)]] * 2)) == 2


def test_a_track_that_moved_is_expected_where_it_went() -> None:
    assert spans(run([[(0, 0)], [(0, 100)], [(0, 200)], [], [(1, 400)]])) == [(0.0, 0.8, 4)]
    assert len(run([[(0, 200)], [(0, 200)], [(0, 200)], [], [(1, 400)], [(1, 400)]])) == 2


def test_a_face_that_is_twice_as_large_at_once_is_another() -> None:
    """Somebody before the camera goes, and who was behind is seen in the same place."""
    for scale, tracks in ((1.7, 1), (0.6, 1), (2.1, 2), (0.45, 2)):
        tracker = Tracker(encode=lambda _: b"")
        for number in range(6):
            size = 1.0 if number < 3 else scale
            tracker.see(number * STEP, [seen(1, 100, number * STEP, scale=size)])
        assert len(tracker.end()) == tracks


@pytest.mark.parametrize(("scale", "goes_on"), [(1.4, True), (0.7, True), (1.6, False), (0.6, False)])
def test_behind_a_cut_nobody_goes_on_much_larger(scale: float, goes_on: bool) -> None:
    tracker = Tracker(encode=lambda _: b"")
    tracker.see(0.0, [seen(1, 100, 0.0)])
    tracker.cut(0.2)
    tracker.see(0.2, [seen(1, 100, 0.2, scale=scale)])
    [track] = tracker.end()
    assert (track.after is not None) == goes_on


def test_tracks_are_returned_when_they_end() -> None:
    tracker = Tracker(gap=0.5, encode=lambda _: b"")
    for number in range(3):
        assert tracker.see(number * STEP, [seen(1, 100, number * STEP)]) == []
    assert tracker.see(0.9, []) == []  # half a second after the last
    (track,) = tracker.see(1.0, [])
    assert (track.end, track.total) == (pytest.approx(0.4), 3)
    assert tracker.end() == []


def test_a_cut_ends_all_tracks() -> None:
    tracks = run([[(1, 100), (2, 300)]] * 6, cuts=(3,))
    assert spans(tracks) == [(0.0, 0.4, 3)] * 2 + [(0.6, 1.0, 3)] * 2
    assert [people(track) for track in tracks] == [{1}, {2}, {1}, {2}]
    assert tracks[0].together == {1}
    assert tracks[2].together == {3}


def test_numbers_go_from_left_to_right() -> None:
    tracks = run([[(3, 500), (1, 100), (2, 300)]] * 2 + [[(3, 500), (1, 100), (2, 300), (4, 0)]] * 2)
    assert [people(track) for track in tracks] == [{1}, {2}, {3}, {4}]


def test_noise_is_dropped() -> None:
    # Seen once among many frames.
    tracks = run([[(1, 100)]] * 4 + [[(1, 100), (2, 400)]] + [[(1, 100)]] * 4)
    assert [people(track) for track in tracks] == [{1}]
    assert tracks[0].together == {1}
    # Seen often, and never surely.
    tracker = Tracker()
    for number in range(5):
        tracker.see(number * STEP, [seen(1, 100, number * STEP, score=0.7)])
    assert tracker.end() == []


def test_a_shot_of_one_frame_is_no_noise() -> None:
    assert spans(run([[(1, 100)]])) == [(0.0, 0.0, 1)]
    assert spans(run([[(1, 100)]] * 3 + [[(2, 100)]] + [[(1, 100)]] * 3, cuts=(3, 4)))[1] == (0.6, 0.6, 1)
    assert run([[(1, 100)], []]) == []


def test_kept_faces_are_spread_evenly_and_bounded() -> None:
    """Four of eleven: 0, 1, 2, 3; the fifth thins them to 0, 2, 4; then 6; then 0, 4, 8."""
    (track,) = run([[(1, 100)]] * 11, Tracker(most=4, encode=lambda _: b""))
    assert track.total == 11
    assert [round(one.sighting.time / STEP) for one in track.seen if one.sighting.time is not None] == [
        0,
        4,
        8,
    ]
    (single,) = run([[(1, 100)]] * 11, Tracker(most=1, encode=lambda _: b""))
    assert [one.sighting.time for one in single.seen] == [0.0]


def test_only_kept_faces_are_encoded() -> None:
    calls = []
    tracker = Tracker(most=2, encode=lambda crop: calls.append(crop) or b"x")  # type: ignore[func-returns-value]
    for number in range(1000):
        tracker.see(number * STEP, [seen(1, 100, number * STEP)])
    (track,) = tracker.end()
    assert track.total == 1000
    assert len(track.seen) <= 2
    assert len(calls) < 25


def test_squares_are_kept_as_webp() -> None:
    tracker = Tracker()
    tracker.see(0.0, [seen(1, 100, 0.0)])
    (track,) = tracker.end()
    (kept,) = track.seen
    assert isinstance(kept, Kept)
    with Image.open(io.BytesIO(kept.picture)) as image:
        assert (image.format, image.size) == ("WEBP", (192, 192))


def test_fifty_faces_a_frame() -> None:
    frames = [[(place % 12, 100.0 * place + number) for place in range(50)] for number in range(4)]
    tracks = run(frames)
    assert [track.total for track in tracks] == [4] * 50
    assert all(len(people(track)) == 1 and len(track.together) == 49 for track in tracks)


films = st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 12)), max_size=5, unique_by=lambda one: one[1]),
    min_size=1,
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(films, st.integers(1, 6), st.sets(st.integers(1, 13)), st.randoms(use_true_random=False))
def test_what_holds_of_every_film(film, most, cuts, random) -> None:
    frames = [[(person, 60.0 * place) for person, place in faces] for faces in film]
    shuffled = [random.sample(faces, len(faces)) for faces in frames]
    made = [
        run(given, Tracker(most=most, least=1, encode=lambda _: b""), tuple(cuts))
        for given in (frames, shuffled)
    ]
    tracks = made[0]
    # The order of the faces of a frame does not matter.
    assert [
        (*one, track.seen, track.together) for one, track in zip(spans(made[0]), made[0], strict=True)
    ] == [(*one, track.seen, track.together) for one, track in zip(spans(made[1]), made[1], strict=True)]
    # Every face is in one track, and no track has two of a frame.
    assert sum(track.total for track in tracks) == sum(map(len, frames))
    for track in tracks:
        times = [one.sighting.time for one in track.seen]
        assert times == sorted(set(times))
        assert track.total <= round((track.end - track.start) / STEP) + 1
        assert 1 <= len(track.seen) <= min(most, track.total)
        assert not any(
            track.start < cut * STEP - 1e-9 <= track.end - 1e-9 for cut in cuts if cut < len(frames)
        )
        assert track.number not in track.together
        for other in track.together:
            assert track.number in tracks[other].together
    # Numbers follow the start, those of one frame from left to right.
    order = [(track.start, track.seen[0].sighting.box[0]) for track in tracks]
    assert order == sorted(order)
    assert [track.number for track in tracks] == list(range(len(tracks)))


def test_time_goes_on() -> None:
    tracker = Tracker()
    tracker.see(1.0, [])
    tracker.cut(1.0)
    for wrong in (1.0, 0.5, float("nan"), float("inf")):
        with pytest.raises(BadInput, match="order of time"):
            tracker.see(wrong, [])
    with pytest.raises(BadInput, match="order of time"):
        tracker.cut(0.9)


@pytest.mark.parametrize(
    "wrong", [{"most": 0}, {"most": 2.0}, {"least": 0}, {"gap": -1.0}, {"gap": float("nan")}]
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(BadInput, match="got"):
        Tracker(**wrong)  # type: ignore[arg-type]


def test_a_track_knows_which_one_a_cut_ended_in_its_place() -> None:
    # Both stay; then one goes, and another stands in an empty place.
    tracks = run(
        [[(1, 100), (2, 400)]] * 3 + [[(1, 104), (2, 398)]] * 3 + [[(2, 400), (3, 900)]] * 3, cuts=(3, 6)
    )
    assert all(track.after is None or 0.9 < track.after[1] <= 1.001 for track in tracks)
    assert [(people(track), track.after and track.after[0]) for track in tracks] == [
        ({1}, None),
        ({2}, None),
        ({1}, 0),
        ({2}, 1),
        ({2}, 3),
        ({3}, None),
    ]


def test_only_the_first_frame_after_a_cut_continues_what_was_before() -> None:
    tracks = run([[(1, 100)]] * 3 + [[]] + [[(1, 100)]] * 3, cuts=(3,))
    assert [track.after for track in tracks] == [None, None]


def test_a_track_that_was_lost_and_comes_back_follows_no_cut() -> None:
    tracks = run([[(1, 100)]] * 3 + [[]] * 7 + [[(1, 100)]] * 3)
    assert [track.after for track in tracks] == [None, None]


@pytest.mark.parametrize(("left", "alike"), [(100, 1.0), (145, 1.0), (160, ELSEWHERE), (220, ELSEWHERE)])
def test_behind_a_cut_looks_count_only_in_the_same_place(left: int, alike: float) -> None:
    """Two thirds of a face further on it may still be the same person, but not by looking the same."""
    _, track = run([[(1, 100)]] * 3 + [[(1, left)]] * 3, cuts=(3,))
    assert track.after == (0, pytest.approx(alike, abs=1e-3))
    assert (alike < SAME) == (left > 150)


def test_behind_a_cut_nobody_goes_on_from_afar() -> None:
    """However alike two look: shot and reverse shot show other people, who sit elsewhere."""
    for left in (240, 500):
        assert [track.after for track in run([[(1, 100)]] * 3 + [[(1, left)]] * 3, cuts=(3,))] == [None, None]
