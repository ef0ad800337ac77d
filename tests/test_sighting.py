from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import BadInput
from lookalike.faceset import Sighting, box_at, seconds, timecode

GOOD = Sighting((10.0, 20.0, 80.0, 90.0), 0.9, 0.5, 0.4, 0.1, 70.2)
numbers = st.floats(0, 1)


def test_a_good_face_has_no_weakness() -> None:
    assert GOOD.weaknesses == ()


def test_every_weakness_is_named() -> None:
    poor = Sighting((0, 0, 39, 80), 0.5, 0.1, 0.05, 0.9)
    assert poor.weaknesses == ("small", "unsure", "blurred", "dark", "turned")
    assert Sighting((0, 0, 80, 80), 0.9, 0.5, 0.95, 0.0).weaknesses == ("bright",)


@given(
    st.tuples(*[st.floats(-1e4, 1e4)] * 4), numbers, numbers, numbers, numbers, st.none() | st.floats(0, 1e6)
)
def test_what_is_written_is_read_back(box, score, sharpness, exposure, turn, time) -> None:
    once = Sighting.from_text(Sighting(box, score, sharpness, exposure, turn, time).as_text())
    assert Sighting.from_text(once.as_text()) == once
    assert once.box == pytest.approx(box, abs=0.051)
    assert once.score == pytest.approx(score, abs=0.0006)


@pytest.mark.parametrize("text", ["", "[]", "{}", "3", '{"box":[1,2,3],"score":1}', "null"])
def test_what_is_no_sighting_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="does not describe a sighting"):
        Sighting.from_text(text)


def test_between_two_sightings_a_face_moves_evenly() -> None:
    first, last = (
        Sighting((left, 10, 40, side), 0.9, 0.5, 0.4, 0.1, time)
        for left, side, time in ((100, 50, 1.0), (200, 70, 3.0))
    )
    for both in ((first, last), (last, first)):
        assert box_at(both, 1.5) == (125, 10, 40, 55)
        assert box_at(both, 1.0) == box_at(both, 0.0) == first.box
        assert box_at(both, 3.0) == box_at(both, 9.0) == last.box
    assert box_at([last], 2.0) == last.box


def test_numbers_must_be_finite() -> None:
    with pytest.raises(BadInput, match="finite"):
        Sighting((0, 0, float("nan"), 1), 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("70.5", 70.5), ("1:10", 70.0), ("00:01:10", 70.0), ("1:00:00.25", 3600.25), ("0", 0.0), (" 90 ", 90.0)],
)
def test_times_are_read_as_people_write_them(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "a", "-1", "1:", ":1", "1:2:3:4", "nan", "1e3", "1:70:00", "1:99", "٣"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="a time is written as"):
        seconds(text)


@given(st.floats(0, 1e6))
def test_times_come_back(time: float) -> None:
    assert seconds(timecode(time)) == pytest.approx(time, abs=0.0501)


def test_times_are_written_as_people_do() -> None:
    assert [timecode(one) for one in (0, 9.96, 70.24, 3661)] == [
        "00:00:00.0",
        "00:00:10.0",
        "00:01:10.2",
        "01:01:01.0",
    ]
