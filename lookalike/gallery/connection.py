"""Connections to the SQLite file of a gallery, checked before it is opened, and shared by threads."""

from __future__ import annotations

import ctypes
import itertools
import logging
import os
import shlex
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lookalike import atomic
from lookalike.errors import (
    BadInput,
    GalleryUnreadable,
    LookalikeError,
    StorageFailed,
    primary_code,
)
from lookalike.gallery import journal, schema

logger = logging.getLogger(__name__)

MAGIC: Final = b"SQLite format 3\0"
# In the folder of a gallery that an earlier version split: when that was done, and before.
MANIFEST: Final = "manifest.json"
UNFINISHED: Final = "unfinished.json"
SETTINGS: Final = (
    "PRAGMA foreign_keys = ON",
    # What is acknowledged survives a power cut, not only a crash of the process.
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    # The journal is brought into the file by us, who look first whether that is still the same file. Where it
    # begins anew nothing of it is left behind its end, so that its size tells how much there is.
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA journal_size_limit = 0",
    # A gallery may come from a stranger: its schema may not call functions, its pages are checked when read.
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)

Identity = tuple[int, int]


class Connection(sqlite3.Connection):
    """A connection that knows which file it opened, and whether that file must not change meanwhile."""

    identity: Identity = (0, 0)
    # When it was last changed, if that must not happen while it is read.
    frozen: tuple[int, int] | None = None
    handle: Identity | None = None
    path: Path | None = None
    lacks: str = ""  # why it can only be read: it has lost its journal
    known: journal.Commit | None = None  # the latest commit that the file by itself was seen at
    commits: int = 0  # transactions that write which it has committed
    counted: int = 0  # rows that were changed in counting commits
    told: journal.Told = journal.Told()  # of which of its commits the file was made to tell
    touched: set[str] | None = None  # sets whose rows it changed, if anybody wants to know
    is_overwritten: bool = False

    def count(self) -> journal.Commit:
        """Count a commit, at the end of its transaction."""
        before = self.total_changes
        own = journal.count(self)
        self.counted += self.total_changes - before
        return own

    def settle(self) -> bool:
        """Bring all of the journal into the file, so that it is whole by itself; False if others use it."""
        if self.frozen is not None or self.path is None or self.is_overwritten or self.in_transaction:
            return False
        before = self.total_changes
        try:
            check_overwritten(self, self.path)
            return journal.settle(self, self.path)
        finally:
            self.counted += self.total_changes - before

    def say_open(self) -> bool:
        """Make the file say that it needs its journal, before its pages are written anew; False if it cannot.

        That of an earlier version says nothing.
        """
        if self.handle is None or self.path is None or journal.found(self) is None:
            return True
        self.execute("BEGIN IMMEDIATE")
        try:
            own = self.count()
            self.execute("COMMIT")
        finally:
            if self.in_transaction:
                self.execute("ROLLBACK")
        self.told = journal.show_open(self, self.path, _OPEN[self.handle].file, own, self.told)
        return self.told.number == own.number

    def _says_open(self) -> bool:
        """Whether the file by itself says that it needs its journal."""
        held = self.handle and _OPEN.get(self.handle)
        with suppress(OSError):
            there = journal.in_file(held.file) if held else None
            return there is not None and there.is_open
        return False

    def close(self) -> None:
        """Close it, the file whole by itself if nobody else has it open; twice does nothing."""
        if self.handle is None or self.path is None or self.frozen is not None:
            super().close()
        else:
            with journal.closing_alone(self.path):
                if not self._closed(self.path, self.handle):
                    return
        handle, self.handle = self.handle, None
        if handle is not None:
            _release(handle)

    def __del__(self) -> None:
        """Keep the journal of what was dropped, or interrupted while closing: SQLite would delete it."""
        if self.handle is not None and self.frozen is None and self._says_open():
            _stay_open(self)
        elif (finish := getattr(super(), "__del__", None)) is not None:  # from Python 3.12 on
            finish()

    def _closed(self, path: Path, handle: Identity) -> bool:
        """Settle and close the file; False if it has to stay open as long as this process lives."""
        is_refused = False
        # What the disk refuses now, whoever opens it next will do: the file says that it needs a journal.
        try:
            self.settle()
        except (sqlite3.Error, OSError, LookalikeError):
            is_refused = self._says_open()
        if self.is_overwritten or is_refused:
            # Closing would bring the journal into a file that is another by now; or delete one that is empty,
            # though the file says that it has one.
            _stay_open(self)
            return False
        super().close()
        with suppress(sqlite3.Error, OSError):
            journal.settle_closed(path, _OPEN[handle].file)
        return True


def _stay_open(
    connection: Connection,
    keep: Callable[[object], None] = ctypes.pythonapi.Py_IncRef,
    as_object: Callable[[object], object] = ctypes.py_object,
) -> None:
    """Let nothing close a connection as long as this process lives; also while Python itself is ending."""
    keep(as_object(connection))


def check_file(path: Path) -> None:
    """Refuse what is no gallery of a format we know, by its first 100 bytes; SQLite is not asked yet."""
    if is_split(path):
        raise split(path)
    if path.is_dir():
        raise GalleryUnreadable(f"{path} is a folder, not a gallery: name the gallery file")
    if not path.is_file():
        raise GalleryUnreadable(f"{path} is not an ordinary file: name the gallery file")
    header = _header_of(path, 100)
    if header is None:
        return
    if not header:
        raise GalleryUnreadable(f"{path} is empty, not a gallery: delete it, then add sets again")
    if not header.startswith(MAGIC):
        raise GalleryUnreadable(f"{path} is not a gallery: name a file that `lookalike add` made")
    if len(header) < 100:
        raise GalleryUnreadable(f"{path} is cut short: restore it from a backup, or add the sets again")
    if int.from_bytes(header[68:72], "big") != schema.APPLICATION_ID:
        raise GalleryUnreadable(f"{path} is an SQLite file of another program: name a gallery")
    check_format(path, int.from_bytes(header[60:64], "big"))


def is_split(path: Path) -> bool:
    """Whether a folder holds a gallery that an earlier version split, as far as its names tell."""
    return (
        path.is_dir()
        and any((path / name).exists() for name in (MANIFEST, UNFINISHED))
        and bool(shard_files(path))
    )


def shard_files(folder: Path) -> list[Path]:
    """The files of a gallery that an earlier version split, whatever its manifest says."""
    return sorted(folder.glob("shard-*.gallery"))


def split(path: Path) -> BadInput:
    """What is to be said of a gallery that an earlier version split, by its folder or one file of it."""
    folder = path if path.is_dir() else path.parent
    return BadInput(
        f"{path} is {'' if path.is_dir() else 'part of '}a gallery that an earlier version split into "
        f"several files: bring it back into one by `lookalike merge {shlex.quote(str(folder))} FILE`"
    )


def check_whole(connection: Connection, path: Path) -> None:
    """Refuse, with what to do, one file of a gallery that an earlier version split."""
    if connection.execute("SELECT 1 FROM facts WHERE name = 'collection'").fetchone() is not None:
        raise split(path)


def is_gallery(path: Path) -> bool:
    """Tell a gallery from any other file or folder by its first bytes."""
    try:
        header = _header_of(path, 100)
    except OSError:
        return False
    if header is None:
        return True
    return header.startswith(MAGIC) and int.from_bytes(header[68:72], "big") == schema.APPLICATION_ID


def check_format(path: Path, found: int) -> None:
    """Refuse a format that this version does not read."""
    if found > schema.FORMAT:
        raise GalleryUnreadable(
            f"{path} was written by a newer lookalike "
            f"(format {found}, this one reads up to {schema.FORMAT}): upgrade lookalike"
        )
    if found < 1:
        raise GalleryUnreadable(f"{path} has format {found}, which never existed: restore it from a backup")


def connect(path: Path, wait: float) -> Connection:
    """Open a gallery that `check_file` passed, for writing if the system lets us, else for reading."""
    with _held(path) as lacks:
        if lacks:
            with _told_of(lacks):
                return _frozen(path, wait, lacks)
        try:
            return _settled(path, "mode=rw", wait)
        except sqlite3.OperationalError as error:
            refused = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            if primary_code(error) not in refused or os.access(path.parent, os.W_OK):
                raise
        if journal.size_of(path):
            raise StorageFailed(
                f"{path} has changes in {path.name}-wal that cannot be read in a read-only folder: "
                f"copy both files to a place you may write"
            )
        return _frozen(path, wait)


def _frozen(path: Path, wait: float, lacks: str = "") -> Connection:
    """Open a file without its journal; SQLite does that only if told that the file does not change."""
    return _settled(path, "mode=ro&immutable=1", wait, _last_change(path), lacks)


def check_list(path: Path, wait: float) -> None:
    """Refuse a gallery whose lists contradict themselves, from which sets could be missing unnoticed.

    The faces are not looked at (that would read the whole file): each is checked when it is read.
    """
    with closing(connect(path, wait)) as connection, _told_of(connection.lacks):
        for table in itertools.chain(*schema.LISTS[: schema.found(connection)]):
            found = connection.execute(f"PRAGMA integrity_check({table})").fetchall()
            if found != [("ok",)]:
                what = f"{path} is damaged ({found[0][0]}): restore it from a backup"
                raise GalleryUnreadable(connection.lacks or what)


@contextmanager
def _told_of(lacks: str) -> Iterator[None]:
    """Where a file lacks its journal, say that of its pages that contradict each other: some are in there."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if not lacks or primary_code(error) != sqlite3.SQLITE_CORRUPT:
            raise
        raise GalleryUnreadable(lacks) from error


def check_same(connection: Connection, path: Path) -> None:
    """Refuse to go on if the file under the connection is no longer the one that was opened.

    A deleted gallery would still take sets, and lose them; a frozen one that changed would mix two versions.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        found = None
    if found is None or (found.st_dev, found.st_ino) != connection.identity:
        raise StorageFailed(f"{path} was moved, deleted or replaced while open: open the gallery again")
    if connection.frozen is not None and connection.frozen != _last_change(path):
        raise StorageFailed(
            f"{path} was changed by another process while it was read: open the gallery again"
        )
    check_overwritten(connection, path)


def check_overwritten(connection: Connection, path: Path) -> None:
    """Refuse to go on if somebody wrote over the file, as `cp` does: from now on nothing is brought into it.

    The file by itself must be of the same gallery as before, at no earlier commit.
    """
    held = connection.handle and _OPEN.get(connection.handle)
    if not held or connection.known is None:
        return
    for tried in range(journal.TRIES):
        there = journal.in_file(held.file)
        if (
            there is not None
            and there.gallery == connection.known.gallery
            and there.number >= connection.known.number
            and not connection.is_overwritten
        ):
            connection.known = there
            return
        # Somebody may be writing this very page.
        if tried + 1 < journal.TRIES:
            time.sleep(journal.SECONDS_BETWEEN_TRIES)
    connection.is_overwritten = True
    raise StorageFailed(
        f"{path} was overwritten by another file while it was open, and nothing more can be kept: end what "
        f"has it open, then look at it by `lookalike verify`"
    )


@contextmanager
def transaction(connection: Connection, path: Path, writing: bool = False) -> Iterator[None]:
    """Everything in the block sees one version of the gallery; what it writes is kept whole or not at all."""
    check_same(connection, path)
    if writing and connection.lacks:
        raise StorageFailed(connection.lacks)
    # IMMEDIATE takes the write lock now, where waiting is possible; later SQLite could only give up.
    connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
    before = connection.total_changes
    try:
        if writing:
            # An older gallery becomes one of today's format by its first change, or not if that fails. Who
            # waited for the lock meanwhile finds it done, so the format is asked for only now.
            check_format(path, schema.found(connection))
            schema.migrate(connection)
        yield
        check_same(connection, path)
        own = connection.count() if connection.total_changes > before else None
        connection.execute("COMMIT")
        connection.commits += writing
        if own is not None and connection.handle is not None:
            # It is kept: what the system does not let us look at now has not failed it.
            with suppress(OSError):
                # Somebody may have copied another file over it while it was being committed.
                check_same(connection, path)
            file = _OPEN[connection.handle].file
            connection.told = journal.show_open(connection, path, file, own, connection.told)
            with suppress(OSError):
                check_same(connection, path)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def create(path: Path) -> None:
    """Put an empty gallery at `path` unless something is there already.

    It is built aside, then linked into place, which exactly one process can do: nobody sees half a gallery.
    What a killed process leaves behind is a hidden folder, which nothing reads and the next one sweeps.
    """
    if journal.size_of(path) and not path.exists():
        # What was acknowledged may be in it alone.
        left = journal.path_of(path)
        raise StorageFailed(f"{left} is left from a gallery that is gone: bring that back, or delete {left}")
    with atomic.folder_aside(path.parent) as folder:
        aside = folder / "gallery"
        atomic.create(aside)
        with closing(sqlite3.connect(_uri(aside, "mode=rw"), uri=True, isolation_level=None)) as connection:
            schema.build(connection)
            journal.count(connection, is_open=False)
            # Closing would fold the journal into the file too, but says nothing if the disk refuses.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        atomic.publish(aside, path)


def _settled(
    path: Path, how: str, wait: float, frozen: tuple[int, int] | None = None, lacks: str = ""
) -> Connection:
    handle = _hold(path)
    try:
        connection = sqlite3.connect(
            _uri(path, how),
            uri=True,
            timeout=wait,
            isolation_level=None,
            check_same_thread=False,
            factory=Connection,
        )
    except BaseException:
        _release(handle)
        raise
    connection.handle, connection.path = handle, path
    connection.frozen, connection.lacks = frozen, lacks
    try:
        for setting in SETTINGS:
            connection.execute(setting)
        # The header on disk may be older than the journal: ask again, now that SQLite reads both.
        found = schema.found(connection)
        check_format(path, found)
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal" and is_writable(path):
            connection.execute("PRAGMA journal_mode = WAL")  # another tool had turned it off
        for probe in itertools.chain(*schema.PROBES[:found]):
            connection.execute(probe).fetchall()
        connection.identity = _identity_of(path)
        # Who waited while a backup was brought back, or a format changed, has the file of before in hand.
        if connection.identity != handle:
            raise StorageFailed(f"{path} was replaced while it was opened: open it again")
        connection.known = journal.in_file(_OPEN[handle].file)
    except BaseException:
        connection.close()
        raise
    return connection


def _uri(path: Path, how: str) -> str:
    return f"{path.absolute().as_uri()}?{how}"


def _last_change(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def is_writable(path: Path) -> bool:
    """Whether this user may change the gallery: SQLite writes the file and keeps a journal beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


# Which gallery files this process has open, so that nothing else in it opens and closes them. On POSIX
# systems closing any handle of a file drops every lock that the process holds on it, those of SQLite too.
# Another process would then take itself for the last one, fold the journal into the file and delete it, and
# what we write afterwards would be lost (https://www.sqlite.org/howtocorrupt.html, section 2.2).


@dataclass
class _Held:
    """A gallery file that this process has open: how often, by which handle, and what its journal lacks."""

    file: int
    lacks: str
    times: int = 0


_GUARD = threading.Lock()
_OPEN: dict[Identity, _Held] = {}


@contextmanager
def _held(path: Path) -> Iterator[str]:
    """Count a file as open in the block; yields why it can only be read, as the first to open it found."""
    identity = _hold(path)
    try:
        yield _OPEN[identity].lacks
    finally:
        _release(identity)


def _hold(path: Path) -> Identity:
    """Count a file as open, before SQLite opens it; return the identity for `_release`."""
    with _GUARD:
        identity = _identity_of(path)
        if identity not in _OPEN:
            file = os.open(path, os.O_RDONLY)
            try:
                _OPEN[identity] = _Held(file, journal.lacks(path, file))
            except BaseException:
                os.close(file)
                raise
        _OPEN[identity].times += 1
        return identity


def _release(identity: Identity) -> None:
    """Count a file as closed once, after SQLite has closed it."""
    with _GUARD:
        held = _OPEN[identity]
        held.times -= 1
        if not held.times:
            del _OPEN[identity]
            os.close(held.file)


def _header_of(path: Path, length: int) -> bytes | None:
    """The first bytes of a file; None of one that this process has open, which was looked at before."""
    with _GUARD:
        if _identity_of(path) in _OPEN:
            return None
        with path.open("rb") as file:
            return file.read(length)


def _identity_of(path: Path) -> Identity:
    """What tells a file from any other, whatever it is called."""
    found = path.stat()
    return found.st_dev, found.st_ino
