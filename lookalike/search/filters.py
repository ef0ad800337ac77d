"""Filters: which answers are shown: by date, file and quality, and where two people are seen together.

Sets of films are tracks, which no cut outlasts: two that are seen at one time of a film are in one shot. A
person is the sets that show them for certain, and the answers that are more likely this person than not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, Final, NamedTuple

from lookalike.errors import BadInput
from lookalike.faceset import FaceSet, natural_order
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from lookalike.gallery.set_rows import SetFacts
from lookalike.ranking import Answer, Ranking
from lookalike.search.query import Search

QUALITIES: Final = ("any", "good")
_DAY: Final = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", re.ASCII)


@dataclass(frozen=True)
class Filter:
    """Which answers are wanted; all of them unless something is given. BadInput if that makes no sense.

    `since` and `until` are a year, month or day (2019, 2019-07, 2019-07-14), both included: the set has a
    photo or video that was taken then, as its file says. Files without a date are left out.
    """

    since: str = ""
    until: str = ""
    file: str = ""  # words that stand in the path of a video or photo of the set, in capitals or not
    # `good`: half of the faces are neither small, blurred, dark, bright, turned nor unsure.
    quality: str = "any"

    def __post_init__(self) -> None:
        for given in (self.since, self.until):
            check_day(given)
        shorter = min(len(self.since), len(self.until))
        if self.since[:shorter] > self.until[:shorter]:
            raise BadInput(f"no day is both from {self.since} on and up to {self.until}: exchange the two")
        if self.quality not in QUALITIES:
            raise BadInput(f"a quality is one of {', '.join(QUALITIES)}, got {self.quality!r}")

    def __bool__(self) -> bool:
        return self != Filter()

    def keeps(self, facts: SetFacts, files: Sequence[MediaFile]) -> bool:
        """Whether an answer is wanted: one and the same file has to have the date and the name."""
        if self.quality == "good" and not (facts.good is not None and 2 * facts.good >= facts.faces):
            return False
        if not (self.since or self.until or self.file):
            return True
        words = self.file.casefold().split()
        places = [(file.path, file.captured) for file in files] or [(facts.origin, None)]
        return any(
            all(word in path.casefold() for word in words) and self._is_then(captured)
            for path, captured in places
        )

    def _is_then(self, captured: str | None) -> bool:
        if not (self.since or self.until):
            return True
        # Year first: texts are in the order of time, and the first letters of one are its year or month.
        return bool(
            captured
            and captured[: len(self.since)] >= self.since
            and captured[: len(self.until)] <= self.until
        )

    def narrow(
        self, answers: Sequence[Answer], facts: Mapping[str, SetFacts], files: Mapping[str, list[MediaFile]]
    ) -> list[Answer]:
        """The answers that are wanted, in their order and with their ranks."""
        return [one for one in answers if self.keeps(facts[one.id], files.get(one.id, []))]


def check_day(given: str) -> None:
    """Refuse what is no year, month or day, unless it is empty."""
    found = _DAY.fullmatch(given)
    try:
        if given and found is None:
            raise ValueError
        if found is not None:
            date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError:
        raise BadInput(
            f"a date is written as 2019-07-14, 2019-07 or 2019, got {given!r}: write year, month and day"
        ) from None


def depth(search: Search, top: int | None, wanted: Filter) -> int | None:
    """How far down answers are looked for, so that as many as asked for can pass a filter; None for all."""
    if not wanted:
        return top
    return None if search.shortlist is None else search.shortlist.sizes.served


def narrowed(gallery: Gallery, ranking: Ranking, wanted: Filter, top: int | None) -> tuple[Ranking, int]:
    """The first answers of a ranking that pass a filter, and how many did not before as many were found.

    The ranking is as deep as `depth` says. Its totals, and ranks and probabilities of answers, are
    unchanged.
    """
    if not wanted:
        return ranking, 0
    facts = {one.id: one for one in gallery.listing(ranking.ids)}
    kept = wanted.narrow(ranking.answers, facts, gallery.files_of_sets(ranking.ids))
    return replace(ranking, answers=tuple(kept[:top])), len(ranking) - len(kept)


# From when to when, in seconds, both included; a face that was seen once begins and ends at one time.
Span = tuple[float, float]
# Sets, each with the probability that it shows the person who is meant.
Members = Mapping[str, float]


def shared(one: Span, other: Span) -> Span | None:
    """The time that two spans share; None if there is none."""
    start, end = max(one[0], other[0]), min(one[1], other[1])
    return (start, end) if start <= end else None


def outside(span: Span, others: Iterable[Span]) -> list[Span]:
    """What is left of a span when others are taken away.

    A moment that is only the end of what was taken away is not left; a span of one moment is left whole or
    not at all.
    """
    left, start = [], span[0]
    for begins, ends in sorted(others):
        if ends < start or begins > span[1]:
            continue
        if begins > start:
            left.append((start, begins))
        start = max(start, ends)
        if start >= span[1]:
            return left
    left.append((start, span[1]))
    return left


@dataclass(frozen=True)
class Place:
    """Somewhere that people are seen."""

    file: str  # the film or photo, where it was last seen
    kind: str  # `video` or `photo`
    start: float | None  # from when in the film, in seconds; None in a photo
    end: float | None  # until when
    captured: str | None  # when the file was taken, if it says so
    sets: tuple[str, ...]  # those that show it: of the first person, and of the second if they are there
    probability: float  # how likely it is that these sets show the people who are meant

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return asdict(self)


class _Seen(NamedTuple):
    """A set in one file: from when to when if it is a film."""

    file: MediaFile
    set_id: str
    span: Span | None


def members(
    search: Search, query: str | FaceSet, confirmed: Sequence[str] = (), decisions: bool = True
) -> Members:
    """Sets that certainly or likely show the person of a question, each with its probability.

    1 for the set itself and those that are confirmed, in the gallery or (`confirmed`) with the question.
    Where nothing can be said of probabilities, these alone. Without `decisions`, what the gallery knows does
    not count.
    """
    depth = None if search.shortlist is None else search.shortlist.sizes.served
    ranking = search.find(query, depth, confirmed, decisions=decisions)
    likely = ranking.answers[: ranking.worth_reading or 0]
    certain = [*([query] if isinstance(query, str) else []), *(one.id for one in ranking.confirmed)]
    return {one.id: one.probability or 0.0 for one in likely} | dict.fromkeys(certain, 1.0)


def two_people(one: Members, other: Members) -> tuple[Members, Members]:
    """Give sets that may show either of two people to the likelier one; BadInput if one surely shows both."""
    both = one.keys() & other.keys()
    if certain := sorted(each for each in both if one[each] == other[each] == 1.0):
        raise BadInput(f"both are the same person, as {certain[0]!r} shows: name two different people")
    first = {each: chance for each, chance in one.items() if chance > other.get(each, -1.0)}
    return first, {each: chance for each, chance in other.items() if each not in first}


def together(gallery: Gallery, one: Members, other: Members) -> list[Place]:
    """Where sets of two people, as `two_people` tells, are seen at the same time; by file, then by time."""
    theirs, found = _by_file(gallery, other), []
    for seen in _everywhere(gallery, one):
        for beside in theirs.get(seen.file.content, ()):
            span = shared(seen.span, beside.span) if seen.span and beside.span else None
            if span is not None or seen.span is None is beside.span:
                chance = one[seen.set_id] * other[beside.set_id]
                found.append(_place(seen.file, span, (seen.set_id, beside.set_id), chance))
    return _ordered(found)


def alone(gallery: Gallery, one: Members, other: Members) -> list[Place]:
    """Where sets of one person are seen and none of another is; parameters as of `together`."""
    theirs, found = _by_file(gallery, other), []
    for seen in _everywhere(gallery, one):
        beside = theirs.get(seen.file.content, [])
        if seen.span is None:
            spans: list[Span | None] = [] if beside else [None]
        else:
            spans = [*outside(seen.span, [each.span for each in beside if each.span])]
        found += [_place(seen.file, span, (seen.set_id,), one[seen.set_id]) for span in spans]
    return _ordered(found)


def _everywhere(gallery: Gallery, sets: Collection[str]) -> list[_Seen]:
    """Every file in which sets are seen; nothing of sets whose files are not known."""
    files = gallery.files_of_sets(sets)
    return [
        _Seen(file, one.id, None if one.start is None or one.end is None else (one.start, one.end))
        for one in gallery.listing(sorted(files))
        for file in files[one.id]
    ]


def _by_file(gallery: Gallery, sets: Collection[str]) -> dict[str, list[_Seen]]:
    found: dict[str, list[_Seen]] = {}
    for seen in _everywhere(gallery, sets):
        found.setdefault(seen.file.content, []).append(seen)
    return found


def _place(file: MediaFile, span: Span | None, sets: Sequence[str], chance: float) -> Place:
    start, end = span or (None, None)
    return Place(file.path, file.kind, start, end, file.captured or None, tuple(sets), chance)


def _ordered(found: Iterable[Place]) -> list[Place]:
    return sorted(
        found, key=lambda one: (natural_order(one.file), one.start or 0.0, one.end or 0.0, one.sets)
    )
