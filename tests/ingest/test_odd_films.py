"""Films that few people have: cut at every frame, slow, fast, of two sizes, without pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike.demo.footage import draw_footage, write_footage
from lookalike.errors import BadInput
from lookalike.ingest.seen import SeenFile, SeenTrack, Settings
from lookalike.ingest.tracks import scan
from tests import media

pytest.importorskip("av")
pytest.importorskip("cv2")


def tracks(path: Path) -> list[SeenTrack]:
    told = list(scan(path, Settings()))
    assert isinstance(told[-1], SeenFile)
    return [one for one in told if isinstance(one, SeenTrack)]


def two_shots(seconds: float = 6.0, size: tuple[int, int] = (320, 180)) -> tuple[list[np.ndarray], float]:
    """A drawn film of 10 frames a second, and when its only cut is."""
    drawn = draw_footage(2, seconds, rate=10.0, size=size)
    [cut] = drawn.cuts
    return list(drawn.frames()), cut


def test_shots_that_last_no_time(tmp_path: Path) -> None:
    """One frame in ten is of another shot: it is a track of its own, and so is what lies between."""
    frames, cut = two_shots()
    there, back = frames[0], frames[round(10 * cut)]
    write_footage(tmp_path / "film.mp4", ([there] * 9 + [back]) * 3, 10.0)
    found = tracks(tmp_path / "film.mp4")
    times = [[round(10 * (face.time or 0.0)) for face in one.sightings] for one in found]
    assert [9] in times
    assert [19] in times
    assert all(9 not in some and 19 not in some and 29 not in some for some in times if len(some) > 1)


def test_a_film_that_is_cut_at_every_frame(tmp_path: Path) -> None:
    """After some cuts it counts as shaken; every frame that is looked at gives its faces all the same."""
    frames, cut = two_shots()
    write_footage(tmp_path / "film.mp4", [frames[0], frames[round(10 * cut)]] * 10, 5.0)
    found = tracks(tmp_path / "film.mp4")
    assert {round(5 * (face.time or 0.0)) for one in found for face in one.sightings} == set(range(20))


@pytest.mark.parametrize(("rate", "repeated"), [(1.0, 1), (120.0, 12)])
def test_slow_and_fast_films(tmp_path: Path, rate: float, repeated: int) -> None:
    """The same pictures, one a second, or each twelve times at 120 a second: the cut parts people."""
    frames, cut = two_shots()
    repeats = [frame for frame in frames for _ in range(repeated)]
    write_footage(tmp_path / "film.mp4", repeats, rate)
    moment = cut * 10 * repeated / rate
    found = tracks(tmp_path / "film.mp4")
    assert found
    for one in found:
        assert one.start is not None
        assert one.end is not None
        assert one.end < moment - 1e-6 or one.start > moment - 1e-6
    assert {one.start < moment for one in found if one.start is not None} == {True, False}


def test_a_film_that_changes_its_size(tmp_path: Path) -> None:
    frames, _ = two_shots(6.0)
    larger, _ = two_shots(6.0, (640, 360))
    write_footage(tmp_path / "small.ts", frames[:15], 10.0)
    write_footage(tmp_path / "large.ts", larger[:15], 10.0)
    joined = tmp_path / "joined.ts"
    joined.write_bytes((tmp_path / "small.ts").read_bytes() + (tmp_path / "large.ts").read_bytes())
    widths = [[face.box[2] for face in one.sightings] for one in tracks(joined)]
    assert max(map(max, widths)) > 1.7 * min(map(min, widths))
    # Nobody goes on at twice the size.
    assert all(max(some) < 1.5 * min(some) for some in widths)


def test_a_film_without_pictures_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds sound but no pictures: leave it out"):
        tracks(media.sound(tmp_path))
