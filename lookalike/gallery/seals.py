"""Seals: checksums over what is said of the gallery as a whole and of each set, which no face's covers."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import Final

NAME: Final = "seal"
# The format that has seals.
SINCE: Final = 4
# Marks of work that is due, which come and go, and the seal itself.
PASSING: Final = (NAME, "purge", "purge_derived")


def seal(connection: sqlite3.Connection) -> None:
    """Write the seal of the facts as they are now; who changes one holds the transaction and calls this."""
    connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (NAME, of_facts(connection)))


def of_facts(connection: sqlite3.Connection) -> str:
    """SHA-256 of everything said of the whole gallery."""
    marks = ", ".join("?" * len(PASSING))
    asked = f"SELECT name, value FROM facts WHERE name NOT IN ({marks}) ORDER BY name"
    said = json.dumps(connection.execute(asked, PASSING).fetchall(), default=repr)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def of_set(set_id: str, origin: str, added: str) -> bytes:
    """SHA-256 of what is said of a set besides its content."""
    said = json.dumps([set_id, origin, added], default=repr)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()


def seal_sets(connection: sqlite3.Connection) -> None:
    """Write the seal of every set as it is now: once, when a gallery gets seals."""
    for number, *said in connection.execute("SELECT number, id, origin, added FROM sets").fetchall():
        connection.execute("UPDATE sets SET seal = ? WHERE number = ?", (of_set(*said), number))
