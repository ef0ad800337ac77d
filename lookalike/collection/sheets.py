"""Sheets: decisions and people as tables of plain values, for JSON and for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from lookalike.collection.judged import Person
from lookalike.collection.queries import SetFacts
from lookalike.decision import VERDICTS, Decision

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


def decisions(log: Iterable[Decision]) -> list[Line]:
    """Every decision, in order; one about several sets has a row for each.

    The columns are ``number``, ``made``, ``what``, ``query``, ``target``, ``person``, ``name``, ``other`` and
    ``undone``. A verdict is about a query and a target; sets that were named or split off are targets.
    """
    found: list[Line] = []
    for one in log:
        pairs = [one.sets] if one.kind in VERDICTS else [("", set_id) for set_id in one.sets]
        for query, target in pairs or [("", "")]:
            found.append(
                {
                    "number": one.number,
                    "made": one.made,
                    "what": one.kind,
                    "query": query or None,
                    "target": target or None,
                    "person": one.number if one.kind == "name" and one.makes_person else one.person,
                    "name": one.name or None,
                    "other": one.other,
                    "undone": one.undone,
                }
            )
    return found


def people(everybody: Iterable[Person], listing: Iterable[SetFacts]) -> list[Line]:
    """Every set of every person, by name and set, and when it is seen."""
    facts = {one.id: one for one in listing}
    return [
        {
            "person": person.number,
            "name": person.name,
            "set": set_id,
            "origin": facts[set_id].origin,
            "start": facts[set_id].start,
            "end": facts[set_id].end,
        }
        for person in sorted(everybody, key=lambda one: (one.name.casefold(), one.number))
        for set_id in person.sets
    ]


def as_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Write a table as comma-separated values; one without rows is empty.

    What a spreadsheet would take for a formula gets an apostrophe in front: names come from anywhere. Write
    it to a file as ``utf-8-sig``, or spreadsheets garble accents.
    """
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({column: _cell(value) for column, value in row.items()})
    return text.getvalue()


def _cell(value: object) -> object:
    is_formula = isinstance(value, str) and value.lstrip(" ").startswith(FORMULA)
    return f"'{value}" if is_formula else value
