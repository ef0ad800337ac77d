"""Leaving: sets go for good, in the transaction of the caller; what went is counted, and barred if asked."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lookalike.collection import barred, events, filing, media, purge, queries, rows
from lookalike.collection.barred import Entry

# Everything that can tell of a set.
TABLES: Final = (
    "sets",
    "faces",
    "sightings",
    "vectors",
    "apart",
    "files",
    "set_files",
    "decisions",
    "decision_sets",
)


@dataclass(frozen=True)
class Gone:
    """What left a gallery.

    Attributes
    ----------
    event : int
        The number under which the gallery remembers that something was forgotten.
    rows : mapping of str to int
        How many rows went, by table; only tables that lost some.
    pictures : int
        How many faces had a picture.
    contents, files : tuples of str
        SHA-256 of the sets, and of the films and photos they were from.
    files_kept : int
        Films and photos whose entries stay, since other sets are of them too.
    barred : mapping of str to int
        How many entries were barred, by kind.
    """

    event: int
    rows: Mapping[str, int]
    pictures: int
    contents: tuple[str, ...]
    files: tuple[str, ...]
    files_kept: int
    barred: Mapping[str, int]


def forget(
    connection: sqlite3.Connection, path: Path, ids: Sequence[str], bar: bool, people: Sequence[Entry]
) -> Gone:
    """Delete sets with everything that tells of them, and write down that it was done.

    Parameters
    ----------
    connection : sqlite3.Connection
        In a transaction that writes.
    path : Path
    ids : sequence of str
    bar : bool
        Whether the content of sets and files must not enter again. Sets are then read whole, which a damaged
        one refuses.
    people : sequence of Entry
        What people look like who must not enter again.
    """
    for set_id in ids:
        if not queries.has(connection, set_id):
            raise queries.unknown(connection, path, set_id)
    known = {one.content: one for set_id in ids for one in media.of_set(connection, path, set_id)}
    contents = [_content(connection, set_id) for set_id in ids]
    pictures = sum(one.pictures for one in queries.listing(connection, path, ids))
    entries = list(people)
    if bar:
        entries += [Entry("file", content) for content in known]
        for set_id in ids:
            entries += barred.of_set(rows.get(connection, path, set_id, pictures=True))
    before = _counts(connection)
    filing.forget(connection, path, ids)
    purge.mark(connection)
    after = _counts(connection)
    lost = {table: before[table] - after[table] for table in TABLES if before[table] > after[table]}
    kinds = [one.kind for one in dict.fromkeys(entries)]
    kept = {kind: kinds.count(kind) for kind in barred.KINDS if kind in kinds}
    said = {"rows": lost, "contents": contents, "files": list(known), "barred": kept}
    event = events.insert(connection, "forget", said)
    barred.insert(connection, event, entries)
    stay = len(known) - lost.get("files", 0)
    return Gone(event, lost, pictures, tuple(contents), tuple(known), stay, kept)


def _content(connection: sqlite3.Connection, set_id: str) -> str:
    return str(connection.execute("SELECT content FROM sets WHERE id = ?", (set_id,)).fetchone()[0])


def _counts(connection: sqlite3.Connection) -> dict[str, int]:
    asked = (f"SELECT count(*) FROM {table}" for table in TABLES)
    return {table: connection.execute(one).fetchone()[0] for table, one in zip(TABLES, asked, strict=True)}
