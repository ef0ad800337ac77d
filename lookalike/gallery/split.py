"""Split: a gallery that version 0.9, 0.10 or 0.11 spread over several files, brought back into one.

Such a gallery is a folder with a manifest and a gallery file for each shard. What speaks of several sets
(decisions), of the gallery as a whole (history, backups, hints) or of what may enter it (barred) lies in
shard 0, which also says what an interrupted change still owes to the other shards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lookalike import atomic
from lookalike.errors import (
    BadInput,
    Conflict,
    GalleryUnreadable,
    NotFound,
    StorageFailed,
    damaged_rows,
    in_words,
)
from lookalike.gallery import backup, deletion, history, media, models, schema, set_rows
from lookalike.gallery.connection import (
    MANIFEST,
    Connection,
    check_file,
    connect,
    create,
    is_split,
    is_writable,
)
from lookalike.progress import Track, silent
from lookalike.resources import Need, check

# Of the manifest.
FORMAT: Final = 1
# What an interrupted change says in shard 0: sets leave; sets come, all or none; another model is used.
INTENT: Final = "intent"
LEAVE, ARRIVE, USE = "leave", "arrive", "use"
# Facts of shard 0 about the faces of all shards, by the names that they have in a gallery of one file.
KIND: Final = {"descriptor": "collection_descriptor", "dimension": "collection_dimension"}
OF_THE_WHOLE: Final = ("decisions", "decision_sets", "events", "backups", "barred")
# Tables of which every row of every shard is copied.
COUNTED: Final = ("sets", "faces", "sightings", "vectors", "set_files")

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Merged:
    """What was written: the file, and how many sets of how many files it holds."""

    path: Path
    sets: int
    files: int


def merge(folder: str | Path, path: str | Path, track: Track = silent, wait: float = 30.0) -> Merged:
    """Copy a split gallery into a new file of its own; the folder stays as it is.

    Everything is in the file: sets with pictures, sightings, vectors of other models, films and photos,
    pairs, decisions, history, what is barred, hints. Derived tables are made again when they are needed. The
    folder is noted as a backup, so that `forget` names it. Who is killed at any moment has made no file.

    Raise BadInput if the folder is no split gallery; Conflict if there is something at `path` already;
    NotFound, GalleryUnreadable or StorageFailed if there is no such folder, a file is missing or damaged, or
    the disk refuses.
    """
    source, target = Path(folder), Path(path).absolute()
    if not source.exists():
        raise NotFound(f"there is no folder {source}: name a gallery that an earlier version split")
    if not is_split(source):
        raise BadInput(f"{source} is no split gallery: name the folder that `lookalike split` once made")
    if target.exists() or target.is_symlink():
        raise Conflict(f"{path} is there already, and nothing is overwritten: choose another name")
    if not target.parent.is_dir():
        raise NotFound(f"the folder {target.parent} does not exist: make it first, or choose another place")
    if Path(f"{target}-wal").exists():
        raise StorageFailed(
            f"{target}-wal is left from a gallery that is gone: bring that back, or delete it"
        )
    with in_words(source):
        collection, files = _manifest(source)
        size = sum(one.stat().st_size for one in files)
    check("merging the gallery", Need(0, size), target.parent)
    with in_words(target), backup.aside(target) as new:
        create(new)
        with closing(connect(new, 0.0)) as whole:
            whole.execute("BEGIN IMMEDIATE")
            with _held(files[0], collection, 0, wait) as first:
                finish = _unfinished(first, files, collection, wait)
                copier = _Copier(whole)
                for place in track(range(len(files)), "merging files", len(files)):
                    with (
                        _held(files[place], collection, place, wait) if place else nullcontext(first) as shard
                    ):
                        finish(shard, files[place])
                        copier.copy(shard, files[place])
                copier.finish(first, source)
            whole.execute("COMMIT")
            whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            sets = set_rows.count(whole)
        if not atomic.publish(new, target):
            raise Conflict(f"{path} was made meanwhile by somebody else: choose another name")
    return Merged(target, sets, len(files))


def _manifest(folder: Path) -> tuple[str, list[Path]]:
    """The identity of a split gallery, and its files in order."""
    path = folder / MANIFEST
    if not path.exists():
        raise GalleryUnreadable(
            f"{folder} was never finished by `lookalike split`: use the gallery it was made from"
        )
    try:
        said = json.loads(path.read_bytes())
        collection, names = said["collection"], said["files"]
        wanted = [f"shard-{place:03d}.gallery" for place in range(len(names))]
        if said["format"] != FORMAT or not isinstance(collection, str) or not names or names != wanted:
            raise ValueError("it does not tell which files make the gallery")
    except (ValueError, KeyError, TypeError, RecursionError) as reason:
        raise GalleryUnreadable(f"{path} is damaged ({reason}): restore it from a backup") from reason
    for name in names:
        if not (folder / name).is_file():
            raise GalleryUnreadable(
                f"{folder} lacks {name}, one of its {len(names)} files: bring it back, or use a backup"
            )
    return collection, [folder / name for name in names]


@contextmanager
def _held(path: Path, collection: str, place: int, wait: float) -> Iterator[Connection]:
    """One shard at one moment; what the block changes is taken back.

    Whoever changes several shards, or decides something, changes shard 0 too, which is held as long as any.
    """
    with in_words(path):
        check_file(path)
        with closing(connect(path.absolute(), wait)) as connection:
            connection.execute("BEGIN IMMEDIATE" if is_writable(path) else "BEGIN")
            belongs = set_rows.fact(connection, "shard") or ""
            if set_rows.fact(connection, "collection") != collection or belongs.split(" ")[0] != str(place):
                raise GalleryUnreadable(
                    f"{path} is not file {place} of this gallery: bring that back, or use a backup"
                )
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")


def _unfinished(
    first: Connection, files: list[Path], collection: str, wait: float
) -> Callable[[Connection, Path], None]:
    """What an interrupted change owes to each shard, as something that is done before the shard is read."""
    text = set_rows.fact(first, INTENT)
    if text is None:
        return lambda connection, path: None
    try:
        kind, names, _ = json.loads(text)
        if kind not in (LEAVE, ARRIVE, USE) or not names or not all(isinstance(one, str) for one in names):
            raise ValueError(f"it says {kind!r}")
    except (ValueError, TypeError, RecursionError) as reason:
        what = f"it does not say what is to be finished ({reason})"
        raise damaged_rows(files[0], what, "restore it from a backup") from reason
    if not is_writable(files[0]):
        raise StorageFailed(
            f"a change of {files[0].parent} was interrupted and cannot be finished where it is read-only: "
            f"copy the folder to where it may be written, and merge that"
        )
    if kind == USE:
        return lambda connection, path: _use(connection, path, names[0])
    if kind == ARRIVE and _are_there(first, files, collection, wait, set(names)):
        return lambda connection, path: None
    return lambda connection, path: _leave(connection, names)


def _are_there(first: Connection, files: list[Path], collection: str, wait: float, names: set[str]) -> bool:
    """Whether all sets are there that came into several shards."""
    names = {one for one in names if not set_rows.has(first, one)}
    for place, path in enumerate(files[1:], 1):
        with _held(path, collection, place, wait) as shard:
            names = {one for one in names if not set_rows.has(shard, one)}
    return not names


def _use(connection: Connection, path: Path, name: str) -> None:
    """Let a shard use another model, if it does not yet; one without sets has none."""
    if set_rows.count(connection):
        models.use(connection, path, name)
    else:
        connection.execute("DELETE FROM models WHERE name = ?", (name,))


def _leave(connection: Connection, ids: list[str]) -> None:
    """Take sets out of a shard that were removed already as far as shard 0 is concerned."""
    if any(set_rows.has(connection, one) or media.names_pair_of(connection, one) for one in ids):
        deletion.delete_rows(connection, ids)


class _Copier:
    """Copies shards into one new file, in one transaction of it: row by row, with new numbers."""

    def __init__(self, whole: Connection) -> None:
        self._whole = whole
        self._rows = dict.fromkeys(COUNTED, 0)
        self._contents: dict[str, str] = {}

    def copy(self, shard: Connection, path: Path) -> None:
        """Copy the sets of a shard with all that is known of them."""
        sets, faces, vectors = (self._last(table) for table in ("sets", "faces", "vectors"))
        known, files = self._models(shard), self._files(shard)
        self._insert("sets", ((row[0] + sets, *row[1:]) for row in _all(shard, "sets")))
        self._insert("faces", ((row[0] + faces, row[1] + sets, *row[2:]) for row in _all(shard, "faces")))
        self._insert("sightings", ((row[0] + faces, row[1]) for row in _all(shard, "sightings")))
        said = _all(shard, "vectors")
        try:
            rows = ((row[0] + vectors, row[1] + faces, known[row[2]], *row[3:]) for row in said)
            self._insert("vectors", rows)
            self._insert("set_files", ((row[0] + sets, files[row[1]]) for row in _all(shard, "set_files")))
        except KeyError as reason:
            raise damaged_rows(path, "it names a model or a file that it lacks", "use a backup") from reason
        self._insert("apart", _all(shard, "apart"))
        self._contents |= set_rows.contents(shard, path)
        for table in COUNTED:
            self._rows[table] += _count(shard, table)

    def finish(self, first: Connection, folder: Path) -> None:
        """Copy from shard 0 what speaks of the gallery as a whole, and see that nothing is lost."""
        for table in OF_THE_WHOLE:
            self._insert(table, _all(first, table))
        # A number that was used is never used again.
        self._whole.execute("DELETE FROM sqlite_sequence")
        self._insert("sqlite_sequence", _all(first, "sqlite_sequence"))
        history.note_backup(self._whole, folder.resolve())
        named = {name: name for name in ("created", *set_rows.HINTS)} | (KIND if self._contents else {})
        if not self._contents:
            self._whole.execute("DELETE FROM models")
        facts = [(name, said) for name, of in named.items() if (said := set_rows.fact(first, of)) is not None]
        self._whole.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts)
        schema.seal(self._whole)
        wrong = [table for table in COUNTED if _count(self._whole, table) != self._rows[table]]
        if dict(sorted(self._contents.items())) != set_rows.contents(self._whole, folder):
            wrong = ["sets"]
        if wrong:
            raise GalleryUnreadable(
                f"{folder} is damaged (its files contradict each other in {', '.join(wrong)}): use a backup"
            )

    def _models(self, shard: Connection) -> dict[int, int]:
        """The number that each model of a shard has in the file."""
        for _, name, dimension in _all(shard, "models"):
            row = (name, dimension)
            self._whole.execute("INSERT OR IGNORE INTO models (name, dimension) VALUES (?, ?)", row)
        return self._numbers(shard, "models", "name")

    def _files(self, shard: Connection) -> dict[int, int]:
        """The number that each film or photo of a shard has in the file; one of two shards is one."""
        for row in _all(shard, "files"):
            # What the versions that split galleries did not know of files is behind what they knew.
            names = [said[1] for said in self._whole.execute("PRAGMA table_info(files)")][1 : len(row)]
            asked = f"INSERT OR IGNORE INTO files ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
            self._whole.execute(asked, row[1:])
        return self._numbers(shard, "files", "content")

    def _numbers(self, shard: Connection, table: str, column: str) -> dict[int, int]:
        asked = f"SELECT {column}, number FROM {table}"
        here = dict(self._whole.execute(asked))
        return {number: here[name] for name, number in shard.execute(asked)}

    def _insert(self, table: str, rows: Iterator[Row]) -> None:
        first = next(rows, None)
        if first is not None:
            statement = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(first))})"
            self._whole.execute(statement, first)
            self._whole.executemany(statement, rows)

    def _last(self, table: str) -> int:
        return int(self._whole.execute(f"SELECT ifnull(max(number), 0) FROM {table}").fetchone()[0])


def _all(connection: Connection, table: str) -> Iterator[Row]:
    return iter(connection.execute(f"SELECT * FROM {table}"))


def _count(connection: Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
