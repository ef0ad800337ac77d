"""Time lines: when people are seen, film by film and year by year, as bars that lead to what is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath

from lookalike.faceset import timecode
from lookalike.web.models import SetView
from lookalike.web.people import moments
from lookalike.web.people_models import Moment
from lookalike.web.wording import counted

# The width of a drawing of moments, and the least width of a bar: one that can be seen and pressed.
WIDTH, LEAST = 1000.0, 14.0


@dataclass(frozen=True)
class Bar:
    """One moment, drawn: its set, its film if that can be played, where the bar lies, the times in words."""

    key: str
    film: str | None
    start: float
    left: float
    width: float
    when: str


@dataclass(frozen=True)
class Line:
    """A film or a year with its moments: what it is in full, what it is called beside the others."""

    title: str
    name: str
    moments: list[Bar]


@dataclass(frozen=True)
class TimeLine:
    """When sets are seen: in films, whose lines all end at `until`, and in years, as far as files say."""

    films: list[Line]
    years: list[Line]
    until: str

    def __bool__(self) -> bool:
        return bool(self.films or self.years)


def timeline(sets: Sequence[SetView]) -> TimeLine:
    """Lay out when sets are seen.

    Parameters
    ----------
    sets : sequence of SetView

    Returns
    -------
    TimeLine
        Films by name, from their start to the last moment of any; years in order, from January to December.
    """
    seen = moments(sets)
    last = max((one.end for one in seen), default=0.0)
    return TimeLine(_films(sets, seen, last or 1.0), _years(sets), timecode(last))


def _films(sets: Sequence[SetView], seen: Sequence[Moment], last: float) -> list[Line]:
    playable = {one.key: one.film for one in sets}
    names = {one.film: PurePosixPath(one.film.replace("\\", "/")).name or one.film for one in seen}
    alike = Counter(names.values())
    films: dict[str, Line] = {}
    for one in seen:
        width = max(LEAST, WIDTH * (one.end - one.start) / last)
        left = min(WIDTH * one.start / last, WIDTH - width)
        when = f"{timecode(one.start)} to {timecode(one.end)}"
        bar = Bar(one.key, playable.get(one.key), one.start, round(left, 1), round(width, 1), when)
        # Two films of one name are told apart by their folders.
        name = names[one.film] if alike[names[one.film]] == 1 else one.film
        films.setdefault(one.film, Line(one.film, name, [])).moments.append(bar)
    return list(films.values())


def _years(sets: Sequence[SetView]) -> list[Line]:
    """The days on which sets were taken, one bar a day, which leads to the first set of that day."""
    days: dict[date, list[SetView]] = {}
    for one in sets:
        for day in sorted({date.fromisoformat(said[:10]) for said in one.captured if said}):
            days.setdefault(day, []).append(one)
    years: dict[int, Line] = {}
    for day, those in sorted(days.items(), key=lambda pair: pair[0]):
        place = (day - date(day.year, 1, 1)).days / 366
        left = min(WIDTH * place, WIDTH - LEAST)
        words = f"{day.day} {day:%B} {day.year}"
        when = (
            words
            if len(those) == 1
            else f"{words}: {counted(len(those), 'clip or photo', 'clips and photos')}"
        )
        bar = Bar(those[0].key, None, 0.0, round(left, 1), LEAST, when)
        years.setdefault(day.year, Line(str(day.year), str(day.year), [])).moments.append(bar)
    return list(years.values())
