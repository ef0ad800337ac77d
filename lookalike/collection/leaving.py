"""Leaving: sets go for good, in the transaction of the caller; what went is counted, and barred if asked."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass
class Told:
    """What is known of sets that leave, set by set, before they do.

    Attributes
    ----------
    contents : list of str
        SHA-256 of each set.
    files : dict of str to None
        SHA-256 of the films and photos they are from, each once.
    pictures : int
        How many faces have a picture.
    bars : list of Entry
        What bars the sets themselves, if asked for.
    """

    contents: list[str] = field(default_factory=list)
    files: dict[str, None] = field(default_factory=dict)
    pictures: int = 0
    bars: list[Entry] = field(default_factory=list)

    def take(self, connection: sqlite3.Connection, path: Path, set_id: str, bar: bool) -> None:
        """Take down one set; to be barred it is read whole, which a damaged one refuses."""
        row = connection.execute("SELECT content FROM sets WHERE id = ?", (set_id,)).fetchone()
        self.contents.append(str(row[0]))
        self.files |= {one.content: None for one in media.of_set(connection, path, set_id)}
        self.pictures += sum(one.pictures for one in queries.listing(connection, path, [set_id]))
        if bar:
            self.bars += barred.of_set(rows.get(connection, path, set_id, pictures=True))

    def note(
        self, connection: sqlite3.Connection, lost: Mapping[str, int], bar: bool, people: Sequence[Entry]
    ) -> Gone:
        """Write down that they left and bar what must not enter again, in the transaction of the caller.

        Parameters
        ----------
        connection : sqlite3.Connection
        lost : mapping of str to int
            How many rows went, by table.
        bar : bool
            Whether the content of sets and files must not enter again.
        people : sequence of Entry
            What people look like who must not enter again.
        """
        entries = [*people, *((Entry("file", content) for content in self.files) if bar else ()), *self.bars]
        kinds = [one.kind for one in dict.fromkeys(entries)]
        kept = {kind: kinds.count(kind) for kind in barred.KINDS if kind in kinds}
        said = {"rows": lost, "contents": self.contents, "files": list(self.files), "barred": kept}
        event = events.insert(connection, "forget", said)
        barred.insert(connection, event, entries)
        stay = len(self.files) - lost.get("files", 0)
        return Gone(event, lost, self.pictures, tuple(self.contents), tuple(self.files), stay, kept)


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
        Whether the content of sets and files must not enter again.
    people : sequence of Entry
        What people look like who must not enter again.
    """
    told = Told()
    for set_id in ids:
        if not queries.has(connection, set_id):
            raise queries.unknown(connection, path, set_id)
        told.take(connection, path, set_id, bar)
    before = counts(connection)
    filing.forget(connection, path, ids)
    purge.mark(connection)
    return told.note(connection, fewer(before, counts(connection)), bar, people)


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """How many rows each table has."""
    asked = (f"SELECT count(*) FROM {table}" for table in TABLES)
    return {table: connection.execute(one).fetchone()[0] for table, one in zip(TABLES, asked, strict=True)}


def fewer(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """How many rows went, by table; only tables that lost some."""
    return {table: before[table] - after[table] for table in TABLES if before[table] > after[table]}
