"""From frames to tracks with all that is between: drawn films, and real frames where there are any."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lookalike.demo.films import film
from lookalike.ingest.align import align, judge
from lookalike.ingest.detect import Detector
from lookalike.ingest.pictures import read_picture
from lookalike.ingest.shots import Cuts, thumbnail
from lookalike.ingest.tracks import Seen, Track, Tracker
from tests.ingest.drawn_frames import frame, person

pytest.importorskip("cv2")
FRAMES = Path(os.environ.get("LOOKALIKE_DATA", "there is none")) / "ytf_frames"


def tracked(frames: list[np.ndarray], detector: Detector, look_for_cuts: bool = True) -> list[Track]:
    """All tracks of a film of five frames a second, by number."""
    tracker, cuts = Tracker(), Cuts()
    ended = []
    for number, picture in enumerate(frames):
        time = number / 5
        if cuts.is_cut(thumbnail(picture.mean(axis=2).astype(np.uint8))) and look_for_cuts:
            ended += tracker.cut(time)
        faces = []
        for found in detector.find(picture):
            square = align(picture, found.landmarks)
            sighting = judge(square, found.landmarks, found.box, found.score, time)
            faces.append(Seen(found, square, sighting))
        ended += tracker.see(time, faces)
    return sorted(ended + tracker.end(), key=lambda track: track.number)


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector()


@pytest.mark.parametrize("difficulty", [0.2, 0.8])
def test_a_film_of_one_person_is_one_track(detector: Detector, difficulty: float) -> None:
    for number in range(4):
        pictures = film(person(number), 0, 0, frames=8, size=96, difficulty=difficulty)
        frames = [frame((picture, 80 + 6 * at, 70)) for at, picture in enumerate(pictures)]
        assert [(track.start, track.end, track.total) for track in tracked(frames, detector)] == [(0, 1.4, 8)]


def test_two_shots_of_two_people(detector: Detector) -> None:
    casts = [film(person(number), 0, 0, frames=6, size=96, difficulty=0.2) for number in range(4)]
    first = [
        frame((one, 20, 60), (other, 190 - 4 * at, 90))
        for at, (one, other) in enumerate(zip(*casts[:2], strict=True))
    ]
    second = [
        frame((one, 60, 20), (other, 200, 120), shade=190) for one, other in zip(*casts[2:], strict=True)
    ]
    tracks = tracked(first + second, detector)
    assert [(track.start, track.end, track.total) for track in tracks] == [(0, 1, 6)] * 2 + [
        (1.2, 2.2, 6)
    ] * 2
    assert [track.together for track in tracks] == [{1}, {0}, {3}, {2}]
    lefts = [track.seen[0].sighting.box[0] for track in tracks]
    assert lefts[0] < lefts[1]
    assert lefts[2] < lefts[3]


@pytest.mark.skipif(not FRAMES.is_dir(), reason="needs LOOKALIKE_DATA with ytf_frames")
def test_real_videos_are_one_track_each(detector: Detector) -> None:
    """Five frames that lie seconds apart, as if they were a fifth of a second apart: harder than footage."""
    whole, cuts, videos = 0, 0, 0
    for video in sorted(FRAMES.glob("*/*")):
        pictures = [read_picture(path) for path in sorted(video.glob("*.jpg"))]
        tracks = tracked(pictures, detector, look_for_cuts=False)
        whole += max(track.total for track in tracks) == len(pictures)
        watcher = Cuts()
        cuts += sum(watcher.is_cut(thumbnail(p.mean(axis=2).astype(np.uint8))) for p in pictures)
        videos += 1
    assert whole >= 0.95 * videos
    assert cuts <= 0.15 * 4 * videos
