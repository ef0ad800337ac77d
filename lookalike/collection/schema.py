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


def step_2(connection: sqlite3.Connection) -> None:
    """Where faces were seen, the files they are from, who is not the same person, vectors of other models."""
    for column in ("sighted TEXT", "start_seconds REAL", "end_seconds REAL"):
        connection.execute(f"ALTER TABLE sets ADD COLUMN {column}")
    # A table of their own: behind the picture in `faces`, reading one would walk the pages of the picture.
    connection.execute(
        "CREATE TABLE sightings (face INTEGER PRIMARY KEY REFERENCES faces (number) ON DELETE CASCADE,"
        " said TEXT NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE files (number INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE, path TEXT NOT NULL,"
        " size INTEGER NOT NULL, changed INTEGER NOT NULL, kind TEXT NOT NULL, settings TEXT NOT NULL,"
        " remark TEXT NOT NULL, checksum BLOB NOT NULL)"
    )
    connection.execute("CREATE INDEX files_by_path ON files (path)")
    connection.execute(
        "CREATE TABLE set_files (set_number INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE,"
        " file_number INTEGER NOT NULL REFERENCES files (number) ON DELETE CASCADE,"
        " PRIMARY KEY (set_number, file_number)) WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX set_files_by_file ON set_files (file_number)")
    connection.execute(
        "CREATE TABLE apart (first INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE,"
        " second INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE,"
        " checksum BLOB NOT NULL, PRIMARY KEY (first, second), CHECK (first < second)) WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX apart_by_second ON apart (second)")
    connection.execute(
        "CREATE TABLE models (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
        " dimension INTEGER NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE vectors (number INTEGER PRIMARY KEY,"
        " face INTEGER NOT NULL REFERENCES faces (number) ON DELETE CASCADE,"
        " model INTEGER NOT NULL REFERENCES models (number) ON DELETE CASCADE,"
        " checksum BLOB NOT NULL, descriptor BLOB NOT NULL, UNIQUE (face, model))"
    )


STEPS: Final = (step_1, step_2)
FORMAT: Final = len(STEPS)

# Asked once when a gallery is opened, those of its format and of all before it: SQLite compiles them, which
# fails if a table or column is missing.
PROBES: Final = (
    (
        "SELECT name, value FROM facts LIMIT 1",
        "SELECT number, id, origin, content, faces, pictures, added FROM sets LIMIT 1",
        "SELECT set_number, position, checksum, source FROM faces LIMIT 1",
    ),
    (
        "SELECT sighted, start_seconds, end_seconds FROM sets LIMIT 1",
        "SELECT face, said FROM sightings LIMIT 1",
        "SELECT content, path, size, changed, kind, settings, remark, checksum FROM files LIMIT 1",
        "SELECT set_number, file_number FROM set_files LIMIT 1",
        "SELECT first, second, checksum FROM apart LIMIT 1",
        "SELECT number, name, dimension FROM models LIMIT 1",
        "SELECT face, model, checksum FROM vectors LIMIT 1",
    ),
)

# Tables of each format that are read whole, where a lost row would not show; small against the faces.
LISTS: Final = (("sets",), ("files", "set_files", "apart", "models"))


def build(connection: sqlite3.Connection) -> None:
    """Make an empty gallery out of an empty database, in one transaction."""
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    migrate(connection)
    connection.execute("COMMIT")


def found(connection: sqlite3.Connection) -> int:
    """The format of the gallery, in the version that the transaction sees."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Take the steps that are still missing; the caller holds a transaction that writes."""
    earlier = found(connection)
    for step in STEPS[earlier:]:
        step(connection)
    if earlier < FORMAT:
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def now() -> str:
    """The time in UTC, to the second, as a gallery writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def storable(text: str) -> str:
    """Write what is not Unicode (file names may hold such bytes) as an escape that people can read."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
