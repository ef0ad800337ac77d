"""Planting: ways to make a gallery contradict itself without breaking its file, each by SQL."""

from __future__ import annotations

import hashlib
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import numpy as np

Plant = Callable[[sqlite3.Connection, random.Random], None]


def _some_set(connection: sqlite3.Connection, chance: random.Random) -> int:
    return int(chance.choice(connection.execute("SELECT number FROM sets").fetchall())[0])


def _some_face(connection: sqlite3.Connection, chance: random.Random) -> int:
    return int(chance.choice(connection.execute("SELECT number FROM faces").fetchall())[0])


def _statement(text: str) -> Plant:
    """A statement in which ``:set`` and ``:face`` are some set and face, and ``:n`` a number."""

    def plant(connection: sqlite3.Connection, chance: random.Random) -> None:
        given = {"set": _some_set(connection, chance), "face": _some_face(connection, chance)}
        given["n"] = chance.randint(1, 9)
        before = connection.total_changes
        connection.execute(text, {name: value for name, value in given.items() if f":{name}" in text})
        assert connection.total_changes > before or text.startswith(("CREATE", "DROP", "PRAGMA")), text

    return plant


def _vector(change: Callable[[np.ndarray], np.ndarray]) -> Plant:
    """Another descriptor of a face, under a checksum that fits it: a program that went wrong wrote it."""

    def plant(connection: sqlite3.Connection, chance: random.Random) -> None:
        face = _some_face(connection, chance)
        id, position, source, old = connection.execute(
            "SELECT id, position, source, descriptor FROM faces JOIN sets ON set_number = sets.number"
            " WHERE faces.number = ?",
            (face,),
        ).fetchone()
        new = change(np.frombuffer(old, "<f4").copy()).astype("<f4").tobytes()
        place = f"{id}\0{position}\0{'-' if source is None else '+' + source}\0"
        check = hashlib.sha256(place.encode() + new).digest()
        connection.execute(
            "UPDATE faces SET descriptor = ?, checksum = ? WHERE number = ?", (new, check, face)
        )

    return plant


def _two_faces(connection: sqlite3.Connection, chance: random.Random) -> None:
    faces = chance.sample(connection.execute("SELECT number FROM faces").fetchall(), 2)
    held = [
        connection.execute("SELECT descriptor FROM faces WHERE number = ?", one).fetchone()[0]
        for one in faces
    ]
    for (face,), descriptor in zip(faces, reversed(held), strict=True):
        connection.execute("UPDATE faces SET descriptor = ? WHERE number = ?", (descriptor, face))


def _first(value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(vector: np.ndarray) -> np.ndarray:
        vector[0] = value
        return vector

    return change


IN_GALLERY: Final[dict[str, Plant]] = {
    "all embeddings are missing": _statement("DELETE FROM faces"),
    "embeddings of a set are missing": _statement("DELETE FROM faces WHERE set_number = :set"),
    "a face is missing": _statement("DELETE FROM faces WHERE number = :face"),
    "a set is missing, its faces are not": _statement("DELETE FROM sets WHERE number = :set"),
    "faces of another set": _statement("UPDATE faces SET position = position + 50 WHERE set_number = :set"),
    "a set counts too many faces": _statement("UPDATE sets SET faces = faces + :n WHERE number = :set"),
    "a set counts pictures it has not": _statement("UPDATE sets SET pictures = 99 WHERE number = :set"),
    "a set has another name": _statement("UPDATE sets SET id = 'renamed' || :n WHERE number = :set"),
    "a set has no name": _statement("UPDATE sets SET id = '' WHERE number = :set"),
    "another content hash": _statement(f"UPDATE sets SET content = '{'ab' * 32}' WHERE number = :set"),
    "no content hash": _statement("UPDATE sets SET content = 'none' WHERE number = :set"),
    "a set twice": _statement(
        "INSERT INTO sets SELECT number + 1000, id || '-again', origin, content, faces, pictures, added,"
        " sighted, start_seconds, end_seconds, good, seal FROM sets WHERE number = :set"
    ),
    "faces exchanged": _two_faces,
    "a face is NaN": _vector(_first(float("nan"))),
    "a face is infinite": _vector(_first(float("inf"))),
    "a face is zero": _vector(np.zeros_like),
    "a face has another length": _vector(lambda vector: vector[:-1]),
    "a face is another": _vector(lambda vector: vector + 1),
    "a face is no bytes": _statement("UPDATE faces SET descriptor = 'text' WHERE number = :face"),
    "another dimension": _statement("UPDATE facts SET value = '7' WHERE name = 'dimension'"),
    "no dimension": _statement("DELETE FROM facts WHERE name = 'dimension'"),
    "a dimension that is none": _statement("UPDATE facts SET value = 'many' WHERE name = 'dimension'"),
    "another model": _statement("UPDATE facts SET value = 'lbp:rows=6' WHERE name = 'descriptor'"),
    "another birthday": _statement("UPDATE facts SET value = '2001-01-01T00:00:00' WHERE name = 'created'"),
    "no seal": _statement("DELETE FROM facts WHERE name = 'seal'"),
    "another origin": _statement("UPDATE sets SET origin = 'elsewhere' WHERE number = :set"),
    "another time of coming": _statement("UPDATE sets SET added = '2001-01-01T00:00:00' WHERE number = :set"),
    "a set without its seal": _statement("UPDATE sets SET seal = NULL WHERE number = :set"),
    "no model": _statement("DELETE FROM facts WHERE name = 'descriptor'"),
    "a picture is another": _statement("UPDATE faces SET picture = 'x' WHERE picture IS NOT NULL"),
    "a picture is missing": _statement(
        "UPDATE faces SET picture = NULL WHERE number ="
        " (SELECT max(number) FROM faces WHERE picture NOT NULL)"
    ),
    "a source that was not": _statement("UPDATE faces SET source = 'frame' WHERE number = :face"),
    "sightings are missing": _statement("DELETE FROM sightings"),
    "a sighting of no face": _statement("UPDATE sightings SET face = face + 5000"),
    "a sighting is another": _statement("UPDATE sightings SET said = replace(said, '0.9', '0.8')"),
    "a sighting is nonsense": _statement("UPDATE sightings SET said = 'nonsense'"),
    "another time": _statement("UPDATE sets SET start_seconds = 99 WHERE start_seconds NOT NULL"),
    "good faces that are not": _statement("UPDATE sets SET good = 77 WHERE good NOT NULL"),
    "a film with another path": _statement("UPDATE files SET path = '/elsewhere'"),
    "a film is missing": _statement("DELETE FROM files"),
    "a film of no set": _statement("UPDATE set_files SET set_number = set_number + 5000"),
    "a pair of other sets": _statement("UPDATE apart SET second = second || '5000'"),
    "a pair with another checksum": _statement("UPDATE apart SET checksum = x'00'"),
    "a model that nobody knows": _statement("UPDATE vectors SET model = 77"),
    "a model of the wrong length": _statement("UPDATE models SET dimension = 3"),
    "vectors of no face": _statement("UPDATE vectors SET face = face + 5000"),
    "a vector is another": _statement("UPDATE vectors SET descriptor = zeroblob(20)"),
    "a decision is another": _statement("UPDATE decisions SET kind = 'different' WHERE kind = 'same'"),
    "a decision has another name": _statement("UPDATE decisions SET name = 'Eve' WHERE kind = 'name'"),
    "a decision is missing": _statement("DELETE FROM decisions WHERE kind = 'name'"),
    "a decision on other sets": _statement("UPDATE decision_sets SET set_id = '5000' WHERE position = 1"),
    "a decision on no sets": _statement("DELETE FROM decision_sets"),
    "an event that is no event": _statement(
        "INSERT INTO events VALUES (NULL, '2026-01-01T00:00:00+00:00', 'forget', 'no JSON')"
    ),
    "somebody is barred without a checksum": _statement(
        "INSERT INTO barred VALUES (NULL, 1, '2026', 'file', 'aa', NULL, NULL, NULL, x'00')"
    ),
    "a stranger's trigger": _statement(
        "CREATE TRIGGER t AFTER INSERT ON sets BEGIN DELETE FROM faces WHERE set_number < NEW.number; END"
    ),
    "a stranger's table": _statement("CREATE TABLE stranger (x)"),
}


def plant_in_gallery(path: Path, plant: Plant, chance: random.Random) -> None:
    """Change a closed gallery behind its back, without the checks that SQLite could make."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        plant(connection, chance)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
