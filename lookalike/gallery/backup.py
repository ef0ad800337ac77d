"""Back up: a whole copy of a gallery while others write it, and back again; and upgrades.

SQLite's backup API copies page by page; a transaction held meanwhile makes it one version.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from lookalike import atomic
from lookalike.errors import (
    BUSY,
    BadInput,
    Conflict,
    GalleryUnreadable,
    LookalikeError,
    NotFound,
    StorageFailed,
    in_words,
    primary_code,
)
from lookalike.gallery import checks, history, journal, opened, schema, set_rows
from lookalike.gallery.connection import Connection, check_file, check_same, check_whole, connect, is_writable
from lookalike.gallery.gallery import Gallery, open_gallery
from lookalike.indexing.build import tables_that_fit
from lookalike.indexing.store import TableStore
from lookalike.progress import Track, silent

# 16 MB at a time: often enough to show progress.
PAGES: Final = 1024


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """A name for a new file in a hidden folder beside `path`; at the end of the block, that name goes."""
    with atomic.folder_aside(path.parent) as folder:
        # Not in that folder itself, which is locked: whoever closes a gallery locks the one that it is in.
        atomic.make_folder(folder / "new")
        yield folder / "new" / "gallery"


def fill(source: Connection, target: Path, track: Track = silent, is_held: bool = False) -> None:
    """Copy the gallery that a connection, in a transaction if `is_held`, sees into a new file on the disk."""
    atomic.create(target)
    if not is_held:
        source.execute("BEGIN")
    try:
        # SQLite chooses the version at the first read, not at BEGIN.
        source.execute("SELECT count(*) FROM facts").fetchone()
        (pages,) = source.execute("PRAGMA page_count").fetchone()
        with closing(sqlite3.connect(target, isolation_level=None)) as copy:
            _copy(source, copy, track, -(-pages // PAGES))
            # Pages that a removal left unwiped were copied too: a copy does not keep what its gallery forgot.
            opened.wipe_file(copy, 0.0)
            # A gallery of its own from now on, to which no journal of the other belongs.
            if journal.found(copy) is not None:
                journal.count(copy, is_open=False, anew=True)
            copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        if not is_held and source.in_transaction:
            source.execute("ROLLBACK")
    atomic.sync(target)


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
        journal.count(connection, is_open=False)
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    atomic.sync(path)


@contextmanager
def alone(path: Path, wait: float) -> Iterator[tuple[Connection, BinaryIO]]:
    """A gallery that nobody else has open, nor can read or write until the block has ended; and its bytes.

    Leaving the WAL makes SQLite fold the journal into the file, which only the last one to have it open can
    do; opening the gallery again brings it back. The file says before that it needs no journal: whoever dies
    here leaves it whole. Raise GalleryUnreadable if it cannot be opened, and so there is nothing to be alone
    with; StorageFailed if others do not close it within the time.
    """
    # Opened first and closed last: closing any handle of a file drops all locks that a process has on it.
    with in_words(path), path.open("rb") as file:
        check_file(path)
        with closing(connect(path, wait)) as connection:
            _wait_until_alone(connection, path, wait)
            yield connection, file


def _wait_until_alone(connection: Connection, path: Path, wait: float) -> None:
    opened.wipe_file(connection, 0.0)
    until = time.monotonic() + wait
    # A file that lacks its journal is only read, and says so as long as it does.
    while not ((connection.frozen is not None or connection.settle()) and _is_last(connection)):
        if time.monotonic() > until:
            raise StorageFailed(
                f"{path} is in use by another process (waited {wait:g} s): end that, then repeat"
            )
        time.sleep(0.05)
    connection.execute("BEGIN EXCLUSIVE")
    check_same(connection, path)


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
    atomic.sync(new)
    # Not `disk.publish`, which syncs: closing a handle of the old file would drop the lock on it.
    if kept is not None and not atomic.link(path, kept):
        raise Conflict(f"{kept} is there already: move it away, then repeat")
    atomic.replace(new, path)


def put_over_damaged(new: Path, path: Path, kept: Path) -> None:
    """As `put`, where the old file cannot be opened; its journal goes with it."""
    if not atomic.publish(path, kept):
        raise Conflict(f"{kept} is there already: move it away, then repeat")
    if journal.size_of(path) is not None:
        # First, since it is not of the new file.
        atomic.rename(journal.path_of(path), journal.path_of(kept))
    atomic.delete(Path(f"{path}-shm"))
    atomic.replace(new, path)


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


# Retelling: what befell a gallery is told by the copy that takes its place.


# Kept of the gallery that was replaced: what it went through must not be forgotten by going back in time.
CARRIED: Final = ("events", "backups", "barred")


def tell(
    new: Path,
    backup: str,
    old: Connection | None = None,
    kept: Path | None = None,
) -> tuple[str, ...]:
    """Write into a copy that it was restored, and what befell the gallery before; return who is back.

    `backup` is the SHA-256 of what it is a copy of, `old` what it replaces, `kept` where that is kept.
    """
    with changed(new) as connection:
        # An old backup must not make a gallery forget what it bars.
        if old is not None and schema.found(old) >= history.SINCE:
            schema.migrate(connection)
            _carry(old, connection)
        if schema.found(connection) < history.SINCE:
            return ()
        held = set_rows.contents(connection, new)
        history.insert(connection, "restore", {"backup": backup, "sets": len(held)})
        if kept is not None:
            history.note_backup(connection, kept)
        forgotten: set[str] = set()
        for event in history.everything(connection, new):
            if event.kind == "forget":
                forgotten |= {str(each) for each in event.said.get("contents", ())}
        return tuple(set_id for set_id, content in held.items() if content in forgotten)


def _carry(old: Connection, new: sqlite3.Connection) -> None:
    """Copy history, backups and what is barred, if the backup is an earlier state of the same gallery."""
    try:
        rows = {name: old.execute(f"SELECT * FROM {name}").fetchall() for name in CARRIED}
    except sqlite3.DatabaseError:
        return  # damaged, which may be why it is replaced
    for name in CARRIED:
        known = {row[0]: row for row in rows[name]}
        there = new.execute(f"SELECT * FROM {name}").fetchall()
        # What was taken back meanwhile (a bar) is no contradiction; another entry of that number is.
        if any(known.get(row[0], row) != row for row in there):
            return
    created = "SELECT value FROM facts WHERE name = 'created'"
    if old.execute(created).fetchone() != new.execute(created).fetchone():
        return
    for name in CARRIED:
        numbers = {number for (number,) in new.execute(f"SELECT number FROM {name}")}
        more = [row for row in rows[name] if row[0] not in numbers]
        if more:
            marks = ", ".join("?" * len(more[0]))
            new.executemany(f"INSERT INTO {name} VALUES ({marks})", more)


@dataclass(frozen=True)
class BackedUp:
    """A backup that was made."""

    path: Path
    sets: int  # how many it holds
    is_noted: bool  # whether the gallery knows of it, so that `forget` can name it


@dataclass(frozen=True)
class Restored:
    """A gallery that was restored."""

    sets: int  # how many it holds
    kept: Path | None  # where the gallery lies that was there before
    back: tuple[str, ...]  # sets that were forgotten after the backup was made, and are back


def backup(gallery: Gallery, destination: str | Path, track: Track = silent) -> BackedUp:
    """Copy a gallery as it is now into a new file; others may go on reading and writing.

    In a folder, the file is called after the gallery and the time. Raise Conflict if it is there already:
    nothing is ever overwritten; StorageFailed if the disk refuses, and then there is no backup.
    """
    target = _target(gallery.path, Path(destination)).absolute()
    if target.exists() or target.is_symlink():
        raise Conflict(f"{target} is there already, and a backup overwrites nothing: choose another name")
    _check_folder(target)
    # Noted before it is there: a note too many is harmless, a backup that nobody knows of is not.
    note = _noted(gallery, target)
    try:
        with in_words(target), aside(target) as working:
            with gallery._opened.stream() as connection:
                fill(connection, working, track, is_held=True)
                sets = set_rows.count(connection)
            if not atomic.publish(working, target):
                raise Conflict(f"{target} was made meanwhile by somebody else: choose another name")
    except BaseException:
        if note is not None:
            with suppress(LookalikeError), gallery._opened.transaction(writing=True) as connection:
                history.forget_backup(connection, note)
        raise
    return BackedUp(target, sets, note is not None)


def restore(
    source: str | Path, path: str | Path, replace: bool = False, track: Track = silent, wait: float = 30.0
) -> Restored:
    """Make a gallery of a backup, which stays as it is, after all of it was read and found good.

    With `replace`, a gallery that is there is kept beside the new one as ``.before-restore``; until nobody
    else uses it, `wait` seconds pass at most.

    Raises
    ------
    BadInput, Conflict
        If `path` is the backup itself, or a folder; or something is there and may not be replaced.
    NotFound, GalleryUnreadable, StorageFailed
        If there is no backup or no folder to put it in, it is damaged, the disk refuses, or others use the
        gallery: nothing is changed.
    """
    origin, target = Path(source), Path(path).absolute()
    if not origin.exists():
        raise NotFound(f"there is no backup at {origin}: name the file that `lookalike backup` made")
    with in_words(origin):
        check_file(origin)
        if target.exists() and target.samefile(origin):
            raise BadInput(f"{origin} cannot be restored to itself: name another gallery")
    if target.is_dir():
        raise BadInput(f"{path} is a folder: name the gallery file to make")
    is_there = target.exists() or target.is_symlink()
    if is_there and not replace:
        raise Conflict(
            f"{path} is there already: restore to another name, or replace it (--replace), "
            f"which keeps the old one"
        )
    _check_folder(target)
    target = target.resolve()  # a link leads to its gallery, which is what is replaced
    if not is_there and journal.size_of(target):
        raise StorageFailed(
            f"{target}-wal is left from a gallery that is gone: bring that back, or delete it"
        )
    with in_words(target), aside(target) as new:
        with in_words(origin), closing(connect(origin.absolute(), wait)) as connection:
            fill(connection, new, track)
        _check(new, origin, track)
        if is_there:
            kept, back = _replace(new, origin, target, wait)
        else:
            kept, back = None, ()
            tell(new, sha256(origin))
            if not atomic.publish(new, target):
                raise Conflict(f"{path} was made meanwhile by somebody else: choose another name")
    return _restored(target, kept, back)


def _restored(target: Path, kept: Path | None, back: tuple[str, ...]) -> Restored:
    with open_gallery(target) as gallery:
        store = TableStore.beside(target)
        # Tables of the gallery that was there may know sets that this one does not.
        store.erase_others([one.path for one in tables_that_fit(gallery, store.stored())])
        return Restored(len(gallery), kept, back)


def _target(gallery: Path, destination: Path) -> Path:
    if not destination.is_dir():
        return destination
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ")
    return destination / f"{gallery.stem}-{when}{gallery.suffix or '.gallery'}"


def _check_folder(target: Path) -> None:
    if not target.parent.is_dir():
        raise NotFound(f"the folder {target.parent} does not exist: make it first, or choose another place")


def _noted(gallery: Gallery, target: Path) -> int | None:
    """Note a backup in the gallery; not in one of an older format, which that would change, or read-only."""
    if int(gallery.facts()["format"] or 0) < history.SINCE or not is_writable(gallery.path):
        return None
    with gallery._opened.transaction(writing=True) as connection:
        return history.note_backup(connection, target)


def _check(new: Path, origin: Path, track: Track) -> None:
    wrong = checks.findings(new, track=track)
    if wrong:
        raise GalleryUnreadable(
            f"{origin} is damaged ({wrong[0].what}): nothing was changed; use another backup"
        )


def _replace(new: Path, origin: Path, target: Path, wait: float) -> tuple[Path, tuple[str, ...]]:
    kept = free(target, "before-restore")
    with ExitStack() as stack:
        try:
            old, _ = stack.enter_context(alone(target, wait))
        except GalleryUnreadable:
            # It is damaged, which is why it is replaced; nothing can be carried over from it.
            back = tell(new, sha256(origin), None, kept)
            put_over_damaged(new, target, kept)
        else:
            back = tell(new, sha256(origin), old, kept)
            put(new, target, kept)
    return kept, back


# Upgrade: bring a gallery to today's format at once; the old file stays until the new one is complete.


@dataclass(frozen=True)
class Upgraded:
    """What became of a gallery: its format before and now, and where the old file is kept, if it is."""

    before: int
    after: int
    kept: Path | None


def upgrade(path: str | Path, keep: bool = True, track: Track = silent, wait: float = 30.0) -> Upgraded:
    """Bring a gallery to today's format.

    A copy is brought to it and read whole, then takes the place of the gallery in one step. Until then the
    gallery is as it was; nobody else can use it meanwhile. With `keep`, the old file is kept beside it, as
    ``.format-3`` for format 3.

    Raises
    ------
    NotFound, GalleryUnreadable, StorageFailed
        If there is no gallery, it is damaged or of a newer format, the disk refuses, or others use it for
        longer than `wait` seconds: nothing is changed.
    """
    if not Path(path).exists():
        raise NotFound(f"there is no gallery at {path}: name the gallery file")
    target = Path(path).resolve()
    with in_words(Path(path)):
        check_file(target)
        with closing(connect(target, wait)) as connection:
            check_whole(connection, Path(path))
            before = schema.found(connection)
    if before == schema.FORMAT:
        return Upgraded(before, before, None)
    kept = free(target, f"format-{before}") if keep else None
    with in_words(Path(path)), alone(target, wait) as (old, file), aside(target) as new:
        before = schema.found(old)  # somebody may have changed it meanwhile, and so upgraded it
        if before == schema.FORMAT:
            return Upgraded(before, before, None)
        # Nobody else has it open and the journal is folded in: its bytes are the gallery.
        atomic.copy_new(new, file)
        with changed(new) as connection:
            schema.migrate(connection)
            history.insert(connection, "upgrade", {"from": before, "to": schema.FORMAT})
            if kept is not None:
                history.note_backup(connection, kept)
            same = set_rows.contents(connection, new) == set_rows.contents(old, target)
        wrong = checks.findings(new, track=track)
        if wrong or not same:
            what = wrong[0].what if wrong else "its sets are not those of the old format"
            raise GalleryUnreadable(
                f"{path} is damaged ({what}) and was left as it is: look at `lookalike verify {path}`"
            )
        put(new, target, kept)
    return Upgraded(before, schema.FORMAT, kept)
