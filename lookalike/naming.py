"""Name: say who sets show, rename people, make two one, part them; and which decisions that made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Generic, NamedTuple, TypeVar

from lookalike.collection.gallery import Gallery
from lookalike.collection.judged import Person, folded
from lookalike.collection.queries import several
from lookalike.collection.verdicts import Pair, Verdicts
from lookalike.decision import Decision, checked_name, draft
from lookalike.errors import BadInput, Conflict, NotFound

# The number of a person whose decision is not stored yet.
NEW: Final = 0
Who_co = TypeVar("Who_co", covariant=True)


class Named(NamedTuple, Generic[Who_co]):
    """Whom it came to, and the numbers of the decisions that were not there before: none if all was known."""

    person: Who_co
    new: list[int]


def name(gallery: Gallery, sets: Sequence[str], name: str, person: int | None = None) -> Named[Person]:
    """Say who some sets show; see `lookalike.judging.name`."""
    asked = distinct(sets, "sets")
    called = checked_name(name) if person is None else ""
    check_known(gallery, asked)
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

    return _named(found, gallery.decide(make))


def rename(gallery: Gallery, person: int, name: str) -> Named[Person]:
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

    return _named(found, gallery.decide(make))


def merge(gallery: Gallery, person: int, into: int) -> Named[Person]:
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

    return _named(found, gallery.decide(make))


def split(gallery: Gallery, person: int, sets: Sequence[str], name: str = "") -> Named[Person | None]:
    """Take sets out of a person; with a name they become a person of their own."""
    asked = distinct(sets, "sets")
    called = checked_name(name) if name.strip() else ""
    check_known(gallery, asked)
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
    return _named(found, made) if found else Named(None, [one.number for one in made])


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


def _named(found: Sequence[Person], made: Sequence[Decision]) -> Named[Person]:
    """Whom it came to: a new person under the number of the decision that made them, others as they are."""
    [person] = found
    whole = replace(person, number=made[0].number) if person.number == NEW else person
    return Named(whole, [one.number for one in made])


def distinct(sets: Sequence[str], what: str) -> list[str]:
    """Ids as they were given, each once; refuse none at all."""
    found = list(dict.fromkeys(several(sets)))
    if not found:
        raise BadInput(f"{what} must name one set at least, got none")
    return found


def check_known(gallery: Gallery, sets: Iterable[str]) -> None:
    """Raise NotFound for a set that is not there, with those that are called nearly so."""
    list(gallery.listing(sets))
