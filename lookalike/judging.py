"""Judge: say who is who, and see what all that was said adds up to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from lookalike.collection import sheets
from lookalike.collection.gallery import Gallery
from lookalike.collection.judged import Judged, Person, folded
from lookalike.collection.queries import several
from lookalike.collection.sheets import as_csv
from lookalike.collection.verdicts import Pair, Verdicts
from lookalike.decision import VERDICTS, Decision, checked_name, draft
from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.undoing import undo, undo_all

__all__ = [
    "Judged",
    "Judgement",
    "Person",
    "as_csv",
    "decisions_table",
    "judge",
    "judged",
    "merge",
    "name",
    "people_table",
    "rename",
    "split",
    "undo",
    "undo_all",
]

# The number of a person whose decision is not stored yet.
NEW: Final = 0
_LAST: WeakKeyDictionary[Gallery, tuple[object, object, Judged]] = WeakKeyDictionary()


def judged(gallery: Gallery) -> Judged:
    """What all decisions in a gallery say together; quick if nothing was decided since the last call."""
    log, apart = gallery.judgements()
    last = _LAST.get(gallery)
    if last is None or last[0] is not log or last[1] is not apart:
        last = _LAST[gallery] = (log, apart, Judged(log, apart))
    return last[2]


class Judgement(NamedTuple):
    """What stands of a pair of sets, and whether it was said just now."""

    decision: Decision
    is_new: bool


def judge(gallery: Gallery, query: str, targets: Sequence[str], verdict: str) -> list[Judgement]:
    """Say of sets whether they show the query's person: of all given, or, if one is refused, of none.

    Parameters
    ----------
    gallery : Gallery
    query : str
        Id of a set.
    targets : sequence of str
        Ids of others.
    verdict : str
        ``same``, ``different`` or ``unsure``. What was said of the pair before is replaced.

    Returns
    -------
    list of Judgement
        One for each target: the new one, or the one that stands if it says this already.

    Raises
    ------
    Conflict
        If it contradicts other decisions, or sets that were seen side by side.
    NotFound
        If there is no such set.
    """
    if verdict not in VERDICTS:
        raise BadInput(f"a verdict is one of {', '.join(VERDICTS)}, got {verdict!r}")
    asked = _ids(targets, "targets")
    if query in asked:
        raise BadInput(f"a set cannot be compared with itself, got {query!r} twice: choose another target")
    given = [draft(verdict, (query, target)) for target in asked]
    _known(gallery, [query, *asked])
    standing: dict[int, Decision] = {}

    def make(log: list[Decision], apart: list[Pair]) -> list[Decision]:
        verdicts = folded(log, apart)
        standing.clear()
        made = []
        for place, one in enumerate(given):
            before = verdicts.direct.get((min(one.sets), max(one.sets)))
            if before is not None and before.kind == verdict:
                standing[place] = before
                continue
            verdicts.take(one, new=True)
            made.append(one)
        return made

    made = iter(gallery.decide(make))
    return [
        Judgement(standing[place], False) if place in standing else Judgement(next(made), True)
        for place in range(len(given))
    ]


def name(gallery: Gallery, sets: Sequence[str], name: str, person: int | None = None) -> Person:
    """Say who some sets show, and whatever else was confirmed to show the same person.

    Parameters
    ----------
    gallery : Gallery
    sets : sequence of str
        Ids.
    name : str
        What the person is called. Whoever is called so already, in capitals or not, gets these sets too.
    person : int, optional
        The number of a person who gets the sets, whatever the name says.

    Raises
    ------
    Conflict
        If one of the sets belongs to somebody else, or is known to show somebody else.
    NotFound
        If there is no such set or person.
    """
    asked = _ids(sets, "sets")
    called = checked_name(name) if person is None else ""
    _known(gallery, asked)
    found: list[Person] = []

    def make(log: list[Decision], apart: list[Pair]) -> list[Decision]:
        verdicts = folded(log, apart)
        number = _called(verdicts, called) if person is None else _living(verdicts, person)
        whole = sorted({each for one in asked for each in verdicts.sets(one)})
        made = []
        if number is None or not set(whole) <= set(verdicts.sets(number)):
            made = [draft("name", tuple(whole), number, called or verdicts.names[number or 0])]
            verdicts.take(made[0], new=True)
        found[:] = [_person(verdicts, number or NEW)]
        return made

    stored = gallery.decide(make)
    return _numbered(found[0], stored)


def rename(gallery: Gallery, person: int, name: str) -> Person:
    """Give a person another name; raise Conflict if somebody else has it already."""
    called = checked_name(name)
    found: list[Person] = []

    def make(log: list[Decision], apart: list[Pair]) -> list[Decision]:
        verdicts = folded(log, apart)
        number = _living(verdicts, person)
        other = _called(verdicts, called)
        if other not in (None, number):
            raise Conflict(
                f"person {other} is called {called!r} already: merge the two, or choose another name"
            )
        found[:] = [replace(_person(verdicts, number), name=called)]
        return [] if verdicts.names[number] == called else [draft("rename", (), number, called)]

    gallery.decide(make)
    return found[0]


def merge(gallery: Gallery, person: int, into: int) -> Person:
    """Say that two people are one, who keeps the number and name of the second."""
    found: list[Person] = []

    def make(log: list[Decision], apart: list[Pair]) -> list[Decision]:
        verdicts = folded(log, apart)
        made = draft("merge", (), _living(verdicts, person), "", _living(verdicts, into))
        if person == into:
            raise BadInput(f"person {person} cannot be merged with itself: choose another person")
        verdicts.take(made, new=True)
        found[:] = [_person(verdicts, into)]
        return [made]

    gallery.decide(make)
    return found[0]


def split(gallery: Gallery, person: int, sets: Sequence[str], name: str = "") -> Person | None:
    """Take sets out of a person; with a name they become a person of their own, who is returned."""
    asked = _ids(sets, "sets")
    called = checked_name(name) if name.strip() else ""
    _known(gallery, asked)
    found: list[Person] = []

    def make(log: list[Decision], apart: list[Pair]) -> list[Decision]:
        verdicts = folded(log, apart)
        number = _living(verdicts, person)
        own = verdicts.sets(number)
        for set_id in asked:
            if set_id not in own:
                raise NotFound(f"{verdicts.names[number]!r} has no set {set_id!r}: choose one of their sets")
        if len(asked) == len(own):
            raise BadInput(
                f"these are all sets of {verdicts.names[number]!r}: leave one, or rename the person"
            )
        if called and (other := _called(verdicts, called)) is not None:
            raise Conflict(f"person {other} is called {called!r} already: choose another name")
        made = draft("split", tuple(sorted(asked)), number, called)
        verdicts.take(made, new=True)
        found[:] = [_person(verdicts, NEW)] if called else []
        return [made]

    made = gallery.decide(make)
    return _numbered(found[0], made) if found else None


# Tables.


def decisions_table(gallery: Gallery) -> list[sheets.Line]:
    """Every decision as rows of plain values; see `lookalike.collection.sheets`."""
    return sheets.decisions(gallery.decisions())


def people_table(gallery: Gallery) -> list[sheets.Line]:
    """Every set of every person as a row of plain values, by name and set."""
    people = judged(gallery).people.values()
    return sheets.people(people, gallery.listing([set_id for one in people for set_id in one.sets]))


# Checks.


def _called(verdicts: Verdicts, name: str) -> int | None:
    """Who is called so, if anybody who has sets is."""
    for number in verdicts.people():
        if verdicts.names[number].casefold() == name.casefold() and verdicts.sets(number):
            return number
    return None


def _living(verdicts: Verdicts, person: int) -> int:
    if person in verdicts.into:
        raise NotFound(f"person {person} was merged into person {verdicts.person(person)}: ask for that one")
    if person not in verdicts.names or not verdicts.sets(person):
        raise NotFound(f"there is no person {person}: see the list of people")
    return person


def _person(verdicts: Verdicts, number: int) -> Person:
    """Somebody as these verdicts know them: who asks again may find that others have decided since."""
    return Person(number, verdicts.names[number], tuple(verdicts.sets(number)))


def _numbered(person: Person, made: Sequence[Decision]) -> Person:
    """A new person under the number of the decision that made them; others as they are."""
    return replace(person, number=made[0].number) if person.number == NEW else person


def _ids(sets: Sequence[str], what: str) -> list[str]:
    found = list(dict.fromkeys(several(sets)))
    if not found:
        raise BadInput(f"{what} must name one set at least, got none")
    return found


def _known(gallery: Gallery, sets: Iterable[str]) -> None:
    """Raise NotFound for a set that is not there, with those that are called nearly so."""
    list(gallery.listing(sets))
