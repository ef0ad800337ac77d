"""Block list: what must not enter a gallery again, known by its hash; and people, by a mean descriptor.

A hash tells the same bytes only. Whoever wants a person to stay out whatever they are seen in has to let the
gallery keep what the person looks like: one vector for each model, which is biometric data kept on request.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import damaged_rows
from lookalike.faceset import FaceSet
from lookalike.gallery import history, schema

KINDS: Final[tuple[str, ...]] = ("file", "set", "face", "person")
COLUMNS: Final = "number, event, made, kind, content, model, least, descriptor"
ADVICE: Final = "restore it from a backup"
# So much of a set must be barred for it to be left out: one face that is like another happens by chance.
SHARE: Final = 0.5


@dataclass(frozen=True)
class Entry:
    """One thing that must not enter."""

    # `file` and `set` are their content, `face` is one descriptor, `person` what somebody looks like
    kind: str
    content: str  # SHA-256 in hexadecimal: of the file, of the set, of the bytes of the descriptor
    model: str | None = None  # of a person: what made the descriptor
    least: float | None = None  # of a person: from which cosine on a face is theirs
    descriptor: bytes | None = None  # of a person: of unit length, little-endian 32-bit floats
    event: int = 0  # the forgetting it belongs to
    made: str = ""  # when, in UTC
    number: int = 0  # 0 while it is not stored


# Making entries.


def of_set(faceset: FaceSet) -> list[Entry]:
    """A set as it is, and each of its faces: so that a part of the set is known too."""
    return [Entry("set", faceset.content_hash()), *(Entry("face", one) for one in _hashes(faceset.faces))]


def of_person(sets: Iterable[NDArray[Any]], model: str, least: float) -> Entry:
    """One mean of all faces of a person, which count the same; a face is theirs from a cosine `least`."""
    total = np.concatenate([_unit(faces) for faces in sets]).sum(axis=0, keepdims=True)
    descriptor = _unit(total)[0].astype("<f4").tobytes()
    return Entry("person", hashlib.sha256(descriptor).hexdigest(), model, float(least), descriptor)


# Rows; who writes holds the transaction.


def everything(connection: sqlite3.Connection, path: Path) -> list[Entry]:
    """Every entry, in order; none in a gallery of an older format.

    Raise GalleryUnreadable if one is not what was written: what is barred must not enter because a bit was
    lost.
    """
    if schema.found(connection) < history.SINCE:
        return []
    found = []
    asked = f"SELECT {COLUMNS}, checksum FROM barred ORDER BY number"
    for number, event, made, kind, content, model, least, descriptor, checksum in connection.execute(asked):
        one = Entry(kind, content, model, least, descriptor, event, made, number)
        if not _is_one(one) or checksum != _checksum(one):
            raise damaged_rows(path, f"entry {number!r} of the block list does not fit its checksum", ADVICE)
        found.append(one)
    return found


def insert(connection: sqlite3.Connection, event: int, entries: Iterable[Entry]) -> None:
    """Write entries of one event; what is given twice is kept once."""
    made = schema.now()
    for given in dict.fromkeys(entries):
        one = Entry(given.kind, given.content, given.model, given.least, given.descriptor, event, made)
        connection.execute(
            "INSERT INTO barred (event, made, kind, content, model, least, descriptor, checksum)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (event, made, one.kind, one.content, one.model, one.least, one.descriptor, _checksum(one)),
        )


def drop(connection: sqlite3.Connection, event: int) -> int:
    """Let in again what one event barred; return how many entries that were."""
    if schema.found(connection) < history.SINCE:
        return 0
    return connection.execute("DELETE FROM barred WHERE event = ?", (event,)).rowcount


def _is_one(one: Entry) -> bool:
    """Whether it has the shape of an entry: a stranger may fit a checksum to anything."""
    texts = all(isinstance(text, str) for text in (one.kind, one.content, one.made))
    if not texts or one.kind not in KINDS or not isinstance(one.event, int):
        return False
    if one.kind != "person":
        return (one.model, one.least, one.descriptor) == (None, None, None)
    kept = one.descriptor
    if not (isinstance(one.model, str) and isinstance(one.least, float) and isinstance(kept, bytes)):
        return False
    if len(kept) < 8 or len(kept) % 4:
        return False
    return bool(np.isfinite(np.frombuffer(kept, dtype="<f4")).all())


def _checksum(one: Entry) -> bytes:
    kept = None if one.descriptor is None else hashlib.sha256(one.descriptor).hexdigest()
    said = [one.event, one.made, one.kind, one.content, one.model, one.least, kept]
    return hashlib.sha256(json.dumps(said).encode()).digest()


# Asking.


class Barred:
    """All entries, ready to be asked."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)
        self._contents: dict[str, set[str]] = {kind: set() for kind in KINDS}
        for one in self.entries:
            self._contents[one.kind].add(one.content)
        self._people = [
            (one.model, one.least, np.frombuffer(one.descriptor, dtype="<f4").astype(np.float64))
            for one in self.entries
            if one.descriptor is not None and one.least is not None
        ]

    def __bool__(self) -> bool:
        return bool(self.entries)

    def has_file(self, content: str) -> bool:
        """Whether a file with this SHA-256 was barred."""
        return content in self._contents["file"]

    def why(self, faceset: FaceSet, model: str) -> str:
        """Why a set must not enter, in words that follow "it"; empty if it may."""
        if not self.entries:
            return ""
        if faceset.content_hash() in self._contents["set"]:
            return "has the content of a set that was forgotten"
        return self.why_faces(faceset.faces, model)

    def why_faces(self, faces: NDArray[Any], model: str) -> str:
        """As `why`, for descriptors (n, d) that one model made."""
        known = self._contents["face"]
        if known and sum(one in known for one in _hashes(faces)) >= SHARE * len(faces):
            return "has faces of a set that was forgotten"
        for made_by, least, mean in self._people:
            if made_by != model or len(mean) != faces.shape[1]:
                continue
            if np.count_nonzero(_unit(faces) @ mean >= least) >= SHARE * len(faces):
                return "closely resembles somebody who was forgotten"
        return ""

    def strangers_to(self, model: str) -> int:
        """How many people cannot be recognised by a model, since they were forgotten under others only."""
        known = {one.event for one in self.entries if one.kind == "person" and one.model == model}
        return len({one.event for one in self.entries if one.kind == "person"} - known)


@dataclass
class RememberedBarred:
    """What is barred as it was last read: every set that is added asks for it."""

    seen: tuple[int, int] | None = None
    found: Barred | None = None

    def read(self, connection: sqlite3.Connection, path: Path) -> Barred:
        """What is barred now."""
        if schema.found(connection) < history.SINCE:
            return Barred(())
        # Entries never change and no number is used twice: what comes or goes changes one of these.
        seen = connection.execute("SELECT count(*), ifnull(max(number), 0) FROM barred").fetchone()
        if self.found is None or seen != self.seen:
            self.found, self.seen = Barred(everything(connection, path)), seen
        return self.found


def _hashes(faces: NDArray[Any]) -> list[str]:
    return [hashlib.sha256(one.tobytes()).hexdigest() for one in np.asarray(faces).astype("<f4")]


def _unit(faces: NDArray[Any]) -> NDArray[np.float64]:
    wide = np.asarray(faces, dtype=np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    # A sum of opposite faces may be zero: it then resembles nobody.
    return np.asarray(wide / np.where(lengths > 0, lengths, 1.0))
