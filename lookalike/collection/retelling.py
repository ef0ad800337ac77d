"""Retelling: what befell a gallery is told by the copy that takes its place."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from lookalike.collection import copying, events, queries, schema
from lookalike.collection.connections import Connection

# Kept of the gallery that was replaced: what it went through must not be forgotten by going back in time.
CARRIED: Final = ("events", "backups", "barred")


def tell(
    new: Path,
    backup: str,
    old: Connection | None = None,
    kept: Path | None = None,
) -> tuple[str, ...]:
    """Write into a copy that it was restored, and what befell the gallery before; return who is back.

    Parameters
    ----------
    new : Path
        The copy.
    backup : str
        SHA-256 of what it is a copy of.
    old : Connection, optional
        The gallery that it replaces.
    kept : Path, optional
        Where that is kept.
    """
    with copying.changed(new) as connection:
        # An old backup must not make a gallery forget what it bars.
        if old is not None and schema.found(old) >= events.SINCE:
            schema.migrate(connection)
            _carry(old, connection)
        if schema.found(connection) < events.SINCE:
            return ()
        held = queries.contents(connection, new)
        events.insert(connection, "restore", {"backup": backup, "sets": len(held)})
        if kept is not None:
            events.note_backup(connection, kept)
        forgotten: set[str] = set()
        for event in events.everything(connection, new):
            if event.kind == "forget":
                forgotten |= {str(each) for each in event.said.get("contents", ())}
        return tuple(set_id for set_id, content in held.items() if content in forgotten)


def _carry(old: Connection, new: sqlite3.Connection) -> None:
    """Copy history, backups and what is barred, if the backup is an earlier state of the same gallery."""
    try:
        rows = {name: old.execute(f"SELECT * FROM {name}").fetchall() for name in CARRIED}
    except sqlite3.DatabaseError:
        return  # damaged, which may be why it is replaced
    for name in CARRIED:
        known = {row[0]: row for row in rows[name]}
        there = new.execute(f"SELECT * FROM {name}").fetchall()
        # What was taken back meanwhile (a bar) is no contradiction; another entry of that number is.
        if any(known.get(row[0], row) != row for row in there):
            return
    created = "SELECT value FROM facts WHERE name = 'created'"
    if old.execute(created).fetchone() != new.execute(created).fetchone():
        return
    for name in CARRIED:
        numbers = {number for (number,) in new.execute(f"SELECT number FROM {name}")}
        more = [row for row in rows[name] if row[0] not in numbers]
        if more:
            marks = ", ".join("?" * len(more[0]))
            new.executemany(f"INSERT INTO {name} VALUES ({marks})", more)
