"""Judge: say who is who, take it back, and see what all that was said adds up to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from lookalike.collection import sheets
from lookalike.collection.gallery import Gallery
from lookalike.collection.judged import Judged, Person, folded
from lookalike.collection.queries import several
from lookalike.collection.sheets import as_csv
from lookalike.collection.verdicts import Pair, Verdicts
from lookalike.decision import VERDICTS, Decision, checked_name, draft
from lookalike.errors import BadInput, Conflict, NotFound

__all__ = [
    "Judged",
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
]

_LAST: WeakKeyDictionary[Gallery, tuple[object, object, Judged]] = WeakKeyDictionary()


def judged(gallery: Gallery) -> Judged:
    """What all decisions in a gallery say together; quick if nothing was decided since the last call."""
    log, apart = gallery.judgements()
    last = _LAST.get(gallery)
    if last is None or last[0] is not log or last[1] is not apart:
        last = _LAST[gallery] = (log, apart, Judged(log, apart))
    return last[2]


def judge(gallery: Gallery, query: str, targets: Sequence[str], verdict: str) -> list[Decision]:
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
    list of Decision
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
    return [standing[place] if place in standing else next(made) for place in range(len(given))]


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
    into: list[int] = []

    def make(log: list[Decision], apart: list[Pair]) -> list[Decision]:
        verdicts = folded(log, apart)
        number = _called(verdicts, called) if person is None else _living(verdicts, person)
        whole = sorted({each for one in asked for each in verdicts.sets(one)})
        into[:] = [] if number is None else [number]
        if number is not None and set(whole) <= set(verdicts.sets(number)):
            return []
        made = draft("name", tuple(whole), number, called or verdicts.names[number or 0])
        verdicts.take(made, new=True)
        return [made]

    made = gallery.decide(make)
    return judged(gallery).people[into[0] if into else made[0].number]


def rename(gallery: Gallery, person: int, name: str) -> Person:
    """Give a person another name; raise Conflict if somebody else has it already."""
    called = checked_name(name)

    def make(log: list[Decision], apart: list[Pair]) -> list[Decision]:
        verdicts = folded(log, apart)
        number = _living(verdicts, person)
        other = _called(verdicts, called)
        if other not in (None, number):
            raise Conflict(
                f"person {other} is called {called!r} already: merge the two, or choose another name"
            )
        return [] if verdicts.names[number] == called else [draft("rename", (), number, called)]

    gallery.decide(make)
    return judged(gallery).people[person]


def merge(gallery: Gallery, person: int, into: int) -> Person:
    """Say that two people are one, who keeps the number and name of the second."""

    def make(log: list[Decision], apart: list[Pair]) -> list[Decision]:
        verdicts = folded(log, apart)
        made = draft("merge", (), _living(verdicts, person), "", _living(verdicts, into))
        if person == into:
            raise BadInput(f"person {person} cannot be merged with itself: choose another person")
        verdicts.take(made, new=True)
        return [made]

    gallery.decide(make)
    return judged(gallery).people[into]


def split(gallery: Gallery, person: int, sets: Sequence[str], name: str = "") -> Person | None:
    """Take sets out of a person; with a name they become a person of their own, who is returned."""
    asked = _ids(sets, "sets")
    called = checked_name(name) if name.strip() else ""
    _known(gallery, asked)

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
        return [draft("split", tuple(sorted(asked)), number, called)]

    [made] = gallery.decide(make)
    return judged(gallery).people[made.number] if called else None


def undo(gallery: Gallery, number: int | None = None) -> Decision | None:
    """Take back a decision, the last one that stands unless a number is given; None if there is none.

    Raises
    ------
    NotFound
        If there is no such decision.
    Conflict
        If it is undone already, or if a later decision builds on it.
    """
    found: list[Decision] = []

    def make(log: list[Decision], apart: list[Pair]) -> list[Decision]:
        found[:] = _to_undo(log, number)
        if not found:
            return []
        verdicts = Verdicts(apart)
        for one in log:
            if not one.undone and one.number != found[0].number:
                try:
                    verdicts.take(one)
                except Conflict:
                    raise Conflict(
                        f"decision {one.number} builds on decision {found[0].number}: undo {one.number} first"
                    ) from None
        return [draft("undo", other=found[0].number)]

    gallery.decide(make)
    return found[0] if found else None


# Tables.


def decisions_table(gallery: Gallery) -> list[sheets.Line]:
    """Every decision as rows of plain values; see `lookalike.collection.sheets`."""
    return sheets.decisions(gallery.decisions())


def people_table(gallery: Gallery) -> list[sheets.Line]:
    """Every set of every person as a row of plain values, by name and set."""
    people = judged(gallery).people.values()
    return sheets.people(people, gallery.listing([set_id for one in people for set_id in one.sets]))


# Checks.


def _to_undo(log: Sequence[Decision], number: int | None) -> list[Decision]:
    if number is None:
        return [one for one in log if one.kind != "undo" and not one.undone][-1:]
    for one in log:
        if one.number == number:
            if one.undone:
                raise Conflict(f"decision {number} is undone already")
            if one.kind == "undo":
                raise Conflict(f"decision {number} took another back, which is final: decide anew")
            return [one]
    raise NotFound(f"there is no decision {number}: see the history")


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


def _ids(sets: Sequence[str], what: str) -> list[str]:
    found = list(dict.fromkeys(several(sets)))
    if not found:
        raise BadInput(f"{what} must name one set at least, got none")
    return found


def _known(gallery: Gallery, sets: Iterable[str]) -> None:
    """Raise NotFound for a set that is not there, with those that are called nearly so."""
    list(gallery.listing(sets))
