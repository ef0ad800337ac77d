"""The tables of a gallery file, built by numbered steps: step n makes format n out of format n - 1."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import Final

# "LOOK" in ASCII, in the place SQLite reserves for telling one kind of file from another.
APPLICATION_ID: Final = 0x4C4F4F4B

# Holds several descriptors a page (2 of 1770 numbers, 7 of 512), so little of the file is padding.
PAGE_SIZE: Final = 16384


def step_1(connection: sqlite3.Connection) -> None:
    """Sets, their faces, facts about the whole gallery."""
    connection.execute("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    connection.execute(
        "CREATE TABLE sets (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, origin TEXT NOT NULL,"
        " content TEXT NOT NULL, faces INTEGER NOT NULL, pictures INTEGER NOT NULL, added TEXT NOT NULL)"
    )
    # The picture comes last: reading a descriptor then never touches the pages of the picture behind it.
    connection.execute(
        "CREATE TABLE faces (number INTEGER PRIMARY KEY,"
        " set_number INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE,"
        " position INTEGER NOT NULL, checksum BLOB NOT NULL, descriptor BLOB NOT NULL,"
        " source TEXT, picture BLOB, UNIQUE (set_number, position))"
    )
    connection.execute("INSERT INTO facts VALUES ('created', ?)", (now(),))


STEPS: Final = (step_1,)
FORMAT: Final = len(STEPS)

# Asked once when a gallery is opened: SQLite compiles them, which fails if a table or column is missing.
PROBES: Final = (
    "SELECT name, value FROM facts LIMIT 1",
    "SELECT number, id, origin, content, faces, pictures, added FROM sets LIMIT 1",
    "SELECT set_number, position, checksum, source FROM faces LIMIT 1",
)


def build(connection: sqlite3.Connection) -> None:
    """Make an empty gallery out of an empty database, in one transaction."""
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for step in STEPS:
        step(connection)
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def now() -> str:
    """The time in UTC, to the second, as a gallery writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def storable(text: str) -> str:
    """Write what is not Unicode (file names may hold such bytes) as an escape that people can read."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
