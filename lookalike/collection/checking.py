"""Checking: read everything that a gallery file holds, and tell all that is not as it was written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from lookalike.collection import (
    barred,
    connections,
    decisions,
    events,
    media,
    pairs,
    queries,
    rows,
    schema,
    sealing,
)
from lookalike.collection.failures import in_words
from lookalike.collection.findings import Finding, of_gallery
from lookalike.collection.gallery import Gallery
from lookalike.collection.inspecting import set_findings
from lookalike.collection.models import Model
from lookalike.errors import BadInput, GalleryUnreadable, NotFound
from lookalike.progress import Track, silent

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

    Parameters
    ----------
    path : Path
        The gallery file.
    wait : float
        Seconds to wait for another process that is writing.
    track : callable
        Shows progress.

    Raises
    ------
    NotFound, GalleryUnreadable
        If there is no such file, or it is not a gallery at all, or one of a newer format.
    StorageFailed
        If the disk refuses.
    """
    if not path.exists():
        raise NotFound(f"there is no gallery at {path}: name the gallery file")
    with in_words(path):
        connections.check_file(path)
    try:
        with in_words(path):
            opened = connections.connect(path, wait)
    except GalleryUnreadable as reason:
        return [of_gallery(path, reason)]
    found: list[Finding] = []
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


def check_counts(gallery: Gallery) -> None:
    """Refuse a gallery whose sets have not all their faces; without reading a face, so before every search.

    Of one version of an open gallery it is found out once.

    Raises
    ------
    GalleryUnreadable
        If faces are missing, or what made them is not known any more.
    """
    with gallery._opened.transaction() as connection:
        version = queries.version(connection)
        if version == gallery._counted:
            return
        for one in (*_facts(connection, gallery.path), *_counts(connection, gallery.path)):
            raise GalleryUnreadable(
                f"{gallery.path} is damaged: {one.what}: look at `lookalike verify {gallery.path}`, "
                f"then restore a backup, or remove the sets it names"
            )
        gallery._counted = version


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
    """What made the faces is known if there are any, and only then."""
    sets, descriptor = queries.count(connection), queries.fact(connection, "descriptor")
    dimension = queries.dimension(connection, path)
    if sets and (descriptor is None or dimension is None):
        yield of_gallery(path, "it does not say what made its faces, or how many numbers they have")
    if not sets and (descriptor is not None or dimension is not None):
        yield of_gallery(path, "it says what made its faces, but holds no set")
    if descriptor is not None:
        try:
            rows.check_name(descriptor)
        except BadInput as reason:
            yield of_gallery(path, reason)
    if queries.fact(connection, "created") is None:
        yield of_gallery(path, "it does not say when it was made")
    is_sealed = schema.found(connection) >= sealing.SINCE
    if is_sealed and queries.fact(connection, sealing.NAME) != sealing.of_facts(connection):
        yield of_gallery(path, "what it says of itself, such as its descriptor, does not fit its checksum")


def _counts(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    """Each set has as many faces as it says, numbered from 0; read from an index, without any face."""
    no_hash = "length(content) IS NOT 64 OR content GLOB '*[^0-9a-f]*'"
    if connection.execute(f"SELECT EXISTS (SELECT 1 FROM sets WHERE {no_hash})").fetchone()[0]:
        yield of_gallery(path, "the entry of a set does not tell its content")
    grouped = (
        "(SELECT set_number, count(*) AS there, min(position) AS first, max(position) AS last"
        " FROM faces GROUP BY set_number)"
    )
    whole = "there IS faces AND first IS 0 AND last IS faces - 1"
    # Groups of faces are looked up among the sets, which is quicker than the other way round.
    asked = f"SELECT count(*), total({whole}) FROM {grouped} LEFT JOIN sets ON number = set_number"
    sets = queries.count(connection)
    if connection.execute(asked).fetchone() == (sets, sets):
        return
    if connection.execute(
        "SELECT EXISTS (SELECT 1 FROM faces WHERE set_number NOT IN (SELECT number FROM sets))"
    ).fetchone()[0]:
        yield of_gallery(path, f"it holds {REFERS['faces']}")
    asked = f"SELECT id, faces, ifnull(there, 0) FROM sets LEFT JOIN {grouped} ON set_number = number"
    if wrong := connection.execute(f"{asked} WHERE NOT ({whole})").fetchall():
        set_id, faces, there = wrong[0]
        more = f", and {len(wrong) - 1} more sets are so" if len(wrong) > 1 else ""
        yield of_gallery(path, f"set {set_id!r} has {there} of its {faces} faces{more}")


def _files(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    if schema.found(connection) < 2:
        return
    for (content,) in connection.execute("SELECT content FROM files").fetchall():
        if not isinstance(content, str):
            yield of_gallery(path, f"its list of files has an entry that is none ({content!r})")
            continue
        yield from told(path, lambda content=content: _nothing(media.of(connection, path, content)))  # type: ignore[misc]


def _apart(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    return _nothing(pairs.everything(connection, path))


def _decisions(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    """Each against its checksum; who and what they speak of is there."""
    log = decisions.everything(connection, path)
    numbers, people = {one.number for one in log}, {one.number for one in log if one.makes_person}
    for one in log:
        known = numbers if one.kind == "undo" else people
        if one.other is not None and one.other not in known:
            yield of_gallery(path, f"decision {one.number} speaks of {one.other}, which is not there")
        if one.person is not None and one.person not in people:
            yield of_gallery(path, f"decision {one.number} speaks of person {one.person}, who is not there")


def _history(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    for read in (events.everything, events.backups, barred.everything):
        yield from told(path, lambda read=read: _nothing(read(connection, path)))  # type: ignore[misc]


def _listed(connection: sqlite3.Connection, numbers: list[int]) -> Iterator[Finding]:
    numbers += [number for (number,) in connection.execute("SELECT number FROM sets ORDER BY number")]
    yield from ()


def _models(connection: sqlite3.Connection, path: Path, beside: Beside) -> Iterator[Finding]:
    """Models besides the current one: named, none twice, none the current one."""
    if schema.found(connection) < 2:
        return
    current = queries.fact(connection, "descriptor")
    for number, name, dimension in connection.execute("SELECT number, name, dimension FROM models"):
        if not isinstance(name, str) or not isinstance(dimension, int) or dimension < 2 or name == current:
            yield of_gallery(path, f"its list of models has {name!r} of {dimension!r} numbers")
        else:
            beside.append((number, Model(name, dimension, False, 0)))


def _nothing(read: object) -> Iterator[Finding]:
    """For what was read only to see that it can be."""
    return iter(())


CHECKS: Final = (_pages, _references, _tables, _facts, _counts, _files, _apart, _decisions, _history)
