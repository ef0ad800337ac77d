"""What is to be done is told before it is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.intake.files import MediaPath
from lookalike.intake.plan import lasting, make_plan
from lookalike.intake.recognition import Media


def file(name: str, kind: str, album: str = "a") -> MediaPath:
    return MediaPath(Path(name), name, album, Media(kind), 1, 1)  # type: ignore[arg-type]


def test_the_plan_adds_up() -> None:
    files = [file("1.mp4", "video"), file("2.jpg", "photo"), file("3.jpg", "photo", "b")]
    plan = make_plan(files, [3600.0, 0.0, 0.0], known=4, left_out=1, processors=2)
    # One hour of film and two photos: one of the processors describes faces all the time, and takes longest.
    assert plan.seconds == pytest.approx(0.7 * 3600 + 0.15 * 2)
    assert plan.units == 3602
    assert str(plan) == (
        "1 film of 60 min and 2 photos in 2 albums: about 42 min, 97 MB; "
        "4 files known already; 1 file left out"
    )


def test_one_processor_does_all_of_it_and_many_wait_for_the_one_that_describes() -> None:
    def seconds(processors: int) -> float:
        return make_plan([file("1.mp4", "video")], [100.0], 0, 0, processors).seconds

    assert seconds(1) == pytest.approx(90)
    assert seconds(2) == seconds(16) == pytest.approx(70)


def test_workers_that_describe_too_share_all_of_it() -> None:
    plan = make_plan([file("1.mp4", "video")], [100.0], 0, 0, 16, describers=16)
    assert plan.seconds == pytest.approx(90 / 16)


def test_nothing_to_do() -> None:
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
