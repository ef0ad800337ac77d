"""Scenes: where two people are seen at the same time, or one of them without the other.

Sets of films are tracks, which no cut outlasts: two that are seen at one time of a film are in one shot. A
person is the sets that show them for certain, and the answers that are more likely this person than not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from lookalike.errors import BadInput
from lookalike.faceset import FaceSet, natural_order
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from lookalike.search.query import Search

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
    """Somewhere that people are seen.

    Attributes
    ----------
    file : str
        The film or photo, where it was last seen.
    kind : str
        ``video`` or ``photo``.
    start, end : float or None
        From when to when in the film, in seconds; None in a photo.
    captured : str or None
        When the file was taken, if it says so.
    sets : tuple of str
        The sets that show it: of the first person, and of the second if they are there.
    probability : float
        How likely it is that these sets show the people who are meant.
    """

    file: str
    kind: str
    start: float | None
    end: float | None
    captured: str | None
    sets: tuple[str, ...]
    probability: float

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
    """The sets that show the person of a question: those that are certain, and likely answers.

    Parameters
    ----------
    search : Search
    query : str or FaceSet
        A set of the gallery, or faces from outside.
    confirmed : sequence of str
        Sets that are said, with the question, to show the same person.
    decisions : bool
        Whether what the gallery knows counts too.

    Returns
    -------
    mapping of str to float
        Sets with their probabilities; 1 for the set itself and those that are confirmed. Where nothing can
        be said of probabilities, these alone.
    """
    depth = None if search.shortlist is None else search.shortlist.sizes.served
    ranking = search.find(query, depth, confirmed, decisions=decisions)
    likely = ranking.answers[: ranking.worth_reading or 0]
    certain = [*([query] if isinstance(query, str) else []), *(one.id for one in ranking.confirmed)]
    return {one.id: one.probability or 0.0 for one in likely} | dict.fromkeys(certain, 1.0)


def two_people(one: Members, other: Members) -> tuple[Members, Members]:
    """Give sets that may show either of two people to the one whom they more likely show.

    Raises
    ------
    BadInput
        If a set certainly shows both: then they are one person.
    """
    both = one.keys() & other.keys()
    if certain := sorted(each for each in both if one[each] == other[each] == 1.0):
        raise BadInput(f"both are the same person, as {certain[0]!r} shows: name two different people")
    first = {each: chance for each, chance in one.items() if chance > other.get(each, -1.0)}
    return first, {each: chance for each, chance in other.items() if each not in first}


def together(gallery: Gallery, one: Members, other: Members) -> list[Place]:
    """Where sets of one person and of another are seen at the same time.

    Parameters
    ----------
    gallery : Gallery
    one, other : mapping of str to float
        Who is meant, as `members` and `two_people` tell.

    Returns
    -------
    list of Place
        By file, then by time.
    """
    theirs: dict[str, list[_Seen]] = {}
    for seen in _everywhere(gallery, other):
        theirs.setdefault(seen.file.content, []).append(seen)
    found = []
    for seen in _everywhere(gallery, one):
        for beside in theirs.get(seen.file.content, ()):
            span = shared(seen.span, beside.span) if seen.span and beside.span else None
            if span is not None or seen.span is None is beside.span:
                chance = one[seen.set_id] * other[beside.set_id]
                found.append(_place(seen.file, span, (seen.set_id, beside.set_id), chance))
    return _ordered(found)


def alone(gallery: Gallery, one: Members, other: Members) -> list[Place]:
    """Where sets of one person are seen and none of another is; parameters as of `together`."""
    theirs: dict[str, list[_Seen]] = {}
    for seen in _everywhere(gallery, other):
        theirs.setdefault(seen.file.content, []).append(seen)
    found = []
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


def _place(file: MediaFile, span: Span | None, sets: Sequence[str], chance: float) -> Place:
    start, end = span or (None, None)
    return Place(file.path, file.kind, start, end, file.captured or None, tuple(sets), chance)


def _ordered(found: Iterable[Place]) -> list[Place]:
    return sorted(
        found, key=lambda one: (natural_order(one.file), one.start or 0.0, one.end or 0.0, one.sets)
    )
