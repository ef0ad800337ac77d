"""Dividing: one gallery file copied into the shards of a collection, row by row as they are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from lookalike import disk
from lookalike.collection import connections, events, media, membership, merging, placing, queries, sealing
from lookalike.collection.connections import Connection
from lookalike.collection.failures import in_words
from lookalike.collection.membership import Membership

# Rows of the sets that lie here, found from the sets on: nothing is read of the others.
FACES: Final = "temp.here AS h CROSS JOIN source.faces AS f ON f.set_number = h.number"
COPIES: Final = (
    "INSERT INTO sets SELECT s.* FROM temp.here AS h CROSS JOIN source.sets AS s ON s.number = h.number",
    f"INSERT INTO faces SELECT f.* FROM {FACES}",
    f"INSERT INTO sightings SELECT s.* FROM {FACES} CROSS JOIN source.sightings AS s ON s.face = f.number",
    "INSERT INTO models SELECT * FROM source.models",
    f"INSERT INTO vectors SELECT v.* FROM {FACES} CROSS JOIN source.vectors AS v ON v.face = f.number",
    # A film whose sets lie in two shards has an entry in both.
    "INSERT OR IGNORE INTO files SELECT x.* FROM temp.here AS h"
    " CROSS JOIN source.set_files AS s ON s.set_number = h.number"
    " CROSS JOIN source.files AS x ON x.number = s.file_number",
    "INSERT INTO files SELECT x.* FROM temp.alone AS a CROSS JOIN source.files AS x ON x.number = a.number",
    "INSERT INTO set_files SELECT s.* FROM temp.here AS h"
    " CROSS JOIN source.set_files AS s ON s.set_number = h.number",
    # A pair lies where its first set does.
    "INSERT INTO apart SELECT a.* FROM temp.here AS h CROSS JOIN source.sets AS s ON s.number = h.number"
    " CROSS JOIN source.apart AS a ON a.first = s.id",
)
# Only in shard 0. A number that was used is never used again, which SQLite keeps in `sqlite_sequence`.
OF_THE_WHOLE: Final = (
    *(
        f"INSERT INTO {table} SELECT * FROM source.{table}"
        for table in ("decisions", "decision_sets", "events", "backups", "barred")
    ),
    "DELETE FROM sqlite_sequence",
    "INSERT INTO sqlite_sequence SELECT * FROM source.sqlite_sequence",
)


class Shares(NamedTuple):
    """What lies where: for each shard, row numbers of its sets and of its files without sets."""

    sets: Sequence[Sequence[int]]
    files: Sequence[Sequence[int]]


def shares(source: Connection, shards: int) -> Shares:
    """Assign every set, and every file without sets, to a shard."""
    found = Shares([[] for _ in range(shards)], [[] for _ in range(shards)])
    for number, set_id in source.execute("SELECT number, id FROM sets"):
        found.sets[placing.place_of(set_id, shards)].append(number)  # type: ignore[attr-defined]
    asked = "SELECT number, content FROM files WHERE number NOT IN (SELECT file_number FROM set_files)"
    for number, content in source.execute(asked):
        found.files[placing.place_of_file(content, shards)].append(number)  # type: ignore[attr-defined]
    return found


def write_shard(
    source: Connection, path: Path, target: Path, told: Membership, place: int, given: Shares
) -> None:
    """Write one shard; it is whole, and on the disk, when this returns.

    Parameters
    ----------
    source : Connection
        The gallery, in a transaction, so that nobody changes it.
    path : Path
        Its file, of today's format.
    target : Path
        The new file.
    told : Membership
    place : int
    given : Shares
    """
    connections.create(target)
    how = "mode=ro" if source.frozen is None else "mode=ro&immutable=1"
    with in_words(target), closing(connections.connect(target, 0.0)) as shard:
        shard.execute("PRAGMA temp_store = MEMORY")
        shard.execute("ATTACH DATABASE ? AS source", (f"{path.absolute().as_uri()}?{how}",))
        for table, numbers in (("here", given.sets[place]), ("alone", given.files[place])):
            shard.execute(f"CREATE TEMP TABLE {table} (number INTEGER PRIMARY KEY)")
            shard.executemany(f"INSERT INTO temp.{table} VALUES (?)", ((one,) for one in numbers))
        shard.execute("BEGIN IMMEDIATE")
        for statement in (*COPIES, *(OF_THE_WHOLE if place == 0 else ())):
            shard.execute(statement)
        _write_facts(source, shard, told, place)
        if place == 0:
            # The gallery still holds everything: `forget` is to name it.
            events.note_backup(shard, path.resolve())
        shard.execute("COMMIT")
        shard.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    disk.sync(target)


def _write_facts(source: Connection, shard: Connection, told: Membership, place: int) -> None:
    """What the file says of itself: when the collection was made, what made its faces, where it belongs."""
    names = ["created", *(("descriptor", "dimension") if merging.has_sets(shard) else ())]
    names += queries.HINTS if place == 0 else ()
    facts = [(name, said) for name in names if (said := queries.fact(source, name)) is not None]
    shard.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts)
    if place == 0 and merging.has_sets(source):
        dimension = queries.fact(source, "dimension")
        merging.claim(shard, (queries.fact(source, "descriptor"), int(dimension) if dimension else None))
    membership.join(shard, told, place)
    sealing.seal(shard)


def lost(source: Connection, path: Path, folder: Path, told: Membership) -> str:
    """What the shards lack of a gallery, in words; empty if they hold all of it."""
    contents: dict[str, str] = {}
    rows: dict[str, int] = dict.fromkeys(COUNTED, 0)
    files: set[str] = set()
    for name in told.files:
        with in_words(folder / name), closing(connections.connect(folder / name, 0.0)) as shard:
            contents |= queries.contents(shard, folder / name)
            rows = {table: rows[table] + _count(shard, table) for table in COUNTED}
            files |= set(media.contents(shard))
    if dict(sorted(contents.items())) != queries.contents(source, path):
        return "the sets are not those of the gallery"
    wrong = [table for table in COUNTED if rows[table] != _count(source, table)]
    if wrong or files != set(media.contents(source)):
        return f"entries of {', '.join(wrong) or 'files'} lead nowhere"
    return ""


COUNTED: Final = (
    "faces",
    "sightings",
    "vectors",
    "set_files",
    "apart",
    "decisions",
    "decision_sets",
    "barred",
)


def _count(connection: Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
