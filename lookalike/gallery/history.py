"""History: events of a gallery as a whole (forgets, upgrades, restores), and the copies made of it.

An event tells counts and hashes only: never an id, a name or a path of what was forgotten. Of decisions that
a program made it tells the numbers, and what the key of the program is called.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from lookalike.errors import damaged_rows
from lookalike.gallery import schema

# The format from which on a gallery keeps events.
SINCE: Final = 4
ADVICE: Final = "restore it from a backup"
# The kind of event that tells whose key decisions were made with: no checksum of a decision knows of it.
DECIDED: Final = "decided"


@dataclass(frozen=True)
class Event:
    """One thing that befell a gallery; `made` is when, in UTC."""

    number: int
    made: str
    kind: str
    said: Mapping[str, Any]


@dataclass(frozen=True)
class Backup:
    """A copy of a gallery: when it was made, in UTC, and where; it may have been moved or deleted since."""

    made: str
    path: str


def insert(
    connection: sqlite3.Connection, kind: str, said: Mapping[str, Any], made: str | None = None
) -> int:
    """Write an event of now, or of another time, in the transaction of what it tells of; its number."""
    text = json.dumps(dict(said), sort_keys=True, allow_nan=False)
    number = connection.execute(
        "INSERT INTO events (made, kind, said) VALUES (?, ?, ?)", (made or schema.now(), kind, text)
    ).lastrowid
    return int(number or 0)


def everything(connection: sqlite3.Connection, path: Path) -> list[Event]:
    """Every event, in the order in which they happened; none in a gallery of an older format."""
    if schema.found(connection) < SINCE:
        return []
    found = []
    for number, made, kind, said in connection.execute("SELECT * FROM events ORDER BY number"):
        details = _object(said)
        if not _is_time(made) or not isinstance(kind, str) or not kind or details is None:
            raise damaged_rows(path, f"entry {number!r} of its history is none", ADVICE)
        found.append(Event(number, made, kind, details))
    return found


def insert_makers(connection: sqlite3.Connection, by: str, numbers: Sequence[int], made: str) -> None:
    """Write with whose key decisions of one time were made, in their transaction."""
    insert(connection, DECIDED, {"by": by, "decisions": list(numbers)}, made)


def makers(connection: sqlite3.Connection) -> dict[tuple[object, str], str]:
    """Whose key was used, for each decision that was made with one, by its number and time.

    A restored gallery may give a number again that is told of here: the time tells the two apart.
    """
    if schema.found(connection) < SINCE:
        return {}
    found: dict[tuple[object, str], str] = {}
    asked = "SELECT made, said FROM events WHERE kind = ? ORDER BY number"
    for made, text in connection.execute(asked, (DECIDED,)):
        said = _object(text) or {}
        by, numbers = said.get("by"), said.get("decisions")
        if isinstance(by, str) and isinstance(numbers, list):
            found |= {(number, made): by for number in numbers if isinstance(number, int)}
    return found


def note_backup(connection: sqlite3.Connection, path: Path) -> int:
    """Note where a copy of the gallery lies or will lie, in the transaction of the caller; its number."""
    kept = schema.storable(str(path))
    number = connection.execute(
        "INSERT INTO backups (made, path) VALUES (?, ?)", (schema.now(), kept)
    ).lastrowid
    return int(number or 0)


def forget_backup(connection: sqlite3.Connection, number: int) -> None:
    """Take back the note of a copy that did not come about."""
    connection.execute("DELETE FROM backups WHERE number = ?", (number,))


def backups(connection: sqlite3.Connection, path: Path) -> list[Backup]:
    """Every copy that was noted, oldest first; none in a gallery of an older format."""
    if schema.found(connection) < SINCE:
        return []
    found = []
    for number, made, where in connection.execute("SELECT * FROM backups ORDER BY number"):
        if not _is_time(made) or not isinstance(where, str) or not where:
            raise damaged_rows(path, f"entry {number!r} of its list of backups is none", ADVICE)
        found.append(Backup(made, where))
    return found


def _object(text: object) -> dict[str, Any] | None:
    try:
        said = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _is_time(text: object) -> bool:
    try:
        return isinstance(text, str) and datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
