"""Decided: which sets are known to show the person who is asked for, which somebody else, and why.

Known is what the user said (same, different, names), and who was seen side by side in one frame or photo. The
command line, Python and the page ask here, at the time of the question: what was decided a moment ago counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from lookalike.errors import Conflict
from lookalike.faceset import natural_order, timecode
from lookalike.gallery.decision_log import Decision
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from lookalike.gallery.people import Judged, said
from lookalike.gallery.set_rows import SetFacts
from lookalike.ranking import Decided


class Known(NamedTuple):
    """The sets that need not be asked about, each with the reason; in natural order."""

    confirmed: tuple[Decided, ...] = ()
    rejected: tuple[Decided, ...] = ()
    seen: frozenset[str] = frozenset()  # those of the rejected that were seen beside who asks

    def why(self, set_id: str) -> Decided | None:
        """What is known of a set; None if nothing is."""
        return next((one for one in (*self.confirmed, *self.rejected) if one.id == set_id), None)


NOTHING: Final = Known()
GIVEN: Final = "given with the question"


def known_of(
    gallery: Gallery,
    own: str | None,
    confirmed: Sequence[str] = (),
    rejected: Sequence[str] = (),
    judged: Judged | None = None,
) -> Known:
    """What a gallery knows of the person who is asked for, without the set that asks.

    `own` is the id of the set that asks, or of which some faces do; None for faces from outside, of which a
    gallery knows nothing. `confirmed` and `rejected` are said, with the question, to show the same person,
    and somebody else; what was decided about these counts too. Whoever is known to be of a person is so with
    every set of that person. Raise Conflict if sets that ask together are known to be of different people.
    """
    asking = list(dict.fromkeys([*([] if own is None else [own]), *confirmed]))
    if not asking and not rejected:
        return NOTHING
    judged, first = judged or said(gallery), asking[0] if asking else ""
    group = {each: _by_tie(judged, one, each) for one in asking for each in _tied(judged, one)}
    others: dict[str, str] = {}
    seen = set()
    for one in rejected:
        others |= {each: _by_tie(judged, one, each) or GIVEN for each in _tied(judged, one)}
    for (one, other), why, is_seen in _facts(
        gallery, judged, sorted(group, key=lambda one: (one != first, one))
    ):
        told = why if one == first else f"{why} ({one} and {other})"
        seen |= {other} if is_seen and one == own else set()
        for each in _tied(judged, other):
            others.setdefault(each, told if each == other else f"{told}; {_by_tie(judged, other, each)}")
    if contradicted := sorted(group.keys() & others.keys(), key=lambda one: (one == first, one)):
        raise Conflict(
            f"{contradicted[0]!r} is known to show somebody else ({others[contradicted[0]]}): search with "
            f"sets of one person, or leave decisions out (--plain, decisions=False)"
        )
    return Known(
        tuple(Decided(one, group[one] or GIVEN) for one in sorted(group, key=natural_order) if one != own),
        tuple(Decided(one, others[one]) for one in sorted(others, key=natural_order)),
        frozenset(seen & others.keys()),
    )


def _tied(judged: Judged, set_id: str) -> list[str]:
    """A set, and all that were said to show the same person."""
    return [set_id, *judged.confirmed(set_id)]


def _by_tie(judged: Judged, one: str, other: str) -> str:
    """Why two sets are of one person; empty if nobody said so."""
    direct = judged.verdicts.direct.get((min(one, other), max(one, other)))
    if direct is not None and direct.kind == "same":
        return f"you said same on {_day(direct)}"
    person = judged.person_of(one)
    if person is not None and person is judged.person_of(other):
        return f"named {person.name}"
    return "by several things that you said" if other in judged.confirmed(one) else ""


def _facts(
    gallery: Gallery, judged: Judged, group: Sequence[str]
) -> Iterator[tuple[tuple[str, str], str, bool]]:
    """Why other sets are not of the person of a group: one inside and another, the reason, whether seen.

    What was said comes before what was seen; what was said of two sets counts for more than what was seen.
    """
    different = [
        (one, other, n) for one in group for other, n in sorted(judged.verdicts.different(one).items())
    ]
    made = {decision.number: decision for decision in gallery.decided()} if different else {}
    for one, other, number in different:
        yield (one, other), f"you said different on {_day(made[number])}", False
    inside, pairs = set(group), gallery.apart_of(group)
    if not pairs:
        return
    sides = sorted({one for pair in pairs for one in pair})
    shown, files = {one.id: one for one in gallery.listing(sides)}, gallery.files_of_sets(sides)
    places = {one: place for place, one in enumerate(group)}
    beside = [(one, other) for pair in pairs for one, other in (pair, pair[::-1]) if one in inside]
    for one, other in sorted(beside, key=lambda pair: (places[pair[0]], pair[1])):
        if other not in judged.confirmed(one):
            words = _seen_together(shown[one], shown[other], files.get(one, []), files.get(other, []))
            yield (one, other), words, True


def _seen_together(
    one: SetFacts, other: SetFacts, files: Sequence[MediaFile], others: Sequence[MediaFile]
) -> str:
    """Where two sets were seen side by side, as far as the gallery tells."""
    same = {file.content for file in files} & {file.content for file in others}
    paths = sorted(PurePath(file.path).name for file in files if file.content in same)
    where = f" of {paths[0]}" if paths else ""
    if one.start is None or other.start is None or one.end is None or other.end is None:
        return f"seen in one photo, {paths[0]}" if paths else "seen in one picture"
    since, until = max(one.start, other.start), min(one.end, other.end)
    if since > until:  # of the faces that were kept no two are of one moment
        return f"seen in one frame{where}"
    if timecode(since) == timecode(until):
        return f"seen in one frame{where} at {timecode(since)}"
    return f"seen in one frame{where} between {timecode(since)} and {timecode(until)}"


def _day(decision: Decision) -> str:
    return decision.made[:10]
