"""The videos and photos that sets are from: which were looked at, where they lay, what was found in them."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Final

from lookalike.errors import BadInput, Conflict, damaged_rows
from lookalike.faceset import FaceSet, is_moment, natural_order, unique_ids
from lookalike.gallery import schema, set_rows
from lookalike.gallery.blocklist import Barred
from lookalike.gallery.schema import storable

Pair = tuple[str, str]
KINDS: Final = ("video", "photo")
SHA_256: Final = re.compile(r"[0-9a-f]{64}")
# What SQLite keeps as a whole number.
LARGEST: Final = 2**63
ADVICE: Final = "restore it from a backup"


@dataclass(frozen=True)
class MediaFile:
    """One file that was looked at for faces."""

    content: str  # SHA-256 of its bytes, in hexadecimal: what makes it the same file wherever it lies
    path: str  # where it lay when it was last seen
    size: int  # bytes
    changed: int  # when it was last changed, in nanoseconds as the file system tells
    kind: str  # `video` or `photo`
    settings: str = ""  # how it was looked at
    remark: str = ""  # what is to be said about it, for instance that it is cut short; empty if nothing is
    captured: str | None = None

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
        if self.captured not in (None, "") and not is_moment(self.captured):
            raise BadInput(
                f"a file was taken at a time such as 2019-07-14T12:30:05+02:00, got {self.captured!r}"
            )


COLUMNS: Final = tuple(field.name for field in fields(MediaFile))


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


def of_sets(connection: sqlite3.Connection, where: Path, ids: Iterable[str]) -> dict[str, list[MediaFile]]:
    """The files that each set has faces of, by path; sets that the gallery has not are left out."""
    found: dict[str, list[MediaFile]] = {}
    checked: dict[tuple[object, ...], MediaFile] = {}  # a film has many sets
    has_files = schema.found(connection) >= 2
    columns = f"checksum, {_columns(connection)}" if has_files else "NULL"
    joined = "LEFT JOIN set_files ON set_number = sets.number LEFT JOIN files ON file_number = files.number"
    asked = (
        f"SELECT id, {columns} FROM sets {joined if has_files else ''}"
        " WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
        f"{', files.path, files.content' if has_files else ''}"
    )
    for set_id, *row in connection.execute(
        asked, (json.dumps([one for one in ids if one == storable(one)]),)
    ):
        files = found.setdefault(str(set_id), [])
        if row[0] is not None:
            file = checked.get(tuple(row)) or checked.setdefault(tuple(row), _checked(where, *row))
            files.append(file)
    return found


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
        f"SELECT sets.id, checksum, {_columns(connection)}"
        " FROM set_files JOIN sets ON set_number = sets.number JOIN files ON file_number = files.number"
    )
    found: dict[str, list[str]] = {}
    for set_id, *row in connection.execute(asked):
        found.setdefault(str(set_id), []).append(_checked(where, *row).path)
    return {set_id: sorted(several, key=natural_order) for set_id, several in found.items()}


def count(connection: sqlite3.Connection) -> int:
    """How many files were looked at."""
    if schema.found(connection) < 2:
        return 0
    return int(connection.execute("SELECT count(*) FROM files").fetchone()[0])


def _select(connection: sqlite3.Connection, where: Path, which: str, *values: object) -> list[MediaFile]:
    if schema.found(connection) < 2:
        return []
    asked = f"SELECT checksum, {_columns(connection)} FROM files WHERE {which}"
    found = connection.execute(asked, values).fetchall()
    return [_checked(where, *row) for row in found]


def _columns(connection: sqlite3.Connection) -> str:
    """What makes a `MediaFile`; in older formats no file was asked for its date."""
    there = COLUMNS if schema.found(connection) >= schema.HAS_DATES else COLUMNS[:-1]
    return ", ".join(f"files.{name}" for name in there)


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
    marks = ", ".join("?" * len(COLUMNS))
    asked = f"INSERT INTO files ({', '.join(COLUMNS)}, checksum) VALUES ({marks}, ?)"
    number = connection.execute(asked, (*astuple(kept), _checksum(kept))).lastrowid
    return int(number or 0)


def move(connection: sqlite3.Connection, known: MediaFile, file: MediaFile) -> None:
    """Write where a known file lies now, and when it was taken if that was not asked before."""
    captured = file.captured if known.captured is None else known.captured
    kept = _storable(replace(known, path=file.path, size=file.size, changed=file.changed, captured=captured))
    connection.execute(
        "UPDATE files SET path = ?, size = ?, changed = ?, captured = ?, checksum = ? WHERE content = ?",
        (kept.path, kept.size, kept.changed, kept.captured, _checksum(kept), kept.content),
    )
    set_rows.note_changed(connection, set_ids(connection, kept.content))


def link(connection: sqlite3.Connection, number: int, ids: Iterable[str]) -> None:
    """Note that sets have faces of this file."""
    connection.executemany(
        "INSERT INTO set_files SELECT number, ? FROM sets WHERE id = ?", ((number, set_id) for set_id in ids)
    )


def linked(connection: sqlite3.Connection, set_id: str) -> set[int]:
    """Numbers of the files that a set has faces of."""
    asked = "SELECT file_number FROM set_files JOIN sets ON set_number = sets.number WHERE id = ?"
    return {row[0] for row in connection.execute(asked, (set_id,))}


def delete_unlinked(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
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
    """SHA-256 of all that is known of it; without a date that was not asked for, as before there were any."""
    known = [getattr(file, name) for name in COLUMNS]
    return hashlib.sha256(json.dumps(known if file.captured is not None else known[:-1]).encode()).digest()


# Filing: one video or photo with everything found in it, in the transaction of the caller.


@dataclass(frozen=True)
class Filed:
    """What is to be kept of one file."""

    file: MediaFile
    new: Sequence[FaceSet]  # sets that begin with this file
    grown: Sequence[FaceSet]  # more faces of sets that are in the gallery
    apart: Sequence[Pair]  # pairs of sets that are certainly of different people
    descriptor: str  # what made the faces

    def __post_init__(self) -> None:
        if not isinstance(self.file, MediaFile):
            raise BadInput(f"only a MediaFile can be kept, got {type(self.file).__name__}: make one of it")
        set_rows.check_name(self.descriptor)
        for faceset in (*self.new, *self.grown):
            set_rows.check(faceset, self.descriptor)
        unique_ids((*self.new, *self.grown))


def keep(connection: sqlite3.Connection, path: Path, given: Filed, barred: Barred) -> bool:
    """Write it; of a file whose content is known, only place and date. Whether the file was new."""
    known = of(connection, path, given.file.content)
    if known is not None:
        move(connection, known, given.file)
        return False
    refuse_barred(path, barred, (*given.new, *given.grown), given.descriptor, given.file.content)
    for faceset in given.new:
        set_rows.add(connection, path, faceset, given.descriptor)
    for faceset in given.grown:
        set_rows.append(connection, path, faceset, given.descriptor)
    number = insert(connection, given.file)
    link(connection, number, (faceset.id for faceset in (*given.new, *given.grown)))
    insert_pairs(connection, path, given.apart)
    return True


def refuse_barred(
    path: Path, found: Barred, sets: Iterable[FaceSet], descriptor: str, file: str = ""
) -> None:
    """Refuse what was barred: whoever adds looks first, but only here nobody can bar it meanwhile."""
    let_in = "let it in again by `lookalike forget --unblock`"
    if file and found.has_file(file):
        raise Conflict(f"this file was forgotten and must not enter {path} again: leave it out, or {let_in}")
    for faceset in sets if found else ():
        if why := found.why(faceset, descriptor):
            raise Conflict(f"set {faceset.id!r} must not enter {path}, it {why}: leave it out, or {let_in}")


# Pairs of sets that are certainly of different people, seen side by side.


def checked_pairs(pairs: Iterable[Pair]) -> list[Pair]:
    """Refuse what is not a list of pairs of two sets each."""
    found = [tuple(pair) if isinstance(pair, (tuple, list)) else (pair,) for pair in pairs]
    for pair in found:
        if len(pair) != 2 or pair[0] == pair[1]:
            raise BadInput(f"two sets apart are a pair of two ids, got {pair!r}: name two sets")
    return [(one, other) for one, other in found]


def insert_pairs(connection: sqlite3.Connection, path: Path, pairs: Iterable[Pair]) -> None:
    """Write pairs of sets that are there; those known already are left as they are."""
    for pair in pairs:
        for set_id in pair:
            if not set_rows.has(connection, set_id):
                raise set_rows.unknown(connection, path, set_id)
        connection.execute(
            "INSERT OR IGNORE INTO apart VALUES (?, ?, ?)", (*sorted(pair), _pair_checksum(*pair))
        )


def delete_pairs_of(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Delete the pairs of some sets."""
    for set_id in ids:
        connection.execute("DELETE FROM apart WHERE first = ?", (set_id,))
        connection.execute("DELETE FROM apart WHERE second = ?", (set_id,))


def names_pair_of(connection: sqlite3.Connection, set_id: str) -> bool:
    """Whether a pair names a set."""
    asked = (
        "SELECT EXISTS (SELECT 1 FROM apart WHERE first = ?) OR EXISTS (SELECT 1 FROM apart WHERE second = ?)"
    )
    return bool(connection.execute(asked, (set_id, set_id)).fetchone()[0])


def pairs_apart(connection: sqlite3.Connection, path: Path) -> list[Pair]:
    """Every pair of ids, the smaller id first, in order."""
    if schema.found(connection) < 2:
        return []
    return _checked_pairs(path, connection.execute(_asked_pairs(connection)).fetchall())


def pairs_apart_of(connection: sqlite3.Connection, path: Path, ids: Iterable[str]) -> list[Pair]:
    """As `pairs_apart`, those that name one of some sets: the work grows with their number alone."""
    if schema.found(connection) < 2:
        return []
    asked, found = _asked_pairs(connection), set()
    own = f"(SELECT {_pair_column(connection)} FROM sets WHERE id = ?)"
    for set_id in ids:
        for side in ("first", "second"):
            found.update(connection.execute(f"{asked} WHERE {side} = {own}", (set_id,)).fetchall())
    return _checked_pairs(path, found)


def _pair_column(connection: sqlite3.Connection) -> str:
    return "id" if schema.found(connection) >= schema.NAMES_IDS else "number"


def _asked_pairs(connection: sqlite3.Connection) -> str:
    # An id that leads to no set is none.
    column = _pair_column(connection)
    return (
        "SELECT one.id, other.id, checksum FROM apart"
        f" LEFT JOIN sets AS one ON one.{column} = first LEFT JOIN sets AS other ON other.{column} = second"
    )


def _checked_pairs(path: Path, found: Collection[tuple[object, object, bytes]]) -> list[Pair]:
    pairs = []
    for one, other, checksum in found:
        if not (isinstance(one, str) and isinstance(other, str)) or checksum != _pair_checksum(one, other):
            raise damaged_rows(
                path, f"sets {one!r} and {other!r} are not the pair that was kept apart", ADVICE
            )
        pairs.append((min(one, other), max(one, other)))
    return sorted(pairs)


def _pair_checksum(one: str, other: str) -> bytes:
    """SHA-256 of both ids: SQLite numbers alone would not show that a pair points elsewhere."""
    return hashlib.sha256("\0".join(sorted((one, other))).encode()).digest()
