"""Timelines: when a person is seen in each film, as bars on one scale."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath

from lookalike.server.models import PersonPage
from lookalike.sighting import timecode

# The width of the drawing, and the least width of a bar: one that can be seen and pressed.
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
class Film:
    """A film with the moments of one person: where it lies, and what it is called beside the others."""

    title: str
    name: str
    moments: list[Bar]


def timelines(page: PersonPage) -> list[Film]:
    """Lay out a person's moments, film by film, all films from their start to the last moment of any.

    Parameters
    ----------
    page : PersonPage

    Returns
    -------
    list of Film
        In the order of the first moment given of each.
    """
    playable = {one.key: one.film for one in page.sets}
    last = _last(page) or 1.0
    names = {one.film: PurePosixPath(one.film.replace("\\", "/")).name or one.film for one in page.timeline}
    alike = Counter(names.values())
    films: dict[str, Film] = {}
    for one in page.timeline:
        width = max(LEAST, WIDTH * (one.end - one.start) / last)
        left = min(WIDTH * one.start / last, WIDTH - width)
        when = f"{timecode(one.start)} to {timecode(one.end)}"
        bar = Bar(one.key, playable.get(one.key), one.start, round(left, 1), round(width, 1), when)
        # Two films of one name are told apart by their folders.
        name = names[one.film] if alike[names[one.film]] == 1 else one.film
        films.setdefault(one.film, Film(one.film, name, [])).moments.append(bar)
    return list(films.values())


def until(page: PersonPage) -> str:
    """The time at which all lines end, in words."""
    return timecode(_last(page))


def _last(page: PersonPage) -> float:
    return max((one.end for one in page.timeline), default=0.0)
