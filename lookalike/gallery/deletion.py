"""Deletion: sets go for good, rows first and then their bytes; what went is counted, and barred if asked.

Rows go in the transaction of the caller. Which other galleries on the disk still hold them is told here too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lookalike import atomic
from lookalike.gallery import blocklist, history, media, people, set_rows
from lookalike.gallery.blocklist import Entry
from lookalike.gallery.connection import is_gallery, is_split, shard_files
from lookalike.gallery.opened import mark_wipe_due
from lookalike.gallery.schema import now

# What is known of a copy.
HOLDS: Final = "holds it"
MISSING: Final = "is not there any more; if it was moved, it may hold it"
UNREADABLE: Final = "cannot be read; it may hold it"

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
    """What left a gallery."""

    event: int  # the number under which the gallery remembers that something was forgotten
    made: str  # when, in UTC
    rows: Mapping[str, int]  # how many rows went, by table; only tables that lost some
    pictures: int  # how many faces had one
    contents: tuple[str, ...]  # SHA-256 of the sets
    files: tuple[str, ...]  # SHA-256 of the films and photos they were from
    files_kept: int  # films and photos whose entries stay, since other sets are of them too
    barred: Mapping[str, int]  # how many entries were barred, by kind
    originals: tuple[str, ...]  # where the films and photos lay, by path within each set


@dataclass
class Departure:
    """What is known of sets that leave, set by set, before they do."""

    contents: list[str] = field(default_factory=list)  # SHA-256 of each set
    # SHA-256 of the films and photos they are from, each once
    files: dict[str, None] = field(default_factory=dict)
    paths: dict[str, None] = field(default_factory=dict)  # where these lie, each once
    pictures: int = 0  # how many faces have one
    bars: list[Entry] = field(default_factory=list)  # what bars the sets themselves, if asked for

    def take(self, connection: sqlite3.Connection, path: Path, set_id: str, bar: bool) -> None:
        """Take down one set; to be barred it is read whole, which a damaged one refuses."""
        row = connection.execute("SELECT content FROM sets WHERE id = ?", (set_id,)).fetchone()
        self.contents.append(str(row[0]))
        files = media.of_sets(connection, path, [set_id])[set_id]
        self.files |= {one.content: None for one in files}
        self.paths |= {one.path: None for one in files}
        self.pictures += sum(one.pictures for one in set_rows.listing(connection, path, [set_id]))
        if bar:
            self.bars += blocklist.of_set(set_rows.get(connection, path, set_id, pictures=True))

    def note(
        self, connection: sqlite3.Connection, lost: Mapping[str, int], bar: bool, people: Sequence[Entry]
    ) -> Gone:
        """Write down that they left and bar what must not enter again, in the transaction of the caller.

        `lost` tells how many rows went, by table; `bar` whether the content of sets and files is barred,
        `people` what people look like who are.
        """
        entries = [*people, *((Entry("file", content) for content in self.files) if bar else ()), *self.bars]
        kinds = [one.kind for one in dict.fromkeys(entries)]
        kept = {kind: kinds.count(kind) for kind in blocklist.KINDS if kind in kinds}
        said = {"rows": lost, "contents": self.contents, "files": list(self.files), "barred": kept}
        made = now()
        event = history.insert(connection, "forget", said, made)
        if entries:
            blocklist.insert(connection, event, entries)
        stay = len(self.files) - lost.get("files", 0)
        contents, files, paths = tuple(self.contents), tuple(self.files), tuple(self.paths)
        return Gone(event, made, lost, self.pictures, contents, files, stay, kept, paths)


def forget_sets(
    connection: sqlite3.Connection, path: Path, ids: Sequence[str], bar: bool, people: Sequence[Entry]
) -> Gone:
    """Delete sets with everything that tells of them, and write down that it was done (`Departure.note`)."""
    departure = Departure()
    for set_id in ids:
        if not set_rows.has(connection, set_id):
            raise set_rows.unknown(connection, path, set_id)
        departure.take(connection, path, set_id, bar)
    before = count_rows(connection)
    delete_sets(connection, path, ids)
    mark_wipe_due(connection)
    after = count_rows(connection)
    lost = {table: before[table] - after[table] for table in TABLES if before[table] > after[table]}
    return departure.note(connection, lost, bar, people)


def count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    """How many rows each table has."""
    return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}


def delete_sets(connection: sqlite3.Connection, path: Path, ids: Iterable[str]) -> None:
    """Delete sets with all that is known of them, and the files that they were the last sets of."""
    asked = list(ids)
    for set_id in asked:
        if not set_rows.has(connection, set_id):
            raise set_rows.unknown(connection, path, set_id)
    people.drop_sets(connection, path, asked)
    delete_rows(connection, asked)
    if set_rows.count(connection) == 0:
        connection.execute("DELETE FROM models")
        set_rows.forget_facts(connection, *set_rows.HINTS)


def delete_rows(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Delete those of some sets that are there, with all that is known of them but decisions."""
    # A file's path may name a person. One in which no face was ever found has no set to go with, and stays.
    files = set().union(*(media.linked(connection, set_id) for set_id in ids))
    # Faces, sightings, vectors and links go by their foreign keys.
    connection.executemany("DELETE FROM sets WHERE id = ?", ((set_id,) for set_id in ids))
    set_rows.note_changed(connection, ids)
    media.delete_pairs_of(connection, ids)
    media.delete_unlinked(connection, files)
    if set_rows.count(connection) == 0:
        # An empty gallery takes any kind of face again.
        set_rows.forget_facts(connection, "descriptor", "dimension")


# Other galleries.


@dataclass(frozen=True)
class Copy:
    """Another gallery, and whether it holds what was forgotten: one of the words above."""

    path: str
    state: str


def find_copies(
    gallery: Path, backups: Iterable[str], ids: Collection[str], contents: Collection[str]
) -> list[Copy]:
    """Look into the backups that are known, and into every gallery in the folder of this one.

    A restore or an upgrade leaves the earlier file beside the gallery. What a killed backup left unfinished
    is swept, where that can be told from one that is being made.
    """
    own = gallery.resolve()
    known = list(dict.fromkeys(map(Path, backups)))
    beside: list[Path] = []
    for folder in dict.fromkeys([own.parent, *(path.parent for path in known)]):
        atomic.sweep(folder)
        with suppress(OSError):
            near = sorted(folder.iterdir()) if folder == own.parent else []
            near += sorted(folder.glob(f"{atomic.NEW_GALLERY}*/new/*"))
            beside += [path for path in near if (path.is_file() and is_gallery(path)) or is_split(path)]
    found = []
    for path in dict.fromkeys([*known, *beside]):
        with suppress(OSError):
            if path.resolve() == own:
                continue
        if not path.exists():
            found.append(Copy(str(path), MISSING))
        elif (held := _holds_any(path, ids, contents)) is not False:
            found.append(Copy(str(path), UNREADABLE if held is None else HOLDS))
    return found


def _holds_any(path: Path, ids: Collection[str], contents: Collection[str]) -> bool | None:
    """Whether a gallery, split ones among them, has one of the sets; None if a file does not say."""
    files = shard_files(path) if path.is_dir() else [path]
    each = [_file_holds(one, ids, contents) for one in files]
    return True if True in each else None if None in each or not each else False


def _file_holds(path: Path, ids: Collection[str], contents: Collection[str]) -> bool | None:
    """Whether a gallery has one of the sets, by name or content; None if it does not say."""
    journal = Path(f"{path}-wal")
    # Without a journal the file can be read as it lies, which leaves no trace beside a backup.
    how = "mode=ro" if journal.exists() and journal.stat().st_size else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            rows = connection.execute("SELECT id, content FROM sets")
            return any(set_id in ids or content in contents for set_id, content in rows)
    except (sqlite3.Error, UnicodeDecodeError, OSError):
        return None
