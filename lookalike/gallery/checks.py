"""Checks: read everything that a gallery file holds, and tell all that is not as it was written."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lookalike.errors import BadInput, GalleryUnreadable, NotFound, in_words
from lookalike.faceset import check_id
from lookalike.gallery import blocklist, decision_log, history, media, models, schema, set_rows
from lookalike.gallery.connection import check_file, connect
from lookalike.gallery.models import Model
from lookalike.gallery.opened import wrong_counts, wrong_facts
from lookalike.progress import Track, silent

RESTORE: Final = "restore a backup"


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be.

    Parameters
    ----------
    what : str
        What is wrong, in words.
    where : str
        The file or folder.
    kind : str
        ``gallery`` for the only truth there is, ``journal`` if commits are not in its file, ``derived`` for
        what can be made again from it, ``litter`` for files that are of no use and do no harm, ``wipe`` for a
        wipe that is due.
    advice : str
        What to do.
    sets : tuple of str
        The sets that are affected, where it is some of them and not the whole gallery.

    Examples
    --------
    >>> from lookalike import Finding
    >>> found = Finding("a table is damaged", "videos.index", "derived", "run `lookalike verify --repair`")
    >>> found.kind, found.sets
    ('derived', ())
    """

    what: str
    where: str
    kind: str
    advice: str
    sets: tuple[str, ...] = ()

    @property
    def is_derived(self) -> bool:
        """Whether it can be made again from the gallery."""
        return self.kind == "derived"

    @property
    def is_harmless(self) -> bool:
        """Whether everything works as if it were not there."""
        return self.kind in ("litter", "wipe")

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.what}: {self.advice}"


def of_gallery(path: Path, what: object) -> Finding:
    """A finding about the gallery as a whole: only a backup helps."""
    return Finding(_short(path, what), str(path), "gallery", RESTORE)


def of_set(path: Path, set_id: str, what: object) -> Finding:
    """A finding about one set, without which the rest of the gallery is good."""
    advice = f"{RESTORE}, or remove this set and add it again"
    return Finding(_short(path, what), str(path), "gallery", advice, (set_id,))


def of_table(path: Path, what: object, repair: str) -> Finding:
    """A finding about a derived table."""
    return Finding(str(what), str(path), "derived", repair)


def litter(path: Path, what: str) -> Finding:
    """A finding about a file that nothing reads."""
    return Finding(what, str(path), "litter", "it does no harm: delete it if you do not need it")


def _short(path: Path, what: object) -> str:
    """What the errors of reading say, without the file and the advice, which a finding tells itself."""
    said = str(what).removeprefix(f"{path} is damaged: ").removeprefix(f"{path} ")
    return said.partition(": restore it")[0].partition(": restore a backup")[0]


# Inspect one set of a gallery: its entry, faces, pictures, sightings, vectors, each against the others.


SHA_256: Final = re.compile(r"[0-9a-f]{64}")


def set_findings(
    connection: sqlite3.Connection, path: Path, number: int, beside: Sequence[tuple[int, Model]]
) -> Iterator[Finding]:
    """All that is wrong with the set of one row, in one transaction; `beside` are other models by number."""
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
    if schema.found(connection) >= schema.SEALED_SINCE:
        (seal,) = connection.execute("SELECT seal FROM sets WHERE number = ?", (number,)).fetchone()
        if seal != schema.set_seal(set_id, origin, added):
            yield f"the id, the origin or the time of set {set_id!r} does not fit its checksum"


def _faces(connection: sqlite3.Connection, path: Path, set_id: str, pictures: object) -> Iterator[str]:
    dimension = set_rows.dimension(connection, path)
    if dimension is None:
        return  # told once, of the whole gallery
    # Every face against its checksum, all pictures against the content hash; finite, and not constant.
    if set_rows.read(connection, path, set_id, dimension, pictures=True) is None:
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
    seen = set_rows.read_sightings(connection, path, number, set_id)
    if len(seen) not in (0, faces):
        yield f"set {set_id!r} has {len(seen)} sightings of its {faces} faces"
    told = connection.execute(set_rows.SUM, (number,)).fetchone()[1:]
    times = [one.time for one in seen if one.time is not None]
    if tuple(told) != ((min(times), max(times)) if times else (None, None)):
        yield f"set {set_id!r} is said to be seen at times that are not those of its sightings"
    if schema.found(connection) > 2:
        (good,) = connection.execute("SELECT good FROM sets WHERE number = ?", (number,)).fetchone()
        if good != (sum(not one.weaknesses for one in seen) if seen else None):
            yield f"set {set_id!r} is said to have {good!r} good faces, which it has not"


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


Beside = list[tuple[int, Model]]
# Rows that refer to others, and to what, in words; SQLite names the tables.
REFERS: Final = {
    "faces": "a face of no set",
    "sightings": "a sighting of no face",
    "set_files": "a file of no set, or a set of no file",
    "apart": "a pair of sets that are not both there",  # up to format 4
    "vectors": "a vector of no face or no model",
    "decision_sets": "a set of no decision, or a decision on no set",  # the latter up to format 4
}


def findings(path: Path, wait: float = 30.0, track: Track = silent) -> list[Finding]:
    """Read a gallery file whole, in one version, and tell what is wrong with it; nothing is changed.

    Raise NotFound or GalleryUnreadable if there is no such file, or it is not a gallery at all, or one of a
    newer format; StorageFailed if the disk refuses.
    """
    if not path.exists():
        raise NotFound(f"there is no gallery at {path}: name the gallery file")
    with in_words(path):
        check_file(path)
    try:
        with in_words(path):
            opened = connect(path, wait)
    except GalleryUnreadable as reason:
        return [of_gallery(path, reason)]
    found: list[Finding] = []
    if opened.lacks:
        what, _, advice = opened.lacks.partition(": put")
        found.append(Finding(_short(path, what), str(path), "journal", f"put{advice}"))
    with closing(opened) as connection:
        connection.execute("BEGIN")
        for check in track(CHECKS, "checking the file", len(CHECKS)):
            found += told(path, lambda check=check: check(connection, path))  # type: ignore[misc]
        numbers: list[int] = []
        found += told(path, lambda: _listed(connection, numbers))
        beside: Beside = []
        found += told(path, lambda: _models(connection, path, beside))
        for number in track(numbers, "checking sets", len(numbers)):
            found += told(path, lambda number=number: set_findings(connection, path, number, beside))  # type: ignore[misc]
    return list(dict.fromkeys(found))


def told(path: Path, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """What a check finds, and where it had to stop; only a disk that refuses is no finding."""
    found: list[Finding] = []
    try:
        with in_words(path):
            for one in check():  # one by one, so that those before a stop are kept
                found.append(one)
    except GalleryUnreadable as reason:
        found.append(of_gallery(path, reason))
    return found


# LOW LEVEL: the checks, each on the whole gallery.


def _pages(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    """Pages, indexes and constraints, as SQLite sees them."""
    for (said,) in connection.execute("PRAGMA integrity_check"):
        if said != "ok":
            yield of_gallery(path, " ".join(str(said).split()))


def _references(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    for table, row, _, _ in connection.execute("PRAGMA foreign_key_check"):
        told = REFERS.get(table, f"an entry of {table} without what it belongs to")
        yield of_gallery(path, f"it holds {told} (row {row} of {table})")


def _tables(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    """Exactly the tables of its format: a stranger's trigger could change what is written."""
    number = schema.found(connection)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        for step in schema.STEPS[:number]:
            step(model)
        wanted = _definitions(model)
    found = _definitions(connection)
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            how = (
                "is missing" if name not in found else "does not belong" if name not in wanted else "differs"
            )
            yield of_gallery(path, f"{name} {how} in a gallery of format {number}")


def _definitions(connection: sqlite3.Connection) -> dict[str, str]:
    asked = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    return {f"{kind} {name}": " ".join(str(sql).split()) for kind, name, sql in connection.execute(asked)}


def _facts(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    return (of_gallery(path, what) for what in wrong_facts(connection, path))


def _counts(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    return (of_gallery(path, what) for what in wrong_counts(connection))


def _files(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    if schema.found(connection) < 2:
        return
    for (content,) in connection.execute("SELECT content FROM files").fetchall():
        if not isinstance(content, str):
            yield of_gallery(path, f"its list of files has an entry that is none ({content!r})")
            continue
        yield from told(path, lambda content=content: _nothing(media.of(connection, path, content)))  # type: ignore[misc]


def _apart(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    return _nothing(media.pairs_apart(connection, path))


def _decisions(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    """Each against its checksum; who and what they speak of is there."""
    log = decision_log.everything(connection, path)
    numbers, people = {one.number for one in log}, {one.number for one in log if one.makes_person}
    for one in log:
        known = numbers if one.kind == "undo" else people
        if one.kind != "part" and one.other is not None and one.other not in known:
            yield of_gallery(path, f"decision {one.number} speaks of {one.other}, which is not there")
        if one.person is not None and one.person not in people:
            yield of_gallery(path, f"decision {one.number} speaks of person {one.person}, who is not there")


def _history(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    for read in (history.everything, history.backups, blocklist.everything):
        yield from told(path, lambda read=read: _nothing(read(connection, path)))  # type: ignore[misc]


def _listed(connection: sqlite3.Connection, numbers: list[int]) -> Iterator[Finding]:
    numbers += [number for (number,) in connection.execute("SELECT number FROM sets ORDER BY number")]
    yield from ()


def _models(connection: sqlite3.Connection, path: Path, beside: Beside) -> Iterator[Finding]:
    """Models besides the current one: named, none twice, none the current one."""
    if schema.found(connection) < 2:
        return
    current = set_rows.fact(connection, "descriptor")
    for number, name, dimension in connection.execute("SELECT number, name, dimension FROM models"):
        if not isinstance(name, str) or not isinstance(dimension, int) or dimension < 2 or name == current:
            yield of_gallery(path, f"its list of models has {name!r} of {dimension!r} numbers")
        else:
            beside.append((number, Model(name, dimension, False, 0)))


def _nothing(read: object) -> Iterator[Finding]:
    """For what was read only to see that it can be."""
    return iter(())


CHECKS: Final = (_pages, _references, _tables, _facts, _counts, _files, _apart, _decisions, _history)
