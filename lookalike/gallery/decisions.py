"""Decisions: say who is who, undo it, and see what all that was said adds up to.

What is given a gallery may be given the open log of `Gallery.deciding` instead: then several things are said
at once, all of them or none.
"""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.gallery.decision_log import VERDICTS, Decision, OpenLog, checked_name, draft
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.people import Judged, Person, Verdicts, folded, said
from lookalike.gallery.set_rows import several

# The number of a person whose decision is not stored yet.
NEW: Final = 0
Line = dict[str, str | int | float | bool | None]
# With these a spreadsheet begins a formula, which could call programs; the last four are their wide twins.
FORMULA: Final = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\N{FULLWIDTH EQUALS SIGN}",
    "\N{FULLWIDTH PLUS SIGN}",
    "\N{FULLWIDTH HYPHEN-MINUS}",
    "\N{FULLWIDTH COMMERCIAL AT}",
)

_LAST: WeakKeyDictionary[Gallery, tuple[object, object, Judged]] = WeakKeyDictionary()


def judged(gallery: Gallery) -> Judged:
    """What all decisions in a gallery say together; quick if nothing was decided since the last call."""
    log, apart = gallery.judgements()
    last = _LAST.get(gallery)
    if last is None or last[0] is not log or last[1] is not apart:
        last = _LAST[gallery] = (log, apart, Judged(log, apart))
    return last[2]


def person_called(gallery: Gallery, name: str) -> Person:
    """Who is called so, in capitals or not; or raise NotFound, which names those who are called nearly so."""
    called, people = checked_name(name), {one.name: one for one in said(gallery).people.values()}
    for each, person in people.items():
        if each.casefold() == called.casefold():
            return person
    near = difflib.get_close_matches(called, people, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "`lookalike name` gives a set a name"
    raise NotFound(f"nobody is called {called!r} in {gallery.path}: {hint}")


# Pairs of sets.


class Judgement(NamedTuple):
    """What stands of a pair of sets, and whether it was said just now."""

    decision: Decision
    is_new: bool


def judge(gallery: Gallery | OpenLog, query: str, targets: Sequence[str], verdict: str) -> list[Judgement]:
    """Say of sets whether they show the query's person: of all given, or, if one is refused, of none.

    The verdict, ``same``, ``different`` or ``unsure``, replaces what was said of the pair before. For each
    target the new one is returned, or the one that stands if it says this already. Raise Conflict if it
    contradicts other decisions, or sets that were seen side by side.
    """
    if verdict not in VERDICTS:
        raise BadInput(f"a verdict is one of {', '.join(VERDICTS)}, got {verdict!r}")
    asked = _distinct(targets, "targets")
    if query in asked:
        raise BadInput(f"a set cannot be compared with itself, got {query!r} twice: choose another target")
    found = []
    with _opened(gallery) as log:
        log.check([query, *asked])
        verdicts = folded(log.decisions, log.apart)
        for target in asked:
            before = verdicts.direct.get((min(query, target), max(query, target)))
            if before is not None and before.kind == verdict:
                found.append(Judgement(before, False))
            else:
                found.append(Judgement(_add(log, verdicts, draft(verdict, (query, target))), True))
    return found


# People.


def name(gallery: Gallery | OpenLog, sets: Sequence[str], name: str, person: int | None = None) -> Person:
    """Say who some sets show, and whatever else was confirmed to show the same person.

    Whoever is called so already, in capitals or not, gets these sets too; or the person of a number,
    whatever the name says. Raise BadInput if nobody can be called so, for instance as nothing of the name
    can be seen; Conflict if one of the sets belongs to somebody else, or is known to show somebody else.
    """
    asked = _distinct(sets, "sets")
    called = checked_name(name) if person is None else ""
    with _opened(gallery) as log:
        log.check(asked)
        verdicts = folded(log.decisions, log.apart)
        number = _called(verdicts, called) if person is None else _living(verdicts, person)
        whole = sorted({each for set_id in asked for each in verdicts.sets(set_id)})
        if number is None:
            stored = _add(log, verdicts, draft("name", tuple(whole), None, called))
            return _person(verdicts, NEW, stored.number)
        if not set(whole) <= set(verdicts.sets(number)):
            _add(log, verdicts, draft("name", tuple(whole), number, called or verdicts.names[number]))
        return _person(verdicts, number)


def rename(gallery: Gallery | OpenLog, person: int, name: str) -> Person:
    """Give a person another name; raise Conflict if somebody else has it already."""
    called = checked_name(name)
    with _opened(gallery) as log:
        verdicts = folded(log.decisions, log.apart)
        number = _living(verdicts, person)
        other = _called(verdicts, called)
        if other not in (None, number):
            raise Conflict(
                f"person {other} is called {called!r} already: merge the two, or choose another name"
            )
        if verdicts.names[number] != called:
            _add(log, verdicts, draft("rename", (), number, called))
        return _person(verdicts, number)


def merge(gallery: Gallery | OpenLog, person: int, into: int) -> Person:
    """Say that two people are one, who keeps the number and name of the second."""
    with _opened(gallery) as log:
        verdicts = folded(log.decisions, log.apart)
        merged = draft("merge", (), _living(verdicts, person), "", _living(verdicts, into))
        if person == into:
            raise BadInput(f"person {person} cannot be merged with itself: choose another person")
        _add(log, verdicts, merged)
        return _person(verdicts, into)


def split(gallery: Gallery | OpenLog, person: int, sets: Sequence[str], name: str = "") -> Person | None:
    """Take sets out of a person; with a name they become a person of their own, who is returned."""
    asked = _distinct(sets, "sets")
    called = checked_name(name) if name.strip() else ""
    with _opened(gallery) as log:
        log.check(asked)
        verdicts = folded(log.decisions, log.apart)
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
        stored = _add(log, verdicts, draft("split", tuple(sorted(asked)), number, called))
        return _person(verdicts, NEW, stored.number) if called else None


# Proposed people.


def accept(gallery: Gallery | OpenLog, sets: Sequence[str]) -> Decision | None:
    """Say that several sets show one person, who has no name yet; None if that is known already.

    Raise Conflict if something says that they are of several people.
    """
    asked = _several(sets)
    with _opened(gallery) as log:
        log.check(asked)
        verdicts = folded(log.decisions, log.apart)
        if set(asked) <= verdicts.together(asked[0]):
            return None
        return _add(log, verdicts, draft("join", tuple(sorted(asked))))


def reject(gallery: Gallery | OpenLog, sets: Sequence[str]) -> Decision:
    """Say that sets that were proposed as one person are not: no two of them are proposed again.

    Nothing is said of any two of them: these may be one person, and be judged or named so. Raise Conflict if
    they were decided to be one person, for instance on another page a moment ago.
    """
    asked = _several(sets)
    with _opened(gallery) as log:
        log.check(asked)
        verdicts = folded(log.decisions, log.apart)
        if set(asked) <= verdicts.together(asked[0]):
            raise Conflict(
                f"{asked[0]!r} and {len(asked) - 1} more were decided to be one person: undo that in the "
                f"history first, or part those that are somebody else"
            )
        return _add(log, verdicts, draft("reject", tuple(sorted(asked))))


def part(gallery: Gallery | OpenLog, leaving: Sequence[str], staying: Sequence[str]) -> Decision:
    """Say that some sets show nobody whom others show, whether or not either are one person.

    Raise BadInput if a set is on both sides, or a side has none; Conflict if two were decided to be one
    person.
    """
    left, right = (
        sorted(_distinct(leaving, "those that leave")),
        sorted(_distinct(staying, "those that stay")),
    )
    if both := set(left) & set(right):
        raise BadInput(f"a set either leaves or stays, got {min(both)!r} twice: leave it out on one side")
    with _opened(gallery) as log:
        log.check([*left, *right])
        said = draft("part", (*left, *right), other=len(left))
        return _add(log, folded(log.decisions, log.apart), said)


def _several(sets: Sequence[str]) -> list[str]:
    asked = _distinct(sets, "sets")
    if len(asked) < 2:
        raise BadInput("a proposal has two sets at least, got one: name that set, or compare it with another")
    return asked


# Taking back.


def undo(gallery: Gallery | OpenLog, number: int | None = None) -> Decision | None:
    """Take back a decision, the last one that stands unless a number is given; None if there is none.

    Raise Conflict if it is undone already, or if a later decision builds on it.
    """
    found = undo_all(gallery, None if number is None else [number])
    return found[0] if found else None


def undo_all(gallery: Gallery | OpenLog, numbers: Sequence[int] | None) -> list[Decision]:
    """Take back several decisions, all of them or, if one cannot be, none; the newest first, as `undo`."""
    with _opened(gallery) as log:
        found = _to_undo(log.decisions, numbers)
        gone = {decision.number for decision in found}
        verdicts = Verdicts(log.apart)
        for decision in log.decisions:
            if decision.undone or decision.number in gone:
                continue
            try:
                verdicts.take(decision)
            except Conflict:
                which = "decision" if len(gone) == 1 else "one of decisions"
                raise Conflict(
                    f"decision {decision.number} builds on {which} {', '.join(map(str, sorted(gone)))}: "
                    f"undo {decision.number} first"
                ) from None
        log.add(draft("undo", other=decision.number) for decision in found)
    return found


def _to_undo(log: Sequence[Decision], numbers: Sequence[int] | None) -> list[Decision]:
    """The decisions of these numbers, or the last one that stands; the newest first."""
    if numbers is None:
        return [decision for decision in log if decision.kind != "undo" and not decision.undone][-1:]
    known = {decision.number: decision for decision in log}
    for number in numbers:
        if number not in known:
            raise NotFound(f"there is no decision {number}: see the history")
        if known[number].undone:
            raise Conflict(f"decision {number} is undone already")
        if known[number].kind == "undo":
            raise Conflict(f"decision {number} took another back, which is final: decide anew")
    return [known[number] for number in sorted(set(numbers), reverse=True)]


# What all of them need.


@contextmanager
def _opened(gallery: Gallery | OpenLog) -> Iterator[OpenLog]:
    """The log of a gallery, open for more; one that is open already stays so."""
    if isinstance(gallery, OpenLog):
        yield gallery
    else:
        with gallery.deciding() as log:
            yield log


def _add(log: OpenLog, verdicts: Verdicts, decision: Decision) -> Decision:
    """Store a decision that contradicts none of those before it."""
    verdicts.take(decision, new=True)
    [stored] = log.add([decision])
    return stored


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


def _person(verdicts: Verdicts, number: int, stored: int | None = None) -> Person:
    """A person as these verdicts know them, under the number of the decision that made them if it is new."""
    sets = tuple(verdicts.sets(number))
    return Person(number if stored is None else stored, verdicts.names[number], sets)


def _distinct(sets: Sequence[str], what: str) -> list[str]:
    """Ids as they were given, each once; refuse an empty list."""
    found = list(dict.fromkeys(several(sets)))
    if not found:
        raise BadInput(f"{what} must name one set at least, got none")
    return found


# Tables of plain values, for JSON and for spreadsheets.


def decisions_table(gallery: Gallery) -> list[Line]:
    """Every decision as rows of plain values; see `decision_lines`."""
    return decision_lines(gallery.decisions())


def decision_lines(log: Iterable[Decision]) -> list[Line]:
    """Every decision, in order; one about several sets has a row for each.

    The columns are ``number``, ``made``, ``what``, ``query``, ``target``, ``person``, ``name``, ``other``,
    ``undone`` and ``by``, which is what the key of a program is called. A verdict is about a query and a
    target; sets that were named or split off are targets.
    """
    found: list[Line] = []
    for decision in log:
        # A split tells whom the sets were taken from, also where it makes a person of them.
        person = decision.number if decision.kind == "name" and decision.makes_person else decision.person
        pairs = [decision.sets] if decision.kind in VERDICTS else [("", set_id) for set_id in decision.sets]
        for query, target in pairs or [("", "")]:
            found.append(
                {
                    "number": decision.number,
                    "made": decision.made,
                    "what": decision.kind,
                    "query": query or None,
                    "target": target or None,
                    "person": person,
                    "name": decision.name or None,
                    "other": decision.other,
                    "undone": decision.undone,
                    "by": decision.by or None,
                }
            )
    return found


def people_table(gallery: Gallery) -> list[Line]:
    """Every set of every person as a row of plain values, by name and set, and when it is seen."""
    people = sorted(judged(gallery).people.values(), key=lambda one: (one.name.casefold(), one.number))
    facts = gallery.listing([set_id for person in people for set_id in person.sets])
    return [
        {
            "person": person.number,
            "name": person.name,
            "set": set_id,
            "origin": shown.origin,
            "start": shown.start,
            "end": shown.end,
        }
        for (person, set_id), shown in zip(
            ((person, set_id) for person in people for set_id in person.sets), facts, strict=True
        )
    ]


def as_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Write a table as comma-separated values; one without rows is empty.

    Names come from anywhere: see `cell`. Write it to a file as ``utf-8-sig``, or spreadsheets garble accents.
    """
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({column: cell(value) for column, value in row.items()})
    return text.getvalue()


def cell(value: object) -> object:
    """A value as a spreadsheet may have it: what it would take for a formula gets an apostrophe in front."""
    is_formula = isinstance(value, str) and value.lstrip(" ").startswith(FORMULA)
    return f"'{value}" if is_formula else value
