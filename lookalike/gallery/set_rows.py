"""Face sets as rows of a gallery: listed, written, read back, faces and sightings against their checksums."""

from __future__ import annotations

import difflib
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from lookalike.errors import BadInput, Conflict, GalleryUnreadable, NotFound, damaged_rows
from lookalike.faceset import FaceSet, Sighting, checked_faces
from lookalike.gallery import schema
from lookalike.gallery.schema import now, storable

# What the sightings of a set add up to.
SUM = "SELECT sighted, start_seconds, end_seconds FROM sets WHERE number = ?"

SUGGESTIONS = 3
# Spelling help compares the id with every other, in Python: beyond this many it would keep the user waiting.
MOST_COMPARED = 20_000
# Rows that are read at a time from lists that may be long.
AT_A_TIME: Final = 5_000
# Of what types `SetFacts` are, in their order.
TIME: Final[set[type]] = {float, type(None)}
AMOUNT: Final[set[type]] = {int, type(None)}
TEXT: Final[set[type]] = {str, type(None)}
KINDS: Final[tuple[type | set[type], ...]] = (str, str, int, int, str, TIME, TIME, AMOUNT)
# Facts that help the user's programs and shape nothing: where the file of the current model was last seen.
HINTS: Final = ("model_file", "successor_told")
Version = tuple[int, int]
Named = TypeVar("Named")


# The lists, without reading a face.


class SetFacts(NamedTuple):
    """What a gallery knows of a set without reading its faces.

    In films, `start` and `end` are the seconds at which its person is seen first and last; `good` is how many
    faces have no weakness (`lookalike.faceset`), None where nobody knows how well they are seen.
    """

    id: str
    origin: str
    faces: int
    pictures: int
    added: str
    start: float | None = None
    end: float | None = None
    good: int | None = None


class Columns(NamedTuple):
    """The list of sets, column by column; `paths` are those of a set's files, one a line, in any order."""

    ids: tuple[str, ...]
    origins: tuple[str, ...]
    faces: tuple[int, ...]
    pictures: tuple[int, ...]
    added: tuple[str, ...]
    starts: tuple[float | None, ...]
    ends: tuple[float | None, ...]
    good: tuple[int | None, ...]
    contents: tuple[str, ...]
    paths: tuple[str | None, ...]


def fact(connection: sqlite3.Connection, name: str) -> str | None:
    """One fact about the whole gallery, or None if it is not settled yet."""
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def forget_facts(connection: sqlite3.Connection, *names: str) -> None:
    """Let facts be unsettled again; the caller holds the transaction."""
    connection.executemany("DELETE FROM facts WHERE name = ?", ((name,) for name in names))
    schema.seal(connection)


def set_fact(connection: sqlite3.Connection, name: str, value: str | None) -> None:
    """Write a fact, or let it be unsettled again; the caller holds the transaction."""
    forget_facts(connection, name)
    if value is not None:
        connection.execute("INSERT INTO facts VALUES (?, ?)", (name, storable(value)))
        schema.seal(connection)


def dimension(connection: sqlite3.Connection, path: Path) -> int | None:
    """How many numbers describe a face, or None while the gallery is empty."""
    text = fact(connection, "dimension")
    if text is not None and not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) >= 2):
        raise GalleryUnreadable(
            f"{path} is damaged: it says its faces have {text!r} numbers: restore a backup"
        )
    return None if text is None else int(text)


def count(connection: sqlite3.Connection) -> int:
    """How many sets there are."""
    return int(connection.execute("SELECT count(*) FROM sets").fetchone()[0])


def has(connection: sqlite3.Connection, set_id: object) -> bool:
    """Whether there is a set of this id; what cannot be an id is simply not there."""
    if not isinstance(set_id, str) or set_id != storable(set_id):
        return False
    return connection.execute("SELECT 1 FROM sets WHERE id = ?", (set_id,)).fetchone() is not None


def ids(connection: sqlite3.Connection, path: Path) -> list[str]:
    """Every id, by code point: SQLite compares UTF-8 bytes, which gives the same order."""
    return [row[0] for row in _rows(connection, path, "SELECT id FROM sets ORDER BY id", str)]


def contents(connection: sqlite3.Connection, path: Path) -> dict[str, str]:
    """Id -> content hash, by id."""
    return dict(_rows(connection, path, "SELECT id, content FROM sets ORDER BY id", str, str))


def listing(connection: sqlite3.Connection, path: Path, ids: Iterable[str] | None = None) -> list[SetFacts]:
    """What is known of each set, by id; or of some, in the order in which they are asked for."""
    asked = f"SELECT {_facts(connection)} FROM sets"
    if ids is None:
        found = _rows(connection, path, f"{asked} ORDER BY id", *KINDS)
    else:
        found = []
        for set_id in several(ids):
            if not has(connection, set_id):
                raise unknown(connection, path, set_id)
            found += _rows(connection, path, f"{asked} WHERE id = ?", *KINDS, given=(set_id,))
    _check_pictures(path, ((row[2], row[3]) for row in found))
    return list(map(SetFacts._make, found))


def columns(
    connection: sqlite3.Connection, path: Path, ids: Iterable[str] | None = None
) -> Iterator[Columns]:
    """The list of sets by id, some thousand at a time; or those of some ids that are there."""
    files = "(SELECT group_concat(path, char(10)) FROM set_files JOIN files ON file_number = files.number"
    files = f"{files} WHERE set_number = sets.number)" if schema.found(connection) > 1 else "NULL"
    which = "" if ids is None else "WHERE id IN (SELECT value FROM json_each(?))"
    given = () if ids is None else (json.dumps([one for one in ids if one == storable(one)]),)
    rows = connection.execute(
        f"SELECT {_facts(connection)}, content, {files} FROM sets {which} ORDER BY id", given
    )
    while found := rows.fetchmany(AT_A_TIME):
        checked = Columns._make(_columns(path, found, (*KINDS, str, TEXT)))
        _check_pictures(path, zip(checked.faces, checked.pictures, strict=True))
        yield checked


def _facts(connection: sqlite3.Connection) -> str:
    times = "start_seconds, end_seconds" if schema.found(connection) > 1 else "NULL, NULL"
    good = "good" if schema.found(connection) > 2 else "NULL"
    return f"id, origin, faces, pictures, added, {times}, {good}"


def _check_pictures(path: Path, counts: Iterable[tuple[int, int]]) -> None:
    # All faces of a set have a picture, or none has.
    if not {pictures for faces, pictures in counts if pictures != faces} <= {0}:
        raise _no_entries(path)


def _rows(
    connection: sqlite3.Connection,
    path: Path,
    asked: str,
    *kinds: type | set[type],
    given: tuple[str, ...] = (),
) -> list[Any]:
    found = connection.execute(asked, given).fetchall()
    if found:
        _columns(path, found, kinds)
    return found


def _columns(
    path: Path, found: Sequence[tuple[Any, ...]], kinds: Sequence[type | set[type]]
) -> list[tuple[Any, ...]]:
    """Some rows as columns, if these are of the right kinds."""
    # SQLite keeps any value in any column, so damage may turn text into a number or nothing. Whole columns
    # are looked at: value by value it would take longer than to read them.
    allowed = [kind if isinstance(kind, set) else {kind} for kind in kinds]
    columns = list(zip(*found, strict=True))
    if not all(set(map(type, one)) <= kind for one, kind in zip(columns, allowed, strict=True)):
        raise _no_entries(path)
    return columns


def _no_entries(path: Path) -> GalleryUnreadable:
    return GalleryUnreadable(
        f"{path} is damaged: its list of sets has entries that are none: restore it from a backup"
    )


def version(connection: sqlite3.Connection) -> Version:
    """Two numbers: the first moves when others commit a change, the second when we make one.

    That commits are counted is no change of what is in the gallery.
    """
    changes = connection.total_changes - getattr(connection, "counted", 0)
    return int(connection.execute("PRAGMA data_version").fetchone()[0]), changes


def unknown(connection: sqlite3.Connection, path: Path, set_id: object) -> NotFound:
    """The error for an id that is not there, with the nearest ids that are."""
    near: list[str] = []
    sets = count(connection)
    if isinstance(set_id, str) and sets <= MOST_COMPARED:
        near = difflib.get_close_matches(set_id, ids(connection, path), n=SUGGESTIONS)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "`lookalike list` names them"
    holds = "1 set" if sets == 1 else f"{sets} sets"
    return NotFound(f"{path} has no set {set_id!r} among its {holds}: {hint}")


def several(ids: Iterable[Named]) -> Iterable[Named]:
    """Refuse one id where a list of them is asked for: its letters would be taken for ids."""
    if isinstance(ids, str):
        raise BadInput(f"set ids must come as a list, got the string {ids!r}: write [{ids!r}]")
    return ids


def note_changed(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Note that the rows of some sets change, for whoever keeps up with the list (`Gallery.changed_here`)."""
    touched: set[str] | None = getattr(connection, "touched", None)
    if touched is not None:
        touched.update(ids)


# Faces.


def checksum(set_id: str, position: int, source: str | None, descriptor: bytes) -> bytes:
    """SHA-256 of a descriptor together with where it belongs, so that a misplaced face is found out too."""
    place = f"{set_id}\0{position}\0{'-' if source is None else '+' + source}\0"
    return hashlib.sha256(place.encode() + descriptor).digest()


def numbers(connection: sqlite3.Connection, set_id: str, first: int = 0) -> list[int]:
    """The row number of each face of a set, from a position on."""
    asked = (
        "SELECT faces.number FROM sets JOIN faces ON set_number = sets.number WHERE id = ? AND position >= ?"
    )
    return [row[0] for row in connection.execute(f"{asked} ORDER BY position", (set_id, first))]


def write(
    connection: sqlite3.Connection, path: Path, set_id: str, statement: str, values: Iterable[tuple[Any, ...]]
) -> None:
    """Run a statement for each face; one that reaches no row shows that an index leads astray."""
    given = list(values)
    if connection.executemany(statement, given).rowcount != len(given):
        raise astray(path, set_id)


def astray(path: Path, set_id: str) -> GalleryUnreadable:
    """The error for an index that does not lead to the faces of a set."""
    return damaged_rows(path, f"not every face of set {set_id!r} is found where it is listed")


def face_rows(
    faceset: FaceSet, first: int = 0
) -> Iterator[tuple[int, bytes, bytes, str | None, bytes | None]]:
    """Position, checksum, descriptor, source and picture of each face, from a position on."""
    for place, face in enumerate(faceset.faces.astype("<f4")):
        source = storable(faceset.sources[place]) if faceset.sources else None
        picture = bytes(faceset.pictures[place]) if faceset.pictures else None
        position, descriptor = first + place, face.tobytes()
        yield position, checksum(faceset.id, position, source, descriptor), descriptor, source, picture


# HIGH LEVEL: one set. Who writes holds the transaction.


def check(faceset: object, descriptor: object) -> None:
    """Refuse what cannot be written, before anything is."""
    if not isinstance(faceset, FaceSet):
        raise BadInput(f"only a FaceSet can be added, got {type(faceset).__name__}: make one of it")
    check_name(descriptor)
    # Rounding to single precision can make a row constant, and such a set could never be read back.
    checked_faces(faceset.faces, f"set {faceset.id!r} in single precision")


def check_name(descriptor: object) -> None:
    """Refuse what cannot be the name of a descriptor."""
    if not isinstance(descriptor, str) or not descriptor.strip() or not descriptor.isprintable():
        raise BadInput(
            f"a descriptor must be named by printable text, got {descriptor!r}: say what made the faces"
        )


def settle_kind(connection: sqlite3.Connection, path: Path, faceset: FaceSet, descriptor: str) -> None:
    """Let the first set fix the descriptor of a gallery with its dimension; refuse any other."""
    kind, size = fact(connection, "descriptor"), dimension(connection, path)
    if kind is None or size is None:
        settled = (("descriptor", descriptor), ("dimension", str(faceset.dimension)))
        connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", settled)
        schema.seal(connection)
    else:
        refuse_other_kind(path, faceset, descriptor, kind, size)


def refuse_other_kind(path: Path, faceset: FaceSet, descriptor: str, kind: str, dimension: int) -> None:
    """Refuse a set whose descriptor or dimension is not that of the gallery."""
    advice = "describe it the same way, or use another gallery"
    if kind != descriptor:
        raise Conflict(
            f"{path} holds faces made by {kind!r}, set {faceset.id!r} was made by {descriptor!r}: {advice}"
        )
    if dimension != faceset.dimension:
        raise Conflict(
            f"{path} holds faces of {dimension} numbers, "
            f"those of set {faceset.id!r} have {faceset.dimension}: {advice}"
        )


def add(connection: sqlite3.Connection, path: Path, faceset: FaceSet, descriptor: str) -> bool:
    """Write a set unless the same is there already; whether it was written.

    Raise Conflict if the id is taken by other content, or the faces are of another descriptor or dimension.
    """
    settle_kind(connection, path, faceset, descriptor)
    content = faceset.content_hash()
    there = connection.execute("SELECT content, faces FROM sets WHERE id = ?", (faceset.id,)).fetchone()
    if there is None:
        origin, added = storable(faceset.origin), now()
        values = (faceset.id, origin, content, len(faceset), len(faceset.pictures), added)
        number = connection.execute(
            "INSERT INTO sets (id, origin, content, faces, pictures, added, seal)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*values, schema.set_seal(faceset.id, origin, added)),
        ).lastrowid
        _write_faces(connection, path, int(number or 0), faceset)
        note_changed(connection, [faceset.id])
        return True
    # The same descriptors are the same set, however their pictures were encoded.
    if there[0] != content and not np.array_equal(get(connection, path, faceset.id).faces, faceset.faces):
        raise Conflict(
            f"{path} already has a set {faceset.id!r}, with {there[1]} faces; the one given has "
            f"{len(faceset)} faces with other content: remove it first or choose another id"
        )
    return False


def append(connection: sqlite3.Connection, path: Path, more: FaceSet, descriptor: str) -> None:
    """Write more faces of a set behind those it has.

    Raise NotFound if there is no such set; Conflict if they are of another descriptor or dimension, or know
    more or less about each face.
    """
    # All of it is read and held against its checksums: what is damaged must not get a new one.
    present = get(connection, path, more.id, pictures=True)
    (number,) = connection.execute("SELECT number FROM sets WHERE id = ?", (more.id,)).fetchone()
    said = written_sightings(connection, path, number, more.id)
    settle_kind(connection, path, more, descriptor)
    known = {"sources": present.sources, "pictures": present.pictures, "sightings": said}
    for name, has in known.items():
        given = getattr(more, name)
        if bool(has) != bool(given):
            raise Conflict(
                f"set {more.id!r} of {path} has {name if has else f'no {name}'}, the faces to be appended "
                f"have {name if given else 'none'}: give them the same way, or make a set of their own"
            )
    whole = FaceSet(
        more.id, np.concatenate([present.faces, more.faces]), pictures=(*present.pictures, *more.pictures)
    )
    connection.execute(
        "UPDATE sets SET content = ?, faces = ?, pictures = ? WHERE number = ?",
        (whole.content_hash(), len(whole), len(whole.pictures), number),
    )
    _write_faces(connection, path, number, more, len(present), said)
    note_changed(connection, [more.id])


def _write_faces(
    connection: sqlite3.Connection,
    path: Path,
    number: int,
    faceset: FaceSet,
    first: int = 0,
    said: Sequence[str] = (),
) -> None:
    connection.executemany(
        "INSERT INTO faces (set_number, position, checksum, descriptor, source, picture)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        ((number, *face) for face in face_rows(faceset, first)),
    )
    if faceset.sightings:
        faces = numbers(connection, faceset.id, first)
        if len(faces) != len(faceset):
            raise astray(path, faceset.id)
        append_sightings(connection, number, faceset.id, said, faces, faceset.sightings)


def get(
    connection: sqlite3.Connection, path: Path, set_id: str, pictures: bool = False, seen: bool = False
) -> FaceSet:
    """Read one set back; raise NotFound with similar ids if there is none. `read` tells the rest."""
    if not has(connection, set_id):
        raise unknown(connection, path, set_id)
    size = dimension(connection, path)
    found = read(connection, path, set_id, size, pictures, seen) if size else None
    if found is None:
        raise damaged_rows(path, f"set {set_id!r} is listed but cannot be found")
    return found


def read(
    connection: sqlite3.Connection,
    path: Path,
    set_id: str,
    dimension: int,
    pictures: bool = False,
    seen: bool = False,
) -> FaceSet | None:
    """Read one set back, or None if there is no such set.

    Inside a transaction, so that the set and its faces are of one version. `seen` asks where the faces were
    seen, too. Raise GalleryUnreadable if a face is missing, of another length, or does not fit its checksum.
    """
    is_sealed = schema.found(connection) >= schema.SEALED_SINCE
    row = connection.execute(
        f"SELECT number, origin, content, faces, pictures, added, {'seal' if is_sealed else 'NULL'}"
        " FROM sets WHERE id = ?",
        (set_id,),
    ).fetchone()
    if row is None:
        return None
    number, origin, content, count, shown_of, added, seal = row
    faces = connection.execute(
        f"SELECT position, checksum, descriptor, source, {'picture' if pictures else 'NULL'}"
        " FROM faces WHERE set_number = ? ORDER BY position",
        (number,),
    ).fetchall()
    if not isinstance(origin, str) or not isinstance(content, str):
        raise damaged_rows(path, f"set {set_id!r} has lost its origin or content hash")
    if is_sealed and seal != schema.set_seal(set_id, origin, added):
        raise damaged_rows(
            path, f"the id, the origin or the time of set {set_id!r} does not fit its checksum"
        )
    if len(faces) != count:
        raise damaged_rows(path, f"set {set_id!r} has {len(faces)} of its {count} faces")
    for expected, (position, check, descriptor, source, _) in enumerate(faces):
        if not isinstance(descriptor, bytes) or len(descriptor) != 4 * dimension:
            given = f"{len(descriptor)} bytes" if isinstance(descriptor, bytes) else "no bytes"
            raise damaged_rows(
                path, f"face {expected} of set {set_id!r} has {given} where {4 * dimension} belong"
            )
        text = source is None or isinstance(source, str)
        if position != expected or not text or check != checksum(set_id, expected, source, descriptor):
            raise damaged_rows(path, f"face {expected} of set {set_id!r} does not fit its checksum")
    descriptors = np.frombuffer(b"".join(face[2] for face in faces), dtype="<f4").reshape(count, dimension)
    sources = tuple(face[3] for face in faces) if faces and faces[0][3] is not None else ()
    shown = tuple(face[4] for face in faces) if faces and faces[0][4] is not None else ()
    where = read_sightings(connection, path, number, set_id) if seen else ()
    try:
        found = FaceSet(set_id, descriptors, origin, sources, shown, where)
        # The faces passed their own checks: only the pictures can still differ.
        whole = not pictures or found.content_hash() == content
    except (BadInput, TypeError) as error:
        raise damaged_rows(path, f"set {set_id!r} cannot be read back ({error})") from error
    if not whole:
        raise damaged_rows(path, f"the pictures of set {set_id!r} do not fit its content hash")
    if shown_of not in ({len(shown)} if pictures else {0, count}):
        raise damaged_rows(path, f"set {set_id!r} does not have the {shown_of!r} pictures that it says")
    return found


# Where the faces of a set were seen, under one checksum a set.


def append_sightings(
    connection: sqlite3.Connection,
    number: int,
    set_id: str,
    before: Sequence[str],
    faces: Sequence[int],
    seen: Sequence[Sighting],
) -> None:
    """Write where more faces of a set were seen; what all add up to is noted beside the set.

    `before` is what `written_sightings` read of the faces it has, `faces` the row numbers of the new ones.
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
        (_sightings_checksum(set_id, start, end, whole), start, end, schema.good_faces(whole), number),
    )


def written_sightings(connection: sqlite3.Connection, path: Path, number: int, set_id: str) -> list[str]:
    """What is written of each face of a set, held against the checksum; empty if nothing is."""
    if schema.found(connection) < 2:
        return []
    checksum, start, end = connection.execute(SUM, (number,)).fetchone()
    texts = [text for (text,) in connection.execute(schema.SAID, (number,))]
    if not texts and checksum is start is end is None:
        return []
    fits = all(isinstance(text, str) for text in texts)
    if not fits or checksum != _sightings_checksum(set_id, start, end, texts):
        raise damaged_rows(path, f"the sightings of set {set_id!r} do not fit their checksum")
    return texts


def read_sightings(
    connection: sqlite3.Connection, path: Path, number: int, set_id: str
) -> tuple[Sighting, ...]:
    """Read where the faces of a set were seen; empty if that is not known."""
    try:
        texts = written_sightings(connection, path, number, set_id)
        found = tuple(map(Sighting.from_text, texts))
    # A stranger may fit the checksum to anything.
    except (BadInput, ArithmeticError, RecursionError) as error:
        raise damaged_rows(path, f"the sightings of set {set_id!r} cannot be read back ({error})") from error
    if texts and schema.found(connection) > 2:
        (good,) = connection.execute("SELECT good FROM sets WHERE number = ?", (number,)).fetchone()
        if good != schema.good_faces(texts):
            raise damaged_rows(path, f"set {set_id!r} is said to have {good!r} good faces, which it has not")
    return found


def _sightings_checksum(set_id: str, start: object, end: object, said: Sequence[str]) -> str:
    """SHA-256 of all sightings, their set and its times: one that is lost or misplaced shows too."""
    return hashlib.sha256("\0".join((set_id, f"{start} {end}", *said)).encode()).hexdigest()
