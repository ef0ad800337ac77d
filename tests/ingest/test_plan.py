"""What is to be done is told before it is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.ingest.files import Media, MediaPath
from lookalike.ingest.plan import START, Pace, lasting, make_plan


def file(name: str, kind: str, album: str = "a") -> MediaPath:
    return MediaPath(Path(name), name, album, Media(kind), 1, 1)  # type: ignore[arg-type]


def test_the_plan_adds_up() -> None:
    files = [file("1.mp4", "video"), file("2.jpg", "photo"), file("3.jpg", "photo", "b")]
    plan = make_plan(files, [3600.0, 0.0, 0.0], known=4, left_out=1, processors=2)
    # One hour of film and two photos, looked at and described, on two processors.
    assert plan.seconds == pytest.approx(START + (0.27 * 3600 + 0.23 * 2) / 2)
    assert str(plan) == (
        "1 video of 60 min and 2 photos in 2 albums: about 8 min, 97 MB; "
        "4 files known already; 1 file left out"
    )


def test_all_processors_share_the_work() -> None:
    def seconds(processors: int) -> float:
        return make_plan([file("1.mp4", "video")], [100.0], 0, 0, processors).seconds

    assert seconds(1) == pytest.approx(START + 27)
    assert seconds(16) == pytest.approx(START + 27 / 16)


@pytest.mark.parametrize(("length", "took"), [(15.0, 4.6), (4.2, 4.0)])
def test_a_short_film_takes_as_long_as_the_start_at_least(length: float, took: float) -> None:
    """What a sitcom and a crowd in a street took on two processors, the start of the program among it."""
    assert took / 2 < make_plan([file("1.mp4", "video")], [length], 0, 0, 2).seconds < 2 * took


def test_the_pace_that_was_measured_counts() -> None:
    files = [file("1.mp4", "video"), file("2.jpg", "photo")]
    pace = Pace(film=0.5, photo=2.0, film_faces=0.1, photo_faces=1.0)
    assert make_plan(files, [100.0, 0.0], 0, 0, 2, pace).seconds == pytest.approx(START + (60 + 3) / 2)


def test_nothing_to_do() -> None:
    assert make_plan([], [], 0, 0, 2).seconds == 0
    assert str(make_plan([], [], 0, 0, 2)) == "nothing new"
    assert str(make_plan([], [], 1, 0, 2)) == "nothing new; 1 file known already"


def test_times_in_words() -> None:
    assert [lasting(one) for one in (0.1, 89, 90, 3600, 5400, 36000)] == [
        "1 s",
        "89 s",
        "2 min",
        "60 min",
        "1.5 h",
        "10.0 h",
    ]
