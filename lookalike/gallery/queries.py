"""Questions a gallery answers from its lists, without reading a face."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from lookalike.errors import BadInput, GalleryUnreadable, NotFound
from lookalike.gallery import schema, seals

SUGGESTIONS = 3
# Spelling help compares the id with every other, in Python: beyond this many it would keep the user waiting.
MOST_COMPARED = 20_000
# Facts that help the user's programs and shape nothing: where the file of the current model was last seen.
HINTS: Final = ("model_file", "successor_told")
Version = tuple[int, int]
# What is to be said of an id that is not there; None if it is.
Lookup = Callable[[str], NotFound | None]


class SetFacts(NamedTuple):
    """What a gallery knows of a set without reading its faces.

    In films, `start` and `end` are the seconds at which its person is seen first and last; `good` is how many
    faces have no weakness (`lookalike.faceset`), None where nobody knows how well they are seen.
    """

    id: str
    origin: str
    faces: int
    pictures: int
    added: str
    start: float | None = None
    end: float | None = None
    good: int | None = None


def fact(connection: sqlite3.Connection, name: str) -> str | None:
    """One fact about the whole gallery, or None if it is not settled yet."""
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def forget_facts(connection: sqlite3.Connection, *names: str) -> None:
    """Let facts be unsettled again; the caller holds the transaction."""
    connection.executemany("DELETE FROM facts WHERE name = ?", ((name,) for name in names))
    seals.seal(connection)


def set_fact(connection: sqlite3.Connection, name: str, value: str | None) -> None:
    """Write a fact, or let it be unsettled again; the caller holds the transaction."""
    forget_facts(connection, name)
    if value is not None:
        connection.execute("INSERT INTO facts VALUES (?, ?)", (name, schema.storable(value)))
        seals.seal(connection)


def dimension(connection: sqlite3.Connection, path: Path) -> int | None:
    """How many numbers describe a face, or None while the gallery is empty."""
    text = fact(connection, "dimension")
    if text is not None and not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) >= 2):
        raise GalleryUnreadable(
            f"{path} is damaged: it says its faces have {text!r} numbers: restore a backup"
        )
    return None if text is None else int(text)


def count(connection: sqlite3.Connection) -> int:
    """How many sets there are."""
    return int(connection.execute("SELECT count(*) FROM sets").fetchone()[0])


def has(connection: sqlite3.Connection, set_id: object) -> bool:
    """Whether there is a set of this id; what cannot be an id is simply not there."""
    if not isinstance(set_id, str) or set_id != schema.storable(set_id):
        return False
    return connection.execute("SELECT 1 FROM sets WHERE id = ?", (set_id,)).fetchone() is not None


def ids(connection: sqlite3.Connection, path: Path) -> list[str]:
    """Every id, by code point: SQLite compares UTF-8 bytes, which gives the same order."""
    return [row[0] for row in _rows(connection, path, "SELECT id FROM sets ORDER BY id", str)]


def contents(connection: sqlite3.Connection, path: Path) -> dict[str, str]:
    """Id -> content hash, by id."""
    return dict(_rows(connection, path, "SELECT id, content FROM sets ORDER BY id", str, str))


def listing(connection: sqlite3.Connection, path: Path, ids: Iterable[str] | None = None) -> list[SetFacts]:
    """What is known of each set, by id; or of some, in the order in which they are asked for."""
    times = "start_seconds, end_seconds" if schema.found(connection) > 1 else "NULL, NULL"
    good = "good" if schema.found(connection) > 2 else "NULL"
    asked = f"SELECT id, origin, faces, pictures, added, {times}, {good} FROM sets"
    time: set[type] = {float, type(None)}
    amount: set[type] = {int, type(None)}
    kinds = (str, str, int, int, str, time, time, amount)
    if ids is None:
        found = _rows(connection, path, f"{asked} ORDER BY id", *kinds)
    else:
        found = []
        for set_id in several(ids):
            if not has(connection, set_id):
                raise unknown(connection, path, set_id)
            found += _rows(connection, path, f"{asked} WHERE id = ?", *kinds, given=(set_id,))
    facts = list(map(SetFacts._make, found))
    # All faces of a set have a picture, or none has.
    if not {one.pictures for one in facts if one.pictures != one.faces} <= {0}:
        raise _no_entries(path)
    return facts


def _rows(
    connection: sqlite3.Connection,
    path: Path,
    asked: str,
    *kinds: type | set[type],
    given: tuple[str, ...] = (),
) -> list[Any]:
    found = connection.execute(asked, given).fetchall()
    # SQLite keeps any value in any column, so damage may turn text into a number or nothing. Whole columns
    # are looked at: value by value it would take longer than to read them.
    allowed = [kind if isinstance(kind, set) else {kind} for kind in kinds]
    columns = zip(*found, strict=True)
    if found and not all(set(map(type, one)) <= kind for one, kind in zip(columns, allowed, strict=True)):
        raise _no_entries(path)
    return found


def _no_entries(path: Path) -> GalleryUnreadable:
    return GalleryUnreadable(
        f"{path} is damaged: its list of sets has entries that are none: restore it from a backup"
    )


def version(connection: sqlite3.Connection) -> Version:
    """Two numbers: the first moves when others commit a change, the second when we make one."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0]), connection.total_changes


def unknown(connection: sqlite3.Connection, path: Path, set_id: object) -> NotFound:
    """The error for an id that is not there, with the nearest ids that are."""
    near: list[str] = []
    sets = count(connection)
    if isinstance(set_id, str) and sets <= MOST_COMPARED:
        near = difflib.get_close_matches(set_id, ids(connection, path), n=SUGGESTIONS)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "`lookalike list` names them"
    holds = "1 set" if sets == 1 else f"{sets} sets"
    return NotFound(f"{path} has no set {set_id!r} among its {holds}: {hint}")


def lookup(connection: sqlite3.Connection, path: Path) -> Lookup:
    """How ids are looked up in one gallery file."""
    return lambda set_id: None if has(connection, set_id) else unknown(connection, path, set_id)


def several(ids: Iterable[str]) -> Iterable[str]:
    """Refuse one id where a list of them is asked for: its letters would be taken for ids."""
    if isinstance(ids, str):
        raise BadInput(f"set ids must come as a list, got the string {ids!r}: write [{ids!r}]")
    return ids
