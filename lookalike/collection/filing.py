"""Filing: one video or photo with everything found in it, in the transaction of the caller."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.collection import decisions, media, pairs, queries, rows
from lookalike.collection.barred import Barred
from lookalike.collection.media import MediaFile
from lookalike.errors import BadInput, Conflict
from lookalike.faceset import FaceSet, unique_ids


@dataclass(frozen=True)
class Filed:
    """What is to be kept of one file.

    Parameters
    ----------
    file : MediaFile
    new : sequence of FaceSet
        Sets that begin with this file.
    grown : sequence of FaceSet
        More faces of sets that are in the gallery.
    apart : sequence of pairs of ids
        Sets that are certainly of different people.
    descriptor : str
        What made the faces.
    """

    file: MediaFile
    new: Sequence[FaceSet]
    grown: Sequence[FaceSet]
    apart: Sequence[pairs.Pair]
    descriptor: str

    def __post_init__(self) -> None:
        if not isinstance(self.file, MediaFile):
            raise BadInput(f"only a MediaFile can be kept, got {type(self.file).__name__}: make one of it")
        rows.check_name(self.descriptor)
        for faceset in (*self.new, *self.grown):
            rows.check(faceset, self.descriptor)
        unique_ids((*self.new, *self.grown))


def keep(connection: sqlite3.Connection, path: Path, given: Filed, barred: Barred) -> bool:
    """Write it; of a file whose content is known, only where it lies now. Whether the file was new."""
    known = media.of(connection, path, given.file.content)
    if known is not None:
        media.move(connection, known, given.file)
        return False
    refuse_barred(path, barred, (*given.new, *given.grown), given.descriptor, given.file.content)
    for faceset in given.new:
        rows.add(connection, path, faceset, given.descriptor)
    for faceset in given.grown:
        rows.append(connection, path, faceset, given.descriptor)
    number = media.insert(connection, given.file)
    media.link(connection, number, (faceset.id for faceset in (*given.new, *given.grown)))
    pairs.insert(connection, given.apart, queries.lookup(connection, path))
    return True


def refuse_barred(
    path: Path, found: Barred, sets: Iterable[FaceSet], descriptor: str, file: str = ""
) -> None:
    """Refuse what was barred: whoever adds looks first, but only here nobody can bar it meanwhile."""
    let_in = "let it in again by `lookalike forget --unbar`"
    if file and found.has_file(file):
        raise Conflict(f"this file was forgotten and must not enter {path} again: leave it out, or {let_in}")
    for faceset in sets if found else ():
        if why := found.why(faceset, descriptor):
            raise Conflict(f"set {faceset.id!r} must not enter {path}, it {why}: leave it out, or {let_in}")


def forget(connection: sqlite3.Connection, path: Path, ids: Iterable[str]) -> None:
    """Delete sets with all that is known of them, and the files that they were the last sets of."""
    asked = list(ids)
    for set_id in asked:
        if not queries.has(connection, set_id):
            raise queries.unknown(connection, path, set_id)
    decisions.forget(connection, path, asked)
    delete(connection, asked)
    if queries.count(connection) == 0:
        connection.execute("DELETE FROM models")
        queries.forget_facts(connection, *queries.HINTS)


def delete(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Delete those of some sets that are there, with all that is known of them but decisions."""
    # A file's path may name a person. One in which no face was ever found has no set to go with, and stays.
    files = set().union(*(media.linked(connection, set_id) for set_id in ids))
    # Faces, sightings, vectors and links go by their foreign keys.
    connection.executemany("DELETE FROM sets WHERE id = ?", ((set_id,) for set_id in ids))
    pairs.forget(connection, ids)
    media.forget(connection, files)
    if queries.count(connection) == 0:
        # An empty gallery takes any kind of face again.
        queries.forget_facts(connection, "descriptor", "dimension")
