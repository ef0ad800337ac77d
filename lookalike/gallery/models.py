"""Vectors of other models beside the descriptors in use, and the change from one to the other."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lookalike.errors import BadInput, Conflict, NotFound, damaged_rows
from lookalike.faceset import FaceSet, checked_faces
from lookalike.gallery import schema, set_rows

Vectors = NDArray[np.float32]
ADVICE: Final = "restore it from a backup"


@dataclass(frozen=True)
class Model:
    """What made vectors of faces, and for how many faces of the gallery."""

    name: str  # for instance `lbp:rows=6,columns=5`
    dimension: int  # how many numbers describe a face
    is_current: bool  # whether its vectors are those that sets are read with
    faces: int  # how many it has described; the current model has described all


# Asking.


def everything(connection: sqlite3.Connection, path: Path) -> list[Model]:
    """The current model, then the others by name; none while the gallery is empty."""
    name, dimension = set_rows.fact(connection, "descriptor"), set_rows.dimension(connection, path)
    found = []
    if name is not None and dimension is not None:
        (faces,) = connection.execute("SELECT ifnull(sum(faces), 0) FROM sets").fetchone()
        found.append(Model(name, dimension, True, faces))
    if schema.found(connection) < 2:
        return found
    described = dict(connection.execute("SELECT model, count(*) FROM vectors GROUP BY model").fetchall())
    for number, other, length in connection.execute("SELECT * FROM models ORDER BY name").fetchall():
        if not isinstance(other, str) or not isinstance(length, int) or length < 2:
            raise damaged_rows(path, f"its list of models has {other!r} of {length!r} numbers", ADVICE)
        found.append(Model(other, length, False, described.get(number, 0)))
    return found


def undescribed(connection: sqlite3.Connection, path: Path, name: str) -> list[str]:
    """Ids of the sets with a face that a model has not described, in order."""
    if name == set_rows.fact(connection, "descriptor"):
        return []
    number = _number(connection, name)
    if number is None:
        return set_rows.ids(connection, path)
    asked = (
        "SELECT id FROM sets WHERE EXISTS (SELECT 1 FROM faces WHERE set_number = sets.number AND NOT EXISTS"
        " (SELECT 1 FROM vectors WHERE face = faces.number AND model = ?)) ORDER BY id"
    )
    return [row[0] for row in connection.execute(asked, (number,))]


def vectors(connection: sqlite3.Connection, path: Path, set_id: str, name: str) -> Vectors:
    """What a model beside the current one made of a set; (0, d) if it has not described it."""
    if not set_rows.has(connection, set_id):
        raise set_rows.unknown(connection, path, set_id)
    number = _number(connection, name)
    known = {model.name: model for model in everything(connection, path) if not model.is_current}
    if number is None or name not in known:
        raise NotFound(f"{path} has no vectors made by {name!r} beside its own: ask for one of its models")
    asked = "SELECT 1 FROM vectors JOIN faces ON face = faces.number JOIN sets ON set_number = sets.number"
    if connection.execute(f"{asked} WHERE id = ? AND model = ? LIMIT 1", (set_id, number)).fetchone() is None:
        return np.empty((0, known[name].dimension), dtype=np.float32)
    return read(connection, path, set_id, known[name], number)


def _number(connection: sqlite3.Connection, name: str) -> int | None:
    if schema.found(connection) < 2:
        return None
    row = connection.execute("SELECT number FROM models WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


# Writing; the caller holds the transaction.


def checked(vectors: Iterable[tuple[str, ArrayLike]]) -> list[tuple[str, Vectors]]:
    """Vectors as they are kept; all are made before anything is written, which may take a while."""
    found = []
    for set_id, given in vectors:
        narrow = checked_faces(given, f"set {set_id!r}").astype(np.float32)
        found.append((set_id, checked_faces(narrow, f"set {set_id!r} in single precision")))
    return found


def insert(
    connection: sqlite3.Connection, path: Path, name: str, vectors: Iterable[tuple[str, Vectors]]
) -> None:
    """Write vectors of a model that is not the current one, in place of those it had for these sets."""
    current = set_rows.fact(connection, "descriptor")
    if name == current:
        raise Conflict(f"the faces of {path} are described by {name!r} already: name another model")
    for set_id, given in vectors:
        if not set_rows.has(connection, set_id):
            raise set_rows.unknown(connection, path, set_id)
        faces = set_rows.numbers(connection, set_id)
        if len(given) != len(faces):
            raise Conflict(
                f"set {set_id!r} of {path} has {len(faces)} faces, {len(given)} were described: "
                f"read the set again and describe all of it"
            )
        model = _settled(connection, path, name, given.shape[1])
        connection.executemany(
            "INSERT OR REPLACE INTO vectors (checksum, descriptor, face, model) VALUES (?, ?, ?, ?)",
            _rows(name, set_id, given, faces, model),
        )


def _settled(connection: sqlite3.Connection, path: Path, name: str, dimension: int) -> int:
    connection.execute("INSERT OR IGNORE INTO models (name, dimension) VALUES (?, ?)", (name, dimension))
    number, found = connection.execute(
        "SELECT number, dimension FROM models WHERE name = ?", (name,)
    ).fetchone()
    if found != dimension:
        raise Conflict(
            f"{path} holds vectors of {found} numbers made by {name!r}, those given have {dimension}: "
            f"describe all sets by one model"
        )
    return int(number)


def use(connection: sqlite3.Connection, path: Path, name: str) -> None:
    """Let the current model and another change places (`in_use`), with vectors and content hashes."""
    there = everything(connection, path)
    known = {model.name: model for model in there}
    current = in_use(path, there, name)
    number = _number(connection, name)
    if current.name == name or number is None:
        return
    for set_id in set_rows.ids(connection, path):
        before = set_rows.get(connection, path, set_id, pictures=True)
        after = read(connection, path, set_id, known[name], number)
        if len(after) != len(before):
            raise damaged_rows(path, f"set {set_id!r} has {len(after)} of {len(before)} vectors by {name!r}")
        _exchange(connection, path, number, current.name, before, replace(before, faces=after))
    connection.execute(
        "UPDATE models SET name = ?, dimension = ? WHERE number = ?",
        (current.name, current.dimension, number),
    )
    connection.executemany(
        "UPDATE facts SET value = ? WHERE name = ?",
        ((name, "descriptor"), (str(known[name].dimension), "dimension")),
    )
    # They were about the model that was current; this seals the facts, too.
    set_rows.forget_facts(connection, *set_rows.HINTS)


def in_use(path: Path, there: Sequence[Model], name: str) -> Model:
    """The current model, which another may follow (NotFound, Conflict) that has described every face."""
    known = {model.name: model for model in there}
    current = next((model for model in there if model.is_current), None)
    if name not in known or current is None:
        names = ", ".join(map(repr, known)) or "none"
        raise NotFound(f"{path} has no vectors made by {name!r}, only by {names}: describe its sets first")
    missing = current.faces - known[name].faces
    if missing:
        raise Conflict(
            f"{missing} of the {current.faces} faces of {path} are not described by {name!r}: "
            f"describe them first"
        )
    return current


def _exchange(
    connection: sqlite3.Connection, path: Path, model: int, name: str, before: FaceSet, after: FaceSet
) -> None:
    """Write one set: its descriptors where the other model's vectors were, and those in their place."""
    faces = set_rows.numbers(connection, before.id)
    aside = "UPDATE vectors SET checksum = ?, descriptor = ? WHERE face = ? AND model = ?"
    set_rows.write(connection, path, before.id, aside, _rows(name, before.id, before.faces, faces, model))
    used = "UPDATE faces SET checksum = ?, descriptor = ? WHERE number = ?"
    values = ((row[1], row[2], face) for row, face in zip(set_rows.face_rows(after), faces, strict=True))
    set_rows.write(connection, path, before.id, used, values)
    connection.execute("UPDATE sets SET content = ? WHERE id = ?", (after.content_hash(), after.id))
    set_rows.note_changed(connection, [after.id])


def read(connection: sqlite3.Connection, path: Path, set_id: str, model: Model, number: int) -> Vectors:
    """What a model beside the current one made of the faces of a set, each held against its checksum."""
    found = connection.execute(
        "SELECT position, vectors.checksum, vectors.descriptor FROM sets"
        " JOIN faces ON set_number = sets.number"
        " JOIN vectors ON face = faces.number AND model = ? WHERE id = ? ORDER BY position",
        (number, set_id),
    ).fetchall()
    for place, (position, check, vector) in enumerate(found):
        fits = isinstance(vector, bytes) and len(vector) == 4 * model.dimension and place == position
        if not fits or check != _checksum(model.name, set_id, place, vector):
            what = f"face {place} of set {set_id!r} as described by {model.name!r} does not fit its checksum"
            raise damaged_rows(path, what)
    vectors = np.frombuffer(b"".join(row[2] for row in found), dtype="<f4")
    try:
        return checked_faces(vectors.reshape(len(found), model.dimension), f"set {set_id!r}")
    except BadInput as error:
        raise damaged_rows(path, f"set {set_id!r} cannot be read back ({error})") from error


def _rows(
    name: str, set_id: str, vectors: NDArray[Any], faces: Sequence[int], model: int
) -> Iterator[tuple[bytes, bytes, int, int]]:
    for position, (vector, face) in enumerate(zip(vectors.astype("<f4"), faces, strict=True)):
        yield _checksum(name, set_id, position, vector.tobytes()), vector.tobytes(), face, model


def _checksum(name: str, set_id: str, position: int, vector: bytes) -> bytes:
    """SHA-256 of a vector with its model and face: one of another model or face does not pass for it."""
    return hashlib.sha256(f"{name}\0{set_id}\0{position}\0".encode() + vector).digest()
