"""The videos and photos that sets are from: which were looked at, where they lay, how."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Final

from lookalike.collection import schema
from lookalike.collection.failures import damaged_rows
from lookalike.collection.schema import storable
from lookalike.errors import BadInput
from lookalike.ordering import natural_order

KINDS: Final = ("video", "photo")
SHA_256: Final = re.compile(r"[0-9a-f]{64}")
# What SQLite keeps as a whole number.
LARGEST: Final = 2**63
ADVICE: Final = "restore it from a backup"
# Sets whose files are remembered: about 1 kB each.
REMEMBERED: Final = 20_000


@dataclass(frozen=True)
class MediaFile:
    """One file that was looked at for faces.

    Parameters
    ----------
    content : str
        SHA-256 of its bytes, in hexadecimal: what makes it the same file wherever it lies.
    path : str
        Where it lay when it was last seen.
    size : int
        Bytes.
    changed : int
        When it was last changed, in nanoseconds as the file system tells.
    kind : str
        ``video`` or ``photo``.
    settings : str
        How it was looked at.
    remark : str
        What is to be said about it, for instance that it is cut short; empty if nothing is.
    """

    content: str
    path: str
    size: int
    changed: int
    kind: str
    settings: str = ""
    remark: str = ""

    def __post_init__(self) -> None:
        for name in ("content", "path", "kind", "settings", "remark"):
            if not isinstance(getattr(self, name), str):
                raise BadInput(f"the {name} of a file must be text, got {getattr(self, name)!r}")
        for name in ("size", "changed"):
            given = getattr(self, name)
            if not isinstance(given, int) or not -LARGEST <= given < LARGEST:
                raise BadInput(f"the {name} of a file must be a whole number, got {given!r}")
        if not SHA_256.fullmatch(self.content):
            raise BadInput(f"the content of a file is told by its SHA-256 in 64 digits, got {self.content!r}")
        if self.kind not in KINDS or self.size < 0:
            raise BadInput(
                f"a file is a {' or a '.join(KINDS)} of 0 bytes or more, "
                f"got a {self.kind!r} of {self.size} bytes"
            )


COLUMNS: Final = ", ".join(field.name for field in fields(MediaFile))


# Asking.


def at(connection: sqlite3.Connection, where: Path, path: str, size: int, changed: int) -> MediaFile | None:
    """The file that lay there when last seen, and has not been written since as far as size and time tell."""
    latest = "path = ? AND size = ? AND changed = ? ORDER BY number DESC LIMIT 1"
    found = _select(connection, where, latest, storable(path), size, changed)
    return found[0] if found else None


def of(connection: sqlite3.Connection, where: Path, content: str) -> MediaFile | None:
    """The file of this content, wherever it lies."""
    found = _select(connection, where, "content = ?", storable(content))
    return found[0] if found else None


def everything(connection: sqlite3.Connection, where: Path) -> list[MediaFile]:
    """All files, by path."""
    return _select(connection, where, "1 ORDER BY path, content")


def of_set(connection: sqlite3.Connection, where: Path, set_id: str) -> list[MediaFile]:
    """The files that a set has faces of, by path."""
    asked = (
        "number IN (SELECT file_number FROM set_files JOIN sets ON set_number = sets.number WHERE id = ?)"
        " ORDER BY path, content"
    )
    return _select(connection, where, asked, storable(set_id))


def set_ids(connection: sqlite3.Connection, content: str) -> list[str]:
    """Ids of the sets that have faces of the file of this content, in order."""
    if schema.found(connection) < 2:
        return []
    asked = (
        "SELECT id FROM sets JOIN set_files ON set_number = sets.number"
        " JOIN files ON file_number = files.number WHERE files.content = ? ORDER BY id"
    )
    return [str(row[0]) for row in connection.execute(asked, (storable(content),))]


def paths(connection: sqlite3.Connection, where: Path) -> dict[str, list[str]]:
    """Where the files lie that each set has faces of, as people order them; sets without any are left out."""
    if schema.found(connection) < 2:
        return {}
    asked = (
        f"SELECT sets.id, checksum, {', '.join(f'files.{field.name}' for field in fields(MediaFile))}"
        " FROM set_files JOIN sets ON set_number = sets.number JOIN files ON file_number = files.number"
    )
    found: dict[str, list[str]] = {}
    for set_id, *row in connection.execute(asked):
        found.setdefault(str(set_id), []).append(_checked(where, *row).path)
    return {set_id: sorted(several, key=natural_order) for set_id, several in found.items()}


class RememberedFiles:
    """The files of sets as they were last read: a page asks for those of every strip that it shows."""

    def __init__(self) -> None:
        self._version: tuple[int, int] | None = None
        self._found: dict[str, list[MediaFile]] = {}

    def keep(self, version: tuple[int, int]) -> None:
        """Keep what was read of this version of the gallery, and nothing else."""
        if version != self._version or len(self._found) >= REMEMBERED:
            self._version, self._found = version, {}

    def of_set(self, connection: sqlite3.Connection, where: Path, set_id: str) -> list[MediaFile]:
        """The files that a set has faces of, by path."""
        if set_id not in self._found:
            self._found[set_id] = of_set(connection, where, set_id)
        return list(self._found[set_id])


def contents(connection: sqlite3.Connection) -> Iterator[str]:
    """SHA-256 of every file, in order."""
    if schema.found(connection) < 2:
        return iter(())
    return (str(row[0]) for row in connection.execute("SELECT content FROM files ORDER BY content"))


def count(connection: sqlite3.Connection) -> int:
    """How many files were looked at."""
    if schema.found(connection) < 2:
        return 0
    return int(connection.execute("SELECT count(*) FROM files").fetchone()[0])


def _select(connection: sqlite3.Connection, where: Path, which: str, *values: object) -> list[MediaFile]:
    if schema.found(connection) < 2:
        return []
    found = connection.execute(f"SELECT checksum, {COLUMNS} FROM files WHERE {which}", values).fetchall()
    return [_checked(where, *row) for row in found]


def _checked(where: Path, checksum: object, *values: object) -> MediaFile:
    try:
        file = MediaFile(*values)  # type: ignore[arg-type]  # it checks them itself
    except BadInput as error:
        raise damaged_rows(where, f"its list of files has an entry that is none ({error})", ADVICE) from error
    if checksum != _checksum(file):
        raise damaged_rows(where, f"the entry of the file {file.path!r} does not fit its checksum", ADVICE)
    return file


# Writing; the caller holds the transaction.


def insert(connection: sqlite3.Connection, file: MediaFile) -> int:
    """Write a file whose content is new; return its number."""
    kept = _storable(file)
    marks = ", ".join("?" * len(fields(MediaFile)))
    asked = f"INSERT INTO files ({COLUMNS}, checksum) VALUES ({marks}, ?)"
    number = connection.execute(asked, (*astuple(kept), _checksum(kept))).lastrowid
    return int(number or 0)


def move(connection: sqlite3.Connection, known: MediaFile, file: MediaFile) -> None:
    """Write where a known file lies now; nothing else about it."""
    kept = _storable(replace(known, path=file.path, size=file.size, changed=file.changed))
    connection.execute(
        "UPDATE files SET path = ?, size = ?, changed = ?, checksum = ? WHERE content = ?",
        (kept.path, kept.size, kept.changed, _checksum(kept), kept.content),
    )


def link(connection: sqlite3.Connection, number: int, ids: Iterable[str]) -> None:
    """Note that sets have faces of this file."""
    connection.executemany(
        "INSERT INTO set_files SELECT number, ? FROM sets WHERE id = ?", ((number, set_id) for set_id in ids)
    )


def linked(connection: sqlite3.Connection, set_id: str) -> set[int]:
    """Numbers of the files that a set has faces of."""
    asked = "SELECT file_number FROM set_files JOIN sets ON set_number = sets.number WHERE id = ?"
    return {row[0] for row in connection.execute(asked, (set_id,))}


def forget(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Delete those of the files that no set is left of."""
    connection.executemany(
        "DELETE FROM files WHERE number = ?"
        " AND NOT EXISTS (SELECT 1 FROM set_files WHERE file_number = files.number)",
        ((number,) for number in numbers),
    )


def _storable(file: MediaFile) -> MediaFile:
    texts = {name: storable(getattr(file, name)) for name in ("path", "settings", "remark")}
    return replace(file, **texts)  # type: ignore[arg-type]  # all of them are texts


def _checksum(file: MediaFile) -> bytes:
    return hashlib.sha256(json.dumps(astuple(file)).encode()).digest()
