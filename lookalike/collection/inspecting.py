"""Inspect one set of a gallery: its entry, faces, pictures, sightings, vectors, each against the others."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from lookalike.collection import models, queries, rows, schema, sealing, sightings
from lookalike.collection.findings import Finding, of_gallery, of_set
from lookalike.collection.models import Model
from lookalike.errors import BadInput, GalleryUnreadable
from lookalike.faceset import check_id
from lookalike.sighting import Sighting

SHA_256: Final = re.compile(r"[0-9a-f]{64}")


def set_findings(
    connection: sqlite3.Connection, path: Path, number: int, beside: Sequence[tuple[int, Model]]
) -> Iterator[Finding]:
    """All that is wrong with one set.

    Parameters
    ----------
    connection : sqlite3.Connection
        In a transaction, so that everything is of one version.
    path : Path
        The gallery, which findings name.
    number : int
        The row of the set.
    beside : sequence of (int, Model)
        The models besides the current one, with their numbers.
    """
    entry = connection.execute(
        "SELECT id, content, faces, pictures, origin, added FROM sets WHERE number = ?", (number,)
    ).fetchone()
    if entry is None:
        yield of_gallery(path, f"set number {number} is listed but cannot be found")
        return
    set_id, content, faces, pictures, *said = entry
    try:
        check_id(set_id)
    except BadInput as reason:
        yield of_gallery(path, f"set number {number} has no name ({reason})")
        return
    whole = isinstance(faces, int) and faces > 0 and pictures in (0, faces)
    if not whole or not isinstance(content, str) or not SHA_256.fullmatch(content):
        yield of_set(path, set_id, f"the entry of set {set_id!r} does not tell what it holds")
    checks: list[Callable[[], Iterator[str]]] = [
        lambda: _sealed(connection, number, set_id, *said),
        lambda: _faces(connection, path, set_id, pictures),
        lambda: _sightings(connection, path, number, set_id, faces),
        *(lambda one=one: _vectors(connection, path, set_id, *one) for one in beside),
    ]
    for check in checks:
        try:
            for what in check():
                yield of_set(path, set_id, what)
        except GalleryUnreadable as reason:
            yield of_set(path, set_id, reason)


def _sealed(
    connection: sqlite3.Connection, number: int, set_id: str, origin: str, added: str
) -> Iterator[str]:
    """Where it is from and when it came."""
    if schema.found(connection) >= sealing.SINCE:
        (seal,) = connection.execute("SELECT seal FROM sets WHERE number = ?", (number,)).fetchone()
        if seal != sealing.of_set(set_id, origin, added):
            yield f"the id, the origin or the time of set {set_id!r} does not fit its checksum"


def _faces(connection: sqlite3.Connection, path: Path, set_id: str, pictures: object) -> Iterator[str]:
    dimension = queries.dimension(connection, path)
    if dimension is None:
        return  # told once, of the whole gallery
    # Every face against its checksum, all pictures against the content hash; finite, and not constant.
    if rows.read(connection, path, set_id, dimension, pictures=True) is None:
        yield f"set {set_id!r} is listed but cannot be found"
        return
    counted = connection.execute(
        "SELECT count(*), count(picture), count(source) FROM sets JOIN faces ON set_number = sets.number"
        " WHERE id = ?",
        (set_id,),
    ).fetchone()
    if counted[1] != pictures:
        yield f"set {set_id!r} has {counted[1]} of its {pictures} pictures"
    if counted[2] not in (0, counted[0]):
        yield f"set {set_id!r} tells of {counted[2]} of its {counted[0]} faces where they came from"


def _sightings(
    connection: sqlite3.Connection, path: Path, number: int, set_id: str, faces: object
) -> Iterator[str]:
    if schema.found(connection) < 2:
        return
    seen = sightings.read(connection, path, number, set_id)
    if len(seen) not in (0, faces):
        yield f"set {set_id!r} has {len(seen)} sightings of its {faces} faces"
    told = connection.execute(sightings.SUM, (number,)).fetchone()[1:]
    times = [one.time for one in seen if one.time is not None]
    if tuple(told) != ((min(times), max(times)) if times else (None, None)):
        yield f"set {set_id!r} is said to be seen at times that are not those of its sightings"
    if schema.found(connection) > 2:
        (good,) = connection.execute("SELECT good FROM sets WHERE number = ?", (number,)).fetchone()
        if good != (_good(seen) if seen else None):
            yield f"set {set_id!r} is said to have {good!r} good faces, which it has not"


def _good(seen: Sequence[Sighting]) -> int:
    return sum(not one.weaknesses for one in seen)


def _vectors(
    connection: sqlite3.Connection, path: Path, set_id: str, number: int, model: Model
) -> Iterator[str]:
    """Faces that came later than a model may lack a vector, but none before them: `read` holds that."""
    if connection.execute(
        "SELECT EXISTS (SELECT 1 FROM sets JOIN faces ON set_number = sets.number"
        " JOIN vectors ON face = faces.number WHERE id = ? AND model = ?)",
        (set_id, number),
    ).fetchone()[0]:
        models.read(connection, path, set_id, model, number)
    yield from ()
