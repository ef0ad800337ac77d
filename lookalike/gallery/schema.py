"""The tables of a gallery file, built by numbered steps: step n makes format n out of format n - 1."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from lookalike.errors import BadInput
from lookalike.faceset import Sighting

SAID: Final = (
    "SELECT said FROM faces CROSS JOIN sightings ON face = faces.number"
    " WHERE set_number = ? ORDER BY position"
)

# "LOOK" in ASCII, in the place SQLite reserves for telling one kind of file from another.
APPLICATION_ID: Final = 0x4C4F4F4B

# Holds several descriptors a page (2 of 1770 numbers, 7 of 512), so little of the file is padding.
PAGE_SIZE: Final = 16384

SEAL: Final = "seal"
# Seals are checksums over what is said of the gallery as a whole and of each set, which no face's covers;
# the format that has them.
SEALED_SINCE: Final = 4
# Facts that no seal covers: marks of work that is due, which come and go, the last commit (`journal`), where
# derived tables lie, and the seal itself.
PASSING: Final = (SEAL, "purge", "purge_derived", "commits", "derived")


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


def step_3(connection: sqlite3.Connection) -> None:
    """What the user decided about sets and people; how many faces of each set are good to go by."""
    # A number is never used again, since people are known by the number of the decision that made them.
    connection.execute(
        "CREATE TABLE decisions (number INTEGER PRIMARY KEY AUTOINCREMENT, made TEXT NOT NULL,"
        " kind TEXT NOT NULL, person INTEGER, name TEXT NOT NULL, other INTEGER, checksum BLOB NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE decision_sets ("
        "decision INTEGER NOT NULL REFERENCES decisions (number) ON DELETE CASCADE,"
        " position INTEGER NOT NULL, set_number INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE,"
        " PRIMARY KEY (decision, position)) WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX decision_sets_by_set ON decision_sets (set_number)")
    connection.execute("ALTER TABLE sets ADD COLUMN good INTEGER")
    asked = "SELECT number FROM sets WHERE sighted IS NOT NULL"
    for (number,) in connection.execute(asked).fetchall():
        texts = [text for (text,) in connection.execute(SAID, (number,))]
        connection.execute("UPDATE sets SET good = ? WHERE number = ?", (good_faces(texts), number))


def step_4(connection: sqlite3.Connection) -> None:
    """What was done to the gallery as a whole, where its backups lie, what must not enter it again; seals."""
    # `said` is JSON: counts and hashes only, since what was forgotten must not be told here.
    connection.execute(
        "CREATE TABLE events (number INTEGER PRIMARY KEY AUTOINCREMENT, made TEXT NOT NULL,"
        " kind TEXT NOT NULL, said TEXT NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE backups (number INTEGER PRIMARY KEY AUTOINCREMENT, made TEXT NOT NULL,"
        " path TEXT NOT NULL)"
    )
    # `model`, `least` and `descriptor` are of a person only, the rest is told by its hash alone. Entries of
    # one event belong together: a person who is let in again is let in with all their files.
    connection.execute(
        "CREATE TABLE barred (number INTEGER PRIMARY KEY AUTOINCREMENT, event INTEGER NOT NULL,"
        " made TEXT NOT NULL, kind TEXT NOT NULL, content TEXT NOT NULL, model TEXT, least REAL,"
        " descriptor BLOB, checksum BLOB NOT NULL)"
    )
    connection.execute("ALTER TABLE sets ADD COLUMN seal BLOB")
    seal_sets(connection)
    seal(connection)


def step_5(connection: sqlite3.Connection) -> None:
    """Decisions and pairs name sets by their ids."""
    connection.execute("ALTER TABLE decision_sets RENAME TO old_decision_sets")
    connection.execute(
        "CREATE TABLE decision_sets ("
        "decision INTEGER NOT NULL REFERENCES decisions (number) ON DELETE CASCADE,"
        " position INTEGER NOT NULL, set_id TEXT NOT NULL, PRIMARY KEY (decision, position)) WITHOUT ROWID"
    )
    # Of a set that is lost there is no id: the checksum of the decision, or of the pair, then tells.
    connection.execute(
        "INSERT INTO decision_sets SELECT decision, position, ifnull(id, '') FROM old_decision_sets"
        " LEFT JOIN sets ON sets.number = set_number"
    )
    connection.execute("DROP TABLE old_decision_sets")
    connection.execute("CREATE INDEX decision_sets_by_set ON decision_sets (set_id)")
    connection.execute("ALTER TABLE apart RENAME TO old_apart")
    connection.execute(
        "CREATE TABLE apart (first TEXT NOT NULL, second TEXT NOT NULL, checksum BLOB NOT NULL,"
        " PRIMARY KEY (first, second)) WITHOUT ROWID"
    )
    connection.execute(
        "INSERT OR REPLACE INTO apart SELECT min(ifnull(one.id, ''), ifnull(other.id, '')),"
        " max(ifnull(one.id, ''), ifnull(other.id, '')), checksum FROM old_apart"
        " LEFT JOIN sets AS one ON one.number = first LEFT JOIN sets AS other ON other.number = second"
    )
    connection.execute("DROP TABLE old_apart")
    connection.execute("CREATE INDEX apart_by_second ON apart (second)")


def step_6(connection: sqlite3.Connection) -> None:
    """When photos and films were taken, as these say: NULL until one was asked, empty if it does not say."""
    connection.execute("ALTER TABLE files ADD COLUMN captured TEXT")


def good_faces(said: Iterable[str]) -> int:
    """Of how many sightings no weakness is known; what cannot be read is none of them."""
    found = 0
    for text in said:
        # Damage is told when the sighting is read: a change of the format must not fail for it.
        with suppress(BadInput, TypeError, ArithmeticError, RecursionError):
            found += not Sighting.from_text(text).weaknesses
    return found


STEPS: Final = (step_1, step_2, step_3, step_4, step_5, step_6)
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
    (
        "SELECT good FROM sets LIMIT 1",
        "SELECT number, made, kind, person, name, other, checksum FROM decisions LIMIT 1",
        "SELECT decision, position FROM decision_sets LIMIT 1",
    ),
    (
        "SELECT seal FROM sets LIMIT 1",
        "SELECT number, made, kind, said FROM events LIMIT 1",
        "SELECT number, made, path FROM backups LIMIT 1",
        "SELECT number, event, made, kind, content, model, least, descriptor, checksum FROM barred LIMIT 1",
    ),
    (
        "SELECT decision, position, set_id FROM decision_sets LIMIT 1",
        "SELECT first, second, checksum FROM apart LIMIT 1",
    ),
    ("SELECT captured FROM files LIMIT 1",),
)

# The format from which on decisions and pairs name ids.
NAMES_IDS: Final = 5
# The format from which on files tell when they were taken.
HAS_DATES: Final = 6

# Tables of each format that are read whole, where a lost row would not show; small against the faces.
LISTS: Final = (
    ("sets",),
    ("files", "set_files", "apart", "models"),
    ("decisions", "decision_sets"),
    ("events", "backups", "barred"),
    (),
    (),
)


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


def seal(connection: sqlite3.Connection) -> None:
    """Write the seal of the facts as they are now; who changes one holds the transaction and calls this."""
    connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (SEAL, facts_seal(connection)))


def facts_seal(connection: sqlite3.Connection) -> str:
    """SHA-256 of everything said of the whole gallery."""
    marks = ", ".join("?" * len(PASSING))
    asked = f"SELECT name, value FROM facts WHERE name NOT IN ({marks}) ORDER BY name"
    said = json.dumps(connection.execute(asked, PASSING).fetchall(), default=repr)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def set_seal(set_id: str, origin: str, added: str) -> bytes:
    """SHA-256 of what is said of a set besides its content."""
    said = json.dumps([set_id, origin, added], default=repr)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()


def seal_sets(connection: sqlite3.Connection) -> None:
    """Write the seal of every set as it is now: once, when a gallery gets seals."""
    for number, *said in connection.execute("SELECT number, id, origin, added FROM sets").fetchall():
        connection.execute("UPDATE sets SET seal = ? WHERE number = ?", (set_seal(*said), number))
