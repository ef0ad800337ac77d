"""Wording: numbers, places and times as people write them, for the templates."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final

from lookalike.faceset import timecode
from lookalike.ranking import percent
from lookalike.web.models import AnswerView, PersonName, SetView

PACKAGE: Final = Path(__file__).parents[1]
# Lines of a mistake that are enough to find its place: the callers of a request are the same each time.
MOST_PLACES: Final = 8


def grouped(number: int) -> str:
    """A count with its thousands apart: 12,345."""
    return f"{number:,}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A count with its word: 1 face, 2 faces, 2 people."""
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"


def sentence(text: str, path: object = "") -> str:
    """A refusal with a capital at its start, unless it starts with a name: of a file, a set, a field.

    A word of small letters alone is none, unless it is the path given, that of the gallery.
    """
    first = text.partition(" ")[0]
    is_plain = re.fullmatch("[a-z]+[,:;.]?", first) is not None and first != str(path)
    return text[:1].upper() + text[1:] if is_plain else text


def file_name(path: str) -> str:
    """A file without its folders."""
    return PurePosixPath(path.replace("\\", "/")).name or path


def place(origin: str, times: Sequence[float]) -> str:
    """A file, and from when to when somebody is seen there if it is a film."""
    name = file_name(origin)
    return f"{name} from {timecode(min(times))[:-2]} to {timecode(max(times))[:-2]}" if times else name


def ordinal(number: int) -> str:
    """A place: 1st, 2nd, 11th."""
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{grouped(number)}{ending}"


def share(value: float) -> str:
    """A number from 0 to 1 as a width in percent; what lies outside fills nothing, or all."""
    return f"{100 * min(1.0, max(0.0, value)):.1f}"


def took(milliseconds: float) -> str:
    """How long something took: 240 ms, or 1.2 s."""
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def moment(made: str) -> str:
    """A stored time in the time of this computer, to the minute; as it is if it cannot be read."""
    try:
        return f"{datetime.fromisoformat(made).astimezone():%d %B %Y, %H:%M}".lstrip("0")
    except ValueError:
        return made


def taken(said: str) -> str:
    """When a file was taken, as its clock said: 14 July 2019, 12:30."""
    try:
        return f"{datetime.fromisoformat(said):%d %B %Y, %H:%M}".lstrip("0")
    except ValueError:
        return said


def days(said: Sequence[str | None]) -> str:
    """The days on which files were taken, the first and the last of them; nothing if none says."""
    told = sorted(one for one in said if one)
    ends = [taken(one).rpartition(",")[0] for one in told[:1] + told[-1:]]
    return " to ".join(dict.fromkeys(ends))


def changed(answers: Sequence[AnswerView]) -> list[AnswerView]:
    """Answers that decisions moved, those that moved farthest first."""
    moved = [one for one in answers if one.before is not None and one.before != one.rank]
    return sorted(moved, key=lambda one: -abs((one.before or 0) - one.rank))


def doubtful(answers: Sequence[AnswerView], wanted: bool) -> list[AnswerView]:
    """Answers in their order, or, if wanted, first those of which least can be said either way."""
    if not wanted or any(one.probability is None for one in answers):
        return list(answers)
    return sorted(answers, key=lambda one: abs((one.probability or 0.0) - 0.5))


def somebody_else(shown: SetView, query: SetView) -> PersonName | None:
    """Whom a set is named after, if the query is named after somebody else."""
    named = shown.person
    return named if named and query.person and named.number != query.person.number else None


def places(answers: Sequence[AnswerView]) -> dict[str, int]:
    """Key of each answer's set, and where it stands on the page, from 0."""
    return {one.set.key: place for place, one in enumerate(answers)}


def where(mistake: BaseException) -> str:
    """The kind of a mistake and the lines that led to it, innermost first.

    What it says of itself is left out: it may quote a name, an id or a path, which no log shall hold.
    """
    frames = traceback.extract_tb(mistake.__traceback__)[-MOST_PLACES:]
    places = [f"{_shown_file(one.filename)}:{one.lineno} {one.name}" for one in reversed(frames)]
    return f"{type(mistake).__name__} in {' < '.join(places)}"


def _shown_file(file: str) -> str:
    """A file of ours by its place in the package, any other by its name."""
    path = Path(file)
    return path.relative_to(PACKAGE.parent).as_posix() if path.is_relative_to(PACKAGE) else path.name


FILTERS: dict[str, Any] = {
    word.__name__: word
    for word in (
        *(grouped, counted, file_name, ordinal, percent, share, took, moment, taken, days),
        *(changed, doubtful, places, somebody_else),
    )
}
