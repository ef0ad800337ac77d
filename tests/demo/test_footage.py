"""Footage: the film is what its truth says, and a detector agrees."""

from __future__ import annotations

import itertools
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.demo.footage import CONTAINERS, DrawnFootage, DrawnTrack, draw_footage, write_footage
from lookalike.demo.scenes import AWAY, HIDDEN, SCENES
from lookalike.errors import BadInput, StorageFailed
from lookalike.ingest.detect import YUNET

SMALL: dict[str, Any] = {"size": (320, 180), "rate": 10.0}
EVERY = 5  # frames from one sample to the next: 5 samples a second


@pytest.fixture(scope="module")
def footage() -> DrawnFootage:
    return draw_footage()


def of(footage: DrawnFootage, name: str) -> list[DrawnTrack]:
    """The tracks of one scene of the first round."""
    shot = footage.shots[list(SCENES).index(name)]
    return [track for track in footage.tracks if shot.first <= round(track.start * footage.rate) < shot.end]


def test_a_film_of_twenty_seconds_has_every_scene_once(footage: DrawnFootage) -> None:
    assert sum(least for _, least in SCENES.values()) == pytest.approx(20.0)
    assert len(footage) == 500
    assert len(footage.shots) == len(SCENES)
    assert len(footage.cuts) == len(SCENES) - 1
    counts = {name: len(of(footage, name)) for name in SCENES}
    assert counts == {
        "alone": 1,
        "pair": 2,
        "leaving": 2,
        "hidden": 1,
        "panned": 1,
        "empty": 0,
        "passing": 2,
    }
    assert {track.person for track in footage.tracks} == {0, 1, 2, 3}


def test_no_track_crosses_a_cut(footage: DrawnFootage) -> None:
    for track, cut in itertools.product(footage.tracks, footage.cuts):
        assert not track.start < cut <= track.end


def test_who_leaves_is_the_same_person_and_away_for_longer_than_two_seconds(footage: DrawnFootage) -> None:
    before, after = of(footage, "leaving")
    assert before.person == after.person
    assert after.start - before.end == pytest.approx(AWAY, abs=2 / footage.rate)
    assert before.visible[0] == after.visible[-1] == 1
    assert before.visible[-1] < 0.65
    assert after.visible[0] < 0.65


def test_who_is_hidden_is_hidden_for_a_moment(footage: DrawnFootage) -> None:
    (track,) = of(footage, "hidden")
    hidden = np.count_nonzero(track.visible < 0.5) / footage.rate
    assert hidden == pytest.approx(HIDDEN, abs=1.01 / footage.rate)
    assert track.visible.min() == 0
    assert track.visible[0] == track.visible[-1] == 1


def test_two_are_seen_at_once_and_never_cover_one_another(footage: DrawnFootage) -> None:
    for name in ("pair", "passing"):
        one, two = of(footage, name)
        assert one.person != two.person
        assert np.array_equal(one.times, two.times)
        apart = np.abs(one.boxes[:, :2] - two.boxes[:, :2]) > np.maximum(one.boxes[:, 2:], two.boxes[:, 2:])
        assert apart.any(axis=1).all()
    left = one.boxes[:, 0] - two.boxes[:, 0]
    assert left[0] * left[-1] < 0  # of those who pass


@pytest.mark.parametrize("size", [(640, 360), (1280, 720), (320, 180)])
def test_faces_move_smoothly_and_grow_with_the_picture(size: tuple[int, int]) -> None:
    for track in draw_footage(size=size, seconds=40).tracks:
        width = track.boxes[:, 2]
        assert (width >= 80 * size[0] / 640).all()
        assert (width <= 140 * size[0] / 640).all()
        assert np.abs(np.diff(track.boxes[:, :2], axis=0)).max() < 0.1 * width[0]
        assert track.end - track.start > 1


def test_a_detector_finds_every_face_and_nothing_else(footage: DrawnFootage) -> None:
    """The film asks nothing of a tracker that its detector could not give: 5 samples a second."""
    seen: dict[int, list[float]] = {}
    for number, frame in enumerate(footage.frames(EVERY)):
        time = number * EVERY / footage.rate
        boxes = _detected(frame)
        for index, track in enumerate(footage.tracks):
            at = np.flatnonzero(np.isclose(track.times, time))
            if not len(at):
                continue
            matching = [box for box in boxes if _overlap(box, track.boxes[at[0]]) > 0.5]
            if track.visible[at[0]] == 1:
                assert len(matching) == 1, f"person {track.person} is not found at {time}"
            boxes = [box for box in boxes if not any(box is other for other in matching)]
            if matching:
                seen.setdefault(index, []).append(time)
        assert not boxes, f"what is found at {time} is no face: {boxes}"
    for index, track in enumerate(footage.tracks):
        assert abs(seen[index][0] - track.start) <= 0.4
        assert abs(seen[index][-1] - track.end) <= 0.4
        assert np.diff(seen[index]).max() < 0.7


def test_cuts_change_the_room_and_a_pan_does_not(footage: DrawnFootage) -> None:
    frames = [frame.astype(np.int16) for frame in footage.frames(2)]
    change = [np.abs(frame - before).mean() for before, frame in itertools.pairwise(frames)]
    cuts = {int(np.ceil(round(cut * footage.rate) / 2)) - 1 for cut in footage.cuts}
    assert min(change[at] for at in cuts) > 2 * max(c for at, c in enumerate(change) if at not in cuts)
    panned = footage.shots[list(SCENES).index("panned")]
    first, last = frames[panned.first // 2 + 1], frames[panned.end // 2 - 1]
    assert np.abs(first[:60] - last[:60]).mean() > 5  # the wall above the head has moved


def test_the_same_film_twice_and_every_nth_frame_of_it() -> None:
    film = draw_footage(seconds=2.2, **SMALL)
    whole = np.stack(list(film.frames()))
    assert whole.shape == (22, 180, 320, 3)
    assert whole.dtype == np.uint8
    assert np.array_equal(np.stack(list(film.frames(4))), whole[::4])
    assert not np.array_equal(next(draw_footage(seconds=2.2, seed=1, **SMALL).frames()), whole[0])


def test_grain_only_where_it_is_difficult() -> None:
    def corner(difficulty: float) -> NDArray[np.uint8]:
        frames = draw_footage(seconds=2.2, difficulty=difficulty, **SMALL).frames()
        return np.stack([frame[:20, :20] for frame in frames])

    assert np.ptp(corner(0.0), axis=0).max() == 0
    assert 1 < corner(0.3).astype(float).std(axis=0).mean() < 4


def test_drawing_needs_little_memory() -> None:
    tracemalloc.start()
    try:
        for _ in itertools.islice(draw_footage(seconds=3600, **SMALL).frames(120), 6):
            pass
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_the_box_at_a_time(footage: DrawnFootage) -> None:
    track = footage.tracks[0]
    assert track.box(track.start) == tuple(track.boxes[0])
    assert track.box(1.0) == tuple(track.boxes[25])


def test_short_and_long_films_are_full() -> None:
    for seconds in (2.2, 5.0, 19.0, 33.3, 100.0):
        film = draw_footage(seconds=seconds, people=3)
        assert len(film) == round(seconds * film.rate)
        for shot in film.shots:
            people = [take.person for take in shot.scene.takes]
            assert len(set(people)) == len(people)
        assert all(track.end - track.start > 1 for track in film.tracks)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"people": 1}, "people 1"),
        ({"seconds": 1.0}, "seconds 1.0"),
        ({"seconds": float("nan")}, "seconds nan"),
        ({"rate": 5.0}, "rate 5.0"),
        ({"size": (100, 100)}, r"\(100, 100\)"),
        ({"size": (641, 360)}, "even"),
        ({"seed": -1}, "got -1"),
        ({"difficulty": 2.0}, "got 2.0"),
    ],
)
def test_bad_arguments(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        draw_footage(**wrong)


def test_no_step_between_frames() -> None:
    with pytest.raises(BadInput, match="1 or more, got 0"):
        next(draw_footage().frames(0))


def _detected(frame: NDArray[np.uint8]) -> list[NDArray[np.float32]]:
    """Boxes of faces by YuNet, read here so that the film is held against something not our own."""
    import cv2

    model, none = np.frombuffer(YUNET.read(), np.uint8), np.empty(0, np.uint8)
    high, wide = frame.shape[:2]
    detector = cv2.FaceDetectorYN.create("onnx", model, none, (wide, high), 0.6, 0.3, 50)
    _, found = detector.detect(np.ascontiguousarray(frame[:, :, ::-1]))
    return [] if found is None else [row[:4] for row in found]


def _overlap(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Intersection over union."""
    corner, end = np.maximum(a[:2], b[:2]), np.minimum(a[:2] + a[2:], b[:2] + b[2:])
    common = float(np.prod((end - corner).clip(0)))
    return common / float(np.prod(a[2:]) + np.prod(b[2:]) - common)


# Writing: what is written can be read back, and what cannot be written is refused.


@pytest.mark.parametrize("suffix", list(CONTAINERS))
def test_written_and_read_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"film{suffix.upper()}"
    frames = list(itertools.islice(draw_footage(seconds=2.2, **SMALL).frames(), 6))
    write_footage(path, frames, 12.5)
    times, read = _read(path)
    assert np.diff(times) == pytest.approx([0.08] * 5, abs=0.002)
    assert np.abs(read.astype(float) - np.stack(frames)).mean() < 5


def test_better_quality_is_nearer_and_longer(tmp_path: Path) -> None:
    frames = list(itertools.islice(draw_footage(seconds=2.2, **SMALL).frames(), 3))
    for quality in (10, 40):
        write_footage(tmp_path / f"{quality}.mp4", frames, quality=quality)
    assert (tmp_path / "10.mp4").stat().st_size > 2 * (tmp_path / "40.mp4").stat().st_size


@pytest.mark.parametrize(
    ("name", "shapes", "wrong", "says"),
    [
        ("film.xyz", [(4, 4, 3)], {}, "named .mp4"),
        ("film.mp4", [], {}, "got none"),
        ("film.mp4", [(5, 4, 3)], {}, "even"),
        ("film.mp4", [(4, 4)], {}, "even"),
        ("film.mp4", [(16, 16, 3), (32, 16, 3)], {}, "frame 1 has the size"),
        ("film.mp4", [(16, 16, 3)], {"rotation": 45}, "rotation 45"),
        ("film.mp4", [(16, 16, 3)] * 2, {"times": [0.0]}, "times has 1"),
    ],
)
def test_frames_that_cannot_be_written(
    tmp_path: Path, name: str, shapes: list[tuple[int, ...]], wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        write_footage(tmp_path / name, [np.zeros(shape, dtype=np.uint8) for shape in shapes], **wrong)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="cannot write the video"):
        write_footage(tmp_path / "none" / "film.mp4", [np.zeros((16, 16, 3), dtype=np.uint8)])


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(BadInput, match=r"pip install 'lookalike\[video\]'"):
        write_footage(tmp_path / "film.mp4", [])


def _read(path: Path) -> tuple[list[float], NDArray[np.uint8]]:
    import av

    with av.open(str(path)) as file:
        frames = list(file.decode(video=0))
    return [float(frame.time or 0) for frame in frames], np.stack(
        [frame.to_ndarray(format="rgb24") for frame in frames]
    )
