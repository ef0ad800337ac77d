"""Judge: say who is who, and see what all that was said adds up to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from lookalike import naming
from lookalike.collection import sheets
from lookalike.collection.gallery import Gallery
from lookalike.collection.judged import Judged, Person, folded
from lookalike.collection.sheets import as_csv
from lookalike.collection.verdicts import Pair
from lookalike.decision import VERDICTS, Decision, draft
from lookalike.errors import BadInput
from lookalike.naming import check_known, distinct
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
    asked = distinct(targets, "targets")
    if query in asked:
        raise BadInput(f"a set cannot be compared with itself, got {query!r} twice: choose another target")
    given = [draft(verdict, (query, target)) for target in asked]
    check_known(gallery, [query, *asked])
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
    BadInput
        If nobody can be called so, for instance as nothing of the name can be seen.
    Conflict
        If one of the sets belongs to somebody else, or is known to show somebody else.
    NotFound
        If there is no such set or person.
    """
    return naming.name(gallery, sets, name, person).person


def rename(gallery: Gallery, person: int, name: str) -> Person:
    """Give a person another name; raise Conflict if somebody else has it already."""
    return naming.rename(gallery, person, name).person


def merge(gallery: Gallery, person: int, into: int) -> Person:
    """Say that two people are one, who keeps the number and name of the second."""
    return naming.merge(gallery, person, into).person


def split(gallery: Gallery, person: int, sets: Sequence[str], name: str = "") -> Person | None:
    """Take sets out of a person; with a name they become a person of their own, who is returned."""
    return naming.split(gallery, person, sets, name).person


# Tables.


def decisions_table(gallery: Gallery) -> list[sheets.Line]:
    """Every decision as rows of plain values; see `lookalike.collection.sheets`."""
    return sheets.decisions(gallery.decisions())


def people_table(gallery: Gallery) -> list[sheets.Line]:
    """Every set of every person as a row of plain values, by name and set."""
    people = judged(gallery).people.values()
    return sheets.people(people, gallery.listing([set_id for one in people for set_id in one.sets]))
