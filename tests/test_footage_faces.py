"""Films of real frames: what is counted of them, and, with the frames at hand, what they are worth."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.footage_faces import FOLDER, HELD, Film, Seen, count_tracks, join_frames, label, measure_films
from benchmarks.footage_page import section
from lookalike.ingest.files import START, recognise
from lookalike.ingest.video import open_video

FRAMES = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[2] / "shared" / "data")) / FOLDER
FILMS = [Film("a/0.mp4", "A"), Film("a/1.mp4", "A"), Film("b/2.mp4", "B"), Film("b/3.mp4", "B")]
SEEN = [
    Seen("a/0.mp4#1", 10, 0.0, 1.8),  # alone
    Seen("a/1.mp4#1", 4, 0.0, 0.6),  # torn
    Seen("a/1.mp4#2", 6, 0.8, 1.8),
    Seen("b/2.mp4#1", 19, 0.0, 1.8),  # somebody passes
    Seen("b/2.mp4#2", 2, 0.4, 0.6),
]


def test_tracks_are_counted_by_film() -> None:
    assert count_tracks(FILMS, SEEN) == {
        "tracks": 5,
        "faces": 41,
        "no_track": 1,
        "one_track": 1,
        "one_main_track": 2,
        "whole_track": 2,
    }


def test_the_longest_track_is_the_person_and_the_rest_are_not() -> None:
    assert label(FILMS, SEEN) == {
        "a/0.mp4#1": "A",
        "a/1.mp4#1": "somebody on a/1.mp4#1",
        "a/1.mp4#2": "A",
        "b/2.mp4#1": "B",
        "b/2.mp4#2": "somebody on b/2.mp4#2",
    }


def test_frames_are_joined_in_their_order_and_names_stay_out(tmp_path: Path) -> None:
    video = tmp_path / "frames" / "Some_Body" / "7"
    video.mkdir(parents=True)
    # The tenth comes after the second; sides are odd, one frame is larger.
    for number, (level, size) in {0: (20, (65, 71)), 2: (120, (65, 71)), 10: (220, (130, 142))}.items():
        Image.fromarray(np.full((*size[::-1], 3), level, np.uint8)).save(video / f"7.{number}.jpg")
    [film] = join_frames(tmp_path / "frames", tmp_path / "films")
    assert film == Film("000/0000.mp4", "0")
    with (tmp_path / "films" / film.name).open("rb") as stream:
        media = recognise(stream.read(START))
        assert media is not None
        stream.seek(0)
        with open_video(stream, media.container) as opened:
            frames = [(frame.time, frame.picture()) for frame in opened.frames()]
    assert frames[0][1].shape == (70, 64, 3)
    middle = [picture[35, 32].mean() for _, picture in frames]
    expected = [20] * 10 + [120] * 10 + [220] * 10
    assert middle == pytest.approx(expected, abs=4)
    assert frames[10][0] == pytest.approx(HELD)


@pytest.mark.skipif(not FRAMES.is_dir(), reason=f"no frames at {FRAMES}: set LOOKALIKE_DATA to their folder")
def test_real_frames_give_one_track_a_film_and_are_found_again(tmp_path: Path) -> None:
    people = [path for path in sorted(FRAMES.iterdir()) if path.is_dir()][:4]
    found = measure_films(FRAMES, tmp_path, people=len(people))
    assert found["films"] == sum(1 for person in people for video in person.iterdir() if video.is_dir())
    assert found["joined"]["no_track"] == 0
    assert found["joined"]["whole_track"] == found["films"]
    assert found["joined"]["one_main_track"] >= 0.95 * found["films"]
    # Their frames jump: without a descriptor that joins, some are torn.
    assert found["not_joined"]["whole_track"] < found["films"]
    best = found["rows"][0]
    assert (best["descriptor"], best["method"]) == ("sface", "baseline")
    assert best["map"] >= 0.85
    assert best["rank1"] >= 0.9
    text = "\n".join(section(json.loads(json.dumps(found))))
    assert f"| `sface` | `none` | joined | `baseline` | {best['mean_anr']:.4f} | {best['map']:.4f} |" in text
    assert not any(person.name in json.dumps(found) for person in people)
