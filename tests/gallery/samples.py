"""Small sets for the tests of the collection, and ways to damage what holds them."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from lookalike.faceset import FaceSet, Sighting
from lookalike.gallery.media import MediaFile
from lookalike.indexing import manifest
from lookalike.indexing.store import StoredTables

SEED = 20240611

# Most tests say nothing about durability: where there is a disk in memory, they use it.
QUICK = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def a_set(name: str = "a", seed: int = 0, count: int = 3, dimension: int = 4, **more) -> FaceSet:
    return FaceSet(name, np.random.default_rng(seed).normal(size=(count, dimension)), **more)


def sightings(count: int = 3, start: float | None = 0.0) -> list[Sighting]:
    """One every half second, or in photos without a time."""
    times = [None if start is None else start + number / 2 for number in range(count)]
    return [Sighting((number, 2.5, 60, 70), 0.9, 0.5, 0.4, 0.1, time) for number, time in enumerate(times)]


def a_file(name: str = "a.mp4", size: int = 10, changed: int = 1, **more) -> MediaFile:
    """A file whose content is told by its name."""
    content = hashlib.sha256(name.encode()).hexdigest()
    return MediaFile(content, f"/films/{name}", size, changed, "video", **more)


def write_format_1(path: Path, sets: list[FaceSet], descriptor: str = "array") -> None:
    """A gallery as lookalike up to 0.5 wrote it; word for word, since what is on disks does not change."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size = 16384")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA application_id = {0x4C4F4F4B}")
        connection.execute("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
        connection.execute(
            "CREATE TABLE sets (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, origin TEXT NOT NULL,"
            " content TEXT NOT NULL, faces INTEGER NOT NULL, pictures INTEGER NOT NULL, added TEXT NOT NULL)"
        )
        connection.execute(
            "CREATE TABLE faces (number INTEGER PRIMARY KEY,"
            " set_number INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE,"
            " position INTEGER NOT NULL, checksum BLOB NOT NULL, descriptor BLOB NOT NULL,"
            " source TEXT, picture BLOB, UNIQUE (set_number, position))"
        )
        dimension = sets[0].dimension if sets else 4
        facts = {
            "created": "2024-06-11T10:00:00+00:00",
            "descriptor": descriptor,
            "dimension": str(dimension),
        }
        connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        for number, one in enumerate(sets, 1):
            values = (number, one.id, one.origin, one.content_hash(), len(one), len(one.pictures), "2024")
            connection.execute("INSERT INTO sets VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            for position, face in enumerate(one.faces.astype("<f4")):
                source = one.sources[position] if one.sources else None
                place = f"{one.id}\0{position}\0{'-' if source is None else '+' + source}\0"
                check = hashlib.sha256(place.encode() + face.tobytes()).digest()
                picture = one.pictures[position] if one.pictures else None
                connection.execute(
                    "INSERT INTO faces VALUES (NULL, ?, ?, ?, ?, ?, ?)",
                    (number, position, check, face.tobytes(), source, picture),
                )
        connection.execute("PRAGMA user_version = 1")


def write_format_2(path: Path, sets: list[FaceSet], apart: tuple[str, str]) -> None:
    """A gallery as lookalike 0.6 wrote it, with two sets of a film; word for word, as above."""
    write_format_1(path, sets)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for column in ("sighted TEXT", "start_seconds REAL", "end_seconds REAL"):
            connection.execute(f"ALTER TABLE sets ADD COLUMN {column}")
        connection.execute(
            "CREATE TABLE sightings (face INTEGER PRIMARY KEY REFERENCES faces (number) ON DELETE CASCADE,"
            " said TEXT NOT NULL)"
        )
        connection.execute(
            "CREATE TABLE files (number INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE,"
            " path TEXT NOT NULL, size INTEGER NOT NULL, changed INTEGER NOT NULL, kind TEXT NOT NULL,"
            " settings TEXT NOT NULL, remark TEXT NOT NULL, checksum BLOB NOT NULL)"
        )
        connection.execute("CREATE INDEX files_by_path ON files (path)")
        connection.execute(
            "CREATE TABLE set_files (set_number INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE,"
            " file_number INTEGER NOT NULL REFERENCES files (number) ON DELETE CASCADE,"
            " PRIMARY KEY (set_number, file_number)) WITHOUT ROWID"
        )
        connection.execute("CREATE INDEX set_files_by_file ON set_files (file_number)")
        connection.execute(
            "CREATE TABLE apart (first INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE,"
            " second INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE,"
            " checksum BLOB NOT NULL, PRIMARY KEY (first, second), CHECK (first < second)) WITHOUT ROWID"
        )
        connection.execute("CREATE INDEX apart_by_second ON apart (second)")
        connection.execute(
            "CREATE TABLE models (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
            " dimension INTEGER NOT NULL)"
        )
        connection.execute(
            "CREATE TABLE vectors (number INTEGER PRIMARY KEY,"
            " face INTEGER NOT NULL REFERENCES faces (number) ON DELETE CASCADE,"
            " model INTEGER NOT NULL REFERENCES models (number) ON DELETE CASCADE,"
            " checksum BLOB NOT NULL, descriptor BLOB NOT NULL, UNIQUE (face, model))"
        )
        for one in sets:
            texts = [each.as_text() for each in one.sightings]
            if not texts:
                continue
            faces = connection.execute(
                "SELECT faces.number FROM faces JOIN sets ON set_number = sets.number WHERE id = ?"
                " ORDER BY position",
                (one.id,),
            ).fetchall()
            for (face,), text in zip(faces, texts, strict=True):
                connection.execute("INSERT INTO sightings VALUES (?, ?)", (face, text))
            times = [each.time for each in one.sightings]
            said = "\0".join((one.id, f"{min(times)} {max(times)}", *texts))
            connection.execute(
                "UPDATE sets SET sighted = ?, start_seconds = ?, end_seconds = ? WHERE id = ?",
                (hashlib.sha256(said.encode()).hexdigest(), min(times), max(times), one.id),
            )
        check = hashlib.sha256("\0".join(sorted(apart)).encode()).digest()
        connection.execute(
            "INSERT INTO apart SELECT min(number), max(number), ? FROM sets WHERE id IN (?, ?)",
            (check, *apart),
        )
        connection.execute("PRAGMA user_version = 2")


def write_format_4(path: Path, sets: list[FaceSet], apart: tuple[str, str]) -> None:
    """A gallery as lookalike 0.8 wrote it, with a verdict on the pair and a name; word for word, as above."""
    write_format_2(path, sets, apart)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "CREATE TABLE decisions (number INTEGER PRIMARY KEY AUTOINCREMENT, made TEXT NOT NULL,"
            " kind TEXT NOT NULL, person INTEGER, name TEXT NOT NULL, other INTEGER, checksum BLOB NOT NULL)"
        )
        connection.execute(
            "CREATE TABLE decision_sets ("
            "decision INTEGER NOT NULL REFERENCES decisions (number) ON DELETE CASCADE,"
            " position INTEGER NOT NULL, set_number INTEGER NOT NULL REFERENCES sets (number)"
            " ON DELETE CASCADE, PRIMARY KEY (decision, position)) WITHOUT ROWID"
        )
        connection.execute("CREATE INDEX decision_sets_by_set ON decision_sets (set_number)")
        connection.execute("ALTER TABLE sets ADD COLUMN good INTEGER")
        connection.execute(
            "CREATE TABLE events (number INTEGER PRIMARY KEY AUTOINCREMENT, made TEXT NOT NULL,"
            " kind TEXT NOT NULL, said TEXT NOT NULL)"
        )
        connection.execute(
            "CREATE TABLE backups (number INTEGER PRIMARY KEY AUTOINCREMENT, made TEXT NOT NULL,"
            " path TEXT NOT NULL)"
        )
        connection.execute(
            "CREATE TABLE barred (number INTEGER PRIMARY KEY AUTOINCREMENT, event INTEGER NOT NULL,"
            " made TEXT NOT NULL, kind TEXT NOT NULL, content TEXT NOT NULL, model TEXT, least REAL,"
            " descriptor BLOB, checksum BLOB NOT NULL)"
        )
        connection.execute("ALTER TABLE sets ADD COLUMN seal BLOB")
        made = "2026-11-16T10:00:00+00:00"
        for number, kind, name in ((1, "different", ""), (2, "name", "Anna")):
            said = json.dumps([number, made, kind, None, name, None, list(apart)])
            check = hashlib.sha256(said.encode()).digest()
            values = (number, made, kind, None, name, None, check)
            connection.execute("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            for position, one in enumerate(apart):
                connection.execute(
                    "INSERT INTO decision_sets SELECT ?, ?, number FROM sets WHERE id = ?",
                    (number, position, one),
                )
        for number, *told in connection.execute("SELECT number, id, origin, added FROM sets").fetchall():
            seal = hashlib.sha256(json.dumps(told).encode()).digest()
            connection.execute("UPDATE sets SET seal = ? WHERE number = ?", (seal, number))
        for number, one in enumerate(sets, 1):
            if one.sightings:
                good = sum(not each.weaknesses for each in one.sightings)
                connection.execute("UPDATE sets SET good = ? WHERE number = ?", (good, number))
        facts = connection.execute("SELECT name, value FROM facts ORDER BY name").fetchall()
        seal = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
        connection.execute("INSERT INTO facts VALUES ('seal', ?)", (seal,))
        connection.execute("PRAGMA user_version = 4")


def edit(path: Path, *statements: str) -> None:
    """Change a closed gallery behind its back."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def raw(path: Path) -> bytes:
    """Every byte of every file beside a gallery, its own included."""
    return b"".join(each.read_bytes() for each in sorted(path.parent.iterdir()) if each.is_file())


def some_arrays(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "prepared/faces": rng.normal(size=(50, 8)).astype(np.float32),
        "neighbours": rng.integers(0, 50, size=(50, 10)),
        "empty": np.zeros((0, 8)),
        "one": np.float64(3.5),
        "ids": np.array(["a", "größer"]),
    }


def flip(path: Path, place: int = -1, bit: int = 1) -> None:
    """Change one bit of a file and nothing else about it."""
    content = bytearray(path.read_bytes())
    content[place] ^= bit
    path.write_bytes(content)


def wrong(stored: StoredTables) -> list[str]:
    """Names of the arrays whose files do not hold what was saved, all of them read."""
    return [name for name, entry in stored.manifest.arrays.items() if not manifest.fits(stored.path, entry)]


def files(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())
