"""Questions a gallery answers from its lists, without reading a face."""

from __future__ import annotations

import difflib
import hashlib
import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.collection import purge, schema
from lookalike.errors import BadInput, GalleryUnreadable, NotFound

SUGGESTIONS = 3
# Spelling help compares the id with every other, in Python: beyond this many it would keep the user waiting.
MOST_COMPARED = 20_000


@dataclass(frozen=True)
class SetFacts:
    """What a gallery knows of a set without reading its faces."""

    id: str
    origin: str
    faces: int
    pictures: int
    added: str


def fact(connection: sqlite3.Connection, name: str) -> str | None:
    """One fact about the whole gallery, or None if it is not settled yet."""
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


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


def listing(connection: sqlite3.Connection, path: Path) -> list[SetFacts]:
    """What is known of each set, by id."""
    asked = "SELECT id, origin, faces, pictures, added FROM sets ORDER BY id"
    return [SetFacts(*row) for row in _rows(connection, path, asked, str, str, int, int, str)]


def _rows(connection: sqlite3.Connection, path: Path, asked: str, *kinds: type) -> list[Any]:
    found = connection.execute(asked).fetchall()
    # SQLite keeps any value in any column, so damage may turn text into a number or nothing.
    if not all(isinstance(value, kind) for row in found for value, kind in zip(row, kinds, strict=True)):
        raise GalleryUnreadable(
            f"{path} is damaged: its list of sets has entries that are none: restore it from a backup"
        )
    return found


class Remembered:
    """Contents and fingerprint as they were last read: a large gallery is asked for them again and again."""

    def __init__(self) -> None:
        self._version: tuple[int, int] | None = None
        self._contents: dict[str, str] = {}
        self._fingerprint = ""

    def contents(self, connection: sqlite3.Connection, path: Path) -> dict[str, str]:
        """Id -> content hash, by id."""
        self._catch_up(connection, path)
        return dict(self._contents)

    def fingerprint(self, connection: sqlite3.Connection, path: Path) -> str:
        """SHA-256 of everything that shapes a ranking: descriptor, dimension, contents."""
        self._catch_up(connection, path)
        return self._fingerprint

    def _catch_up(self, connection: sqlite3.Connection, path: Path) -> None:
        # The first number moves when others commit a change, the second when we make one.
        version = connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes
        if version == self._version:
            return
        self._contents = contents(connection, path)
        shaping = [fact(connection, "descriptor"), dimension(connection, path), list(self._contents.items())]
        self._fingerprint = hashlib.sha256(json.dumps(shaping).encode()).hexdigest()
        self._version = version


def overview(connection: sqlite3.Connection, path: Path) -> dict[str, str | int | bool | None]:
    """The numbers of the whole gallery, for `lookalike status`."""
    sets, faces, pictures = connection.execute(
        "SELECT count(*), ifnull(sum(faces), 0), ifnull(sum(pictures), 0) FROM sets"
    ).fetchone()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    return {
        "format": schema.FORMAT,
        "sets": sets,
        "faces": faces,
        "pictures": pictures,
        "bytes": pages * page_size,
        "descriptor": fact(connection, "descriptor"),
        "dimension": dimension(connection, path),
        "created": fact(connection, "created"),
        "purge_due": purge.is_due(connection),
    }


def unknown(connection: sqlite3.Connection, path: Path, set_id: object) -> NotFound:
    """The error for an id that is not there, with the nearest ids that are."""
    sets = count(connection)
    near: list[str] = []
    if isinstance(set_id, str) and sets <= MOST_COMPARED:
        near = difflib.get_close_matches(set_id, ids(connection, path), n=SUGGESTIONS)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "`lookalike list` names them"
    holds = "1 set" if sets == 1 else f"{sets} sets"
    return NotFound(f"{path} has no set {set_id!r} among its {holds}: {hint}")


def several(ids: Iterable[str]) -> Iterable[str]:
    """Refuse one id where a list of them is asked for: its letters would be taken for ids."""
    if isinstance(ids, str):
        raise BadInput(f"set ids must come as a list, got the string {ids!r}: write [{ids!r}]")
    return ids
