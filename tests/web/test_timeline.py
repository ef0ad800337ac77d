"""Time lines: films on one scale, years from January to December, by numbers worked by hand."""

from __future__ import annotations

from lookalike.web.models import SetView
from lookalike.web.people import moments, timeline


def seen(
    key: str, film: str, start: float | None = None, end: float | None = None, *dates: str | None
) -> SetView:
    return SetView(
        key=key, id=key, title=key, origin=film, start=start, end=end, faces=1, captured=list(dates)
    )


def test_moments_lie_on_one_scale() -> None:
    line = timeline([seen("3", "a", 9.999, 10.0), seen("2", "b", 7.5, 10.0), seen("1", "a", 0.0, 5.0)])
    first, second = line.films
    assert line.until == "00:00:10.0"
    assert [(one.left, one.width) for one in first.moments] == [(0.0, 500.0), (986.0, 14.0)]
    assert [(one.left, one.width) for one in second.moments] == [(750.0, 250.0)]
    assert first.moments[0].when == "00:00:00.0 to 00:00:05.0"
    assert [(one.film, one.key, one.length) for one in moments([seen("2", "b", 7.5, 10.0)])] == [
        ("b", "2", 2.5)
    ]


def test_films_are_called_by_their_files_unless_two_have_one_name() -> None:
    films = ["/films/2019/party.mp4", "/films/2020/party.mp4", "D:\\films\\street.mp4"]
    shown = timeline([seen("1", film, 0.0, 1.0) for film in films]).films
    assert [one.title for one in shown] == films
    assert [one.name for one in shown] == [films[0], films[1], "street.mp4"]


def test_years() -> None:
    """The 2nd of July is the 183rd day, 182 days after the first: 1000 x 182 / 366."""
    line = timeline(
        [
            seen("1", "", None, None, "2019-07-02T23:59:59-11:00", None, "2019-01-01T00:00:00"),
            seen("2", "", None, None, "2019-07-02T01:00:00"),
            seen("3", "", 0.0, 1.0, "2020-12-31T00:00:00+00:00"),
            seen("4", "", None, None, None),
        ]
    )
    assert [one.name for one in line.years] == ["2019", "2020"]
    first, second = line.years[0].moments
    assert (first.left, first.when, first.key) == (0.0, "1 January 2019", "1")
    assert (second.left, second.when, second.key) == (497.3, "2 July 2019: 2 clips and photos", "1")
    assert line.years[1].moments[0].left == 986.0  # and does not stick out


def test_nothing_to_draw() -> None:
    assert not timeline([seen("4", "")])
    assert not timeline([])
