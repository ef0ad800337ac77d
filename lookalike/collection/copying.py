"""Copying: a gallery file as it is at one moment, whole, into another file; and that file into its place.

SQLite's backup API copies page by page; a transaction held meanwhile makes it one version.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from lookalike import disk
from lookalike.collection import connections, purge
from lookalike.collection.connections import Connection
from lookalike.collection.failures import BUSY, in_words, primary_code
from lookalike.errors import Conflict, StorageFailed
from lookalike.progress import Track, silent

# 16 MB at a time: often enough to show progress.
PAGES: Final = 1024
BESIDE: Final = ("", "-wal", "-shm", "-journal")


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """A name for a new file beside `path`; at the end of the block, that name goes."""
    name = path.parent / f".new-gallery-{disk.beside(path).name.removeprefix('.writing-')}"
    try:
        yield name
    finally:
        for suffix in BESIDE:
            disk.delete(Path(f"{name}{suffix}"))


def fill(source: Connection, target: Path, track: Track = silent, is_held: bool = False) -> None:
    """Copy the gallery that a connection sees into a new file.

    Parameters
    ----------
    source : Connection
    target : Path
        A new file; it is on the disk when this returns.
    track : callable
        Shows progress, in pages.
    is_held : bool
        Whether the connection is in a transaction already, one that reads.
    """
    disk.create(target)
    if not is_held:
        source.execute("BEGIN")
    try:
        # SQLite chooses the version at the first read, not at BEGIN.
        source.execute("SELECT count(*) FROM facts").fetchone()
        (pages,) = source.execute("PRAGMA page_count").fetchone()
        with closing(sqlite3.connect(target, isolation_level=None)) as copy:
            _copy(source, copy, track, -(-pages // PAGES))
            # Pages that a removal left unwiped were copied too: a copy does not keep what its gallery forgot.
            purge.wipe(copy, 0.0)
            copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        if not is_held and source.in_transaction:
            source.execute("ROLLBACK")
    disk.sync(target)


def _copy(source: Connection, copy: sqlite3.Connection, track: Track, steps: int) -> None:
    shown = iter(track(range(steps), "copying", steps))
    try:
        source.backup(copy, pages=PAGES, progress=lambda *_: next(shown, None))
    finally:
        # A bar that is left half-way stays on the screen.
        for _ in shown:
            pass


@contextmanager
def changed(path: Path) -> Iterator[sqlite3.Connection]:
    """A finished copy to be changed in one transaction; it is whole, and on the disk, after the block."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    disk.sync(path)


@contextmanager
def alone(path: Path, wait: float) -> Iterator[tuple[Connection, BinaryIO]]:
    """A gallery that nobody else has open, nor can read or write until the block has ended; and its bytes.

    Leaving the WAL makes SQLite fold the journal into the file, which only the last one to have it open can
    do; opening the gallery again brings it back.

    Raises
    ------
    GalleryUnreadable
        If it cannot be opened: then there is nothing to be alone with.
    StorageFailed
        If others do not close it within the time.
    """
    # Opened first and closed last: closing any handle of a file drops all locks that a process has on it.
    with in_words(path), path.open("rb") as file:
        connections.check_file(path)
        with closing(connections.connect(path, wait)) as connection:
            _wait_until_alone(connection, path, wait)
            yield connection, file


def _wait_until_alone(connection: Connection, path: Path, wait: float) -> None:
    purge.wipe(connection, 0.0)
    until = time.monotonic() + wait
    while not _is_last(connection):
        if time.monotonic() > until:
            raise StorageFailed(
                f"{path} is in use by another process (waited {wait:g} s): end that, then repeat"
            )
        time.sleep(0.05)
    connection.execute("BEGIN EXCLUSIVE")
    connections.check_same(connection, path)


def _is_last(connection: Connection) -> bool:
    try:
        return bool(connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete")
    except sqlite3.OperationalError as error:
        if primary_code(error) in BUSY:
            return False
        raise


def put(new: Path, path: Path, kept: Path | None) -> None:
    """Put a finished file in the place of a gallery, which is kept under another name if one is given.

    At every moment there is a whole gallery under the old name (except where the file system has no links).
    """
    disk.sync(new)
    # Not `disk.publish`, which syncs: closing a handle of the old file would drop the lock on it.
    if kept is not None and not disk.link(path, kept):
        raise Conflict(f"{kept} is there already: move it away, then repeat")
    disk.replace(new, path)


def put_over_damaged(new: Path, path: Path, kept: Path) -> None:
    """As `put`, where the old file cannot be opened; its journal goes with it."""
    if not disk.publish(path, kept):
        raise Conflict(f"{kept} is there already: move it away, then repeat")
    journal = Path(f"{path}-wal")
    if journal.exists():
        # First, since SQLite would replay it into the new file.
        disk.rename(journal, Path(f"{kept}-wal"))
    disk.delete(Path(f"{path}-shm"))
    disk.replace(new, path)


def free(path: Path, suffix: str) -> Path:
    """A name that is not taken: the path with a suffix, and a number where that is taken."""
    number = 1
    while True:
        found = Path(f"{path}.{suffix}" + (f"-{number}" if number > 1 else ""))
        if not found.exists() and not found.is_symlink():
            return found
        number += 1


def sha256(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
