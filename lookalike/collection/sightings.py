"""Where the faces of a set were seen, as rows of a gallery, under one checksum a set."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from lookalike.collection import schema
from lookalike.collection.failures import damaged_rows
from lookalike.errors import BadInput
from lookalike.sighting import Sighting

SUM = "SELECT sighted, start_seconds, end_seconds FROM sets WHERE number = ?"


def append(
    connection: sqlite3.Connection,
    number: int,
    set_id: str,
    before: Sequence[str],
    faces: Sequence[int],
    seen: Sequence[Sighting],
) -> None:
    """Write where more faces of a set were seen; what all add up to is noted beside the set.

    Parameters
    ----------
    connection : sqlite3.Connection
        In a transaction that writes.
    number, set_id : int, str
        The set.
    before : sequence of str
        What `said` told of the faces it has.
    faces : sequence of int
        Row numbers of the faces that are new.
    seen : sequence of Sighting
        Where they were seen.
    """
    texts = [one.as_text() for one in seen]
    connection.executemany("INSERT INTO sightings VALUES (?, ?)", zip(faces, texts, strict=True))
    _, *times = connection.execute(SUM, (number,)).fetchone()
    # As they were written, which is rounded: so the times of the set are those of sightings read back.
    times += [Sighting.from_text(text).time for text in texts]
    known = [float(time) for time in times if time is not None]
    start, end = (min(known), max(known)) if known else (None, None)
    whole = [*before, *texts]
    connection.execute(
        "UPDATE sets SET sighted = ?, start_seconds = ?, end_seconds = ?, good = ? WHERE number = ?",
        (_checksum(set_id, start, end, whole), start, end, schema.good_faces(whole), number),
    )


def said(connection: sqlite3.Connection, path: Path, number: int, set_id: str) -> list[str]:
    """What is written of each face of a set, held against the checksum; empty if nothing is."""
    if schema.found(connection) < 2:
        return []
    checksum, start, end = connection.execute(SUM, (number,)).fetchone()
    texts = [text for (text,) in connection.execute(schema.SAID, (number,))]
    if not texts and checksum is start is end is None:
        return []
    if not all(isinstance(text, str) for text in texts) or checksum != _checksum(set_id, start, end, texts):
        raise damaged_rows(path, f"the sightings of set {set_id!r} do not fit their checksum")
    return texts


def read(connection: sqlite3.Connection, path: Path, number: int, set_id: str) -> tuple[Sighting, ...]:
    """Read where the faces of a set were seen; empty if that is not known.

    Raises
    ------
    GalleryUnreadable
        If they are not those that were written, all of them.
    """
    try:
        texts = said(connection, path, number, set_id)
        found = tuple(map(Sighting.from_text, texts))
    except (
        BadInput,
        ArithmeticError,
        RecursionError,
    ) as error:  # a stranger may fit the checksum to anything
        raise damaged_rows(path, f"the sightings of set {set_id!r} cannot be read back ({error})") from error
    if texts and schema.found(connection) > 2:
        (good,) = connection.execute("SELECT good FROM sets WHERE number = ?", (number,)).fetchone()
        if good != schema.good_faces(texts):
            raise damaged_rows(path, f"set {set_id!r} is said to have {good!r} good faces, which it has not")
    return found


def _checksum(set_id: str, start: object, end: object, said: Sequence[str]) -> str:
    """SHA-256 of all sightings, their set and its times: one that is lost or misplaced shows too."""
    return hashlib.sha256("\0".join((set_id, f"{start} {end}", *said)).encode()).hexdigest()
