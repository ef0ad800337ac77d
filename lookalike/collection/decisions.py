"""Decisions as rows of a gallery: written, read back each against its checksum, and forgotten with a set."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from lookalike.collection import pairs, queries, schema
from lookalike.collection.failures import damaged_rows
from lookalike.collection.forgetting import without
from lookalike.collection.verdicts import Pair
from lookalike.decision import KINDS, VERDICTS, Decision

ADVICE: Final = "restore it from a backup"
Make = Callable[[list[Decision], list[Pair]], Sequence[Decision]]


def everything(connection: sqlite3.Connection, path: Path) -> list[Decision]:
    """Every decision, in the order in which they were made; none in a gallery of an older format.

    Raises
    ------
    GalleryUnreadable
        If one is not what was written.
    """
    if schema.found(connection) < 3:
        return []
    sets: dict[int, list[str]] = {}
    # An id that leads to no set is none.
    join = "id = set_id" if schema.found(connection) >= schema.NAMES_IDS else "sets.number = set_number"
    asked = f"SELECT decision, id FROM decision_sets LEFT JOIN sets ON {join} ORDER BY decision, position"
    for number, set_id in connection.execute(asked):
        sets.setdefault(number, []).append(set_id)
    asked = "SELECT number, made, kind, person, name, other, checksum FROM decisions ORDER BY number"
    found = []
    for number, made, kind, person, name, other, checksum in connection.execute(asked):
        one = Decision(number, made, kind, tuple(sets.pop(number, ())), person, name, other)
        if not _is_one(one) or checksum != _checksum(one):
            raise damaged_rows(path, f"decision {number!r} does not fit its checksum", ADVICE)
        found.append(one)
    if sets:
        raise damaged_rows(path, f"decision {next(iter(sets))!r} is lost, but not its sets", ADVICE)
    undone = {one.other for one in found if one.kind == "undo"}
    return [replace(one, undone=one.number in undone) for one in found]


def insert(
    connection: sqlite3.Connection, given: Iterable[Decision], lookup: queries.Lookup
) -> list[Decision]:
    """Write decisions that are not stored yet, on sets that are there; they get their number and time."""
    made = schema.now()
    found = []
    for one in given:
        for set_id in one.sets:
            if reason := lookup(set_id):
                raise reason
        number = connection.execute(
            "INSERT INTO decisions (made, kind, person, name, other, checksum) VALUES (?, ?, ?, ?, ?, x'')",
            (made, one.kind, one.person, one.name, one.other),
        ).lastrowid
        found.append(replace(one, number=int(number or 0), made=made))
        _write(connection, found[-1])
    return found


def forget(connection: sqlite3.Connection, path: Path, ids: Collection[str]) -> None:
    """Take sets out of all decisions, before they are deleted; names that nobody has any more go too."""
    log = everything(connection, path)
    left = {one.number: one for one in without(log, set(ids))}
    for one in log:
        if one.number not in left:
            connection.execute("DELETE FROM decisions WHERE number = ?", (one.number,))
        elif left[one.number] != one:
            _write(connection, left[one.number])


def followed(log: Sequence[Decision], made: Sequence[Decision]) -> tuple[Decision, ...]:
    """The log when these have been put behind it."""
    undone = {one.other for one in made if one.kind == "undo"}
    return tuple(replace(one, undone=True) if one.number in undone else one for one in (*log, *made))


def _write(connection: sqlite3.Connection, one: Decision) -> None:
    """Write what may change in a decision: its sets, its person, its name, and the checksum of it all."""
    connection.execute(
        "UPDATE decisions SET person = ?, name = ?, checksum = ? WHERE number = ?",
        (one.person, one.name, _checksum(one), one.number),
    )
    connection.execute("DELETE FROM decision_sets WHERE decision = ?", (one.number,))
    connection.executemany(
        "INSERT INTO decision_sets VALUES (?, ?, ?)",
        ((one.number, place, set_id) for place, set_id in enumerate(one.sets)),
    )


def _is_one(one: Decision) -> bool:
    """Whether it has the shape of a decision: a stranger may fit a checksum to anything."""
    whole = all(value is None or isinstance(value, int) for value in (one.person, one.other))
    texts = all(isinstance(text, str) for text in (one.made, one.kind, one.name, *one.sets))
    if not (isinstance(one.number, int) and whole and texts and one.kind in KINDS):
        return False
    return one.kind not in VERDICTS or len(set(one.sets)) == len(one.sets) == 2


def _checksum(one: Decision) -> bytes:
    """SHA-256 of all that was said, and the ids of the sets: numbers would not show that one leads astray."""
    said = [one.number, one.made, one.kind, one.person, one.name, one.other, one.sets]
    return hashlib.sha256(json.dumps(said).encode()).digest()


class RememberedLog:
    """Decisions and pairs apart as they were last read: a page asks for them again and again."""

    def __init__(self) -> None:
        self.version: tuple[int, int] | None = None
        self.log: tuple[Decision, ...] = ()
        self.apart: tuple[Pair, ...] = ()

    def catch_up(self, connection: sqlite3.Connection, path: Path) -> None:
        """Read again what others or we have changed; what did not change stays the same object."""
        version = queries.version(connection)
        if version == self.version:
            return
        log, apart = tuple(everything(connection, path)), tuple(pairs.everything(connection, path))
        self.log = self.log if log == self.log else log
        self.apart = self.apart if apart == self.apart else apart
        self.version = version
