"""A face set as rows of a gallery: written, read back, each face against its checksum."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lookalike.collection import queries
from lookalike.collection.schema import now, storable
from lookalike.errors import BadInput, Conflict, GalleryUnreadable
from lookalike.faceset import FaceSet

# LOW LEVEL: one face.


def checksum(set_id: str, position: int, source: str | None, descriptor: bytes) -> bytes:
    """SHA-256 of a descriptor together with where it belongs, so that a misplaced face is found out too."""
    place = f"{set_id}\0{position}\0{'-' if source is None else '+' + source}\0"
    return hashlib.sha256(place.encode() + descriptor).digest()


# HIGH LEVEL: one set.


def settle_kind(connection: sqlite3.Connection, path: Path, faceset: FaceSet, descriptor: str) -> None:
    """Let the first set fix the descriptor of a gallery with its dimension; refuse any other."""
    kind, dimension = queries.fact(connection, "descriptor"), queries.dimension(connection, path)
    advice = "describe it the same way, or use another gallery"
    if kind is None or dimension is None:
        settled = (("descriptor", descriptor), ("dimension", str(faceset.dimension)))
        connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", settled)
    elif kind != descriptor:
        raise Conflict(
            f"{path} holds faces made by {kind!r}, set {faceset.id!r} was made by {descriptor!r}: {advice}"
        )
    elif dimension != faceset.dimension:
        raise Conflict(
            f"{path} holds faces of {dimension} numbers, "
            f"those of set {faceset.id!r} have {faceset.dimension}: {advice}"
        )


def insert(connection: sqlite3.Connection, faceset: FaceSet, content: str) -> None:
    """Write a set whose id is free; the caller holds the transaction."""
    values = (faceset.id, storable(faceset.origin), content, len(faceset), len(faceset.pictures), now())
    number = connection.execute(
        "INSERT INTO sets (id, origin, content, faces, pictures, added) VALUES (?, ?, ?, ?, ?, ?)", values
    ).lastrowid
    connection.executemany(
        "INSERT INTO faces (set_number, position, checksum, descriptor, source, picture)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        ((number, *face) for face in _face_rows(faceset)),
    )


def _face_rows(faceset: FaceSet) -> Iterator[tuple[int, bytes, bytes, str | None, bytes | None]]:
    for position, face in enumerate(faceset.faces.astype("<f4")):
        source = storable(faceset.sources[position]) if faceset.sources else None
        picture = bytes(faceset.pictures[position]) if faceset.pictures else None
        descriptor = face.tobytes()
        yield position, checksum(faceset.id, position, source, descriptor), descriptor, source, picture


def read(
    connection: sqlite3.Connection, path: Path, set_id: str, dimension: int, pictures: bool = False
) -> FaceSet | None:
    """Read one set back, or None if there is no such set.

    Parameters
    ----------
    connection : sqlite3.Connection
        Inside a transaction, so that the set and its faces are of one version.
    path : Path
        The gallery, which errors name.
    set_id : str
        Which set.
    dimension : int
        How many numbers a descriptor must have.
    pictures : bool
        Whether to read the pictures too.

    Raises
    ------
    GalleryUnreadable
        If a face is missing, of another length, or does not fit its checksum.
    """
    row = connection.execute(
        "SELECT number, origin, content, faces FROM sets WHERE id = ?", (set_id,)
    ).fetchone()
    if row is None:
        return None
    number, origin, content, count = row
    faces = connection.execute(
        f"SELECT position, checksum, descriptor, source, {'picture' if pictures else 'NULL'}"
        " FROM faces WHERE set_number = ? ORDER BY position",
        (number,),
    ).fetchall()
    if not isinstance(origin, str) or not isinstance(content, str):
        raise damaged(path, f"set {set_id!r} has lost its origin or content hash")
    if len(faces) != count:
        raise damaged(path, f"set {set_id!r} has {len(faces)} of its {count} faces")
    for expected, (position, check, descriptor, source, _) in enumerate(faces):
        if not isinstance(descriptor, bytes) or len(descriptor) != 4 * dimension:
            given = f"{len(descriptor)} bytes" if isinstance(descriptor, bytes) else "no bytes"
            raise damaged(path, f"face {expected} of set {set_id!r} has {given} where {4 * dimension} belong")
        text = source is None or isinstance(source, str)
        if position != expected or not text or check != checksum(set_id, expected, source, descriptor):
            raise damaged(path, f"face {expected} of set {set_id!r} does not fit its checksum")
    descriptors = np.frombuffer(b"".join(face[2] for face in faces), dtype="<f4").reshape(count, dimension)
    sources = tuple(face[3] for face in faces) if faces and faces[0][3] is not None else ()
    shown = tuple(face[4] for face in faces) if faces and faces[0][4] is not None else ()
    try:
        found = FaceSet(set_id, descriptors, origin, sources, shown)
        # The faces passed their own checks: only the pictures can still differ.
        whole = not pictures or found.content_hash() == content
    except (BadInput, TypeError) as error:
        raise damaged(path, f"set {set_id!r} cannot be read back ({error})") from error
    if not whole:
        raise damaged(path, f"the pictures of set {set_id!r} do not fit its content hash")
    return found


def delete(connection: sqlite3.Connection, set_id: str) -> None:
    """Delete a set with its faces, which go by the foreign key; the caller holds the transaction."""
    connection.execute("DELETE FROM sets WHERE id = ?", (set_id,))


def damaged(path: Path, what: str) -> GalleryUnreadable:
    """The error for rows that contradict themselves."""
    return GalleryUnreadable(
        f"{path} is damaged: {what}: restore it from a backup, or remove and add that set again"
    )
