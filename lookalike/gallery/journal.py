"""Journal: the commits that SQLite keeps beside a gallery file, and how the file tells whether it lacks them.

SQLite writes commits to a journal (``x.gallery-wal``) and brings them into the file later. Shells know
nothing of that: ``mv`` and ``cp`` take the file alone. So the file says of itself which commit it is at, and
whether others may lie in the journal only. Every commit is a link of a chain: it has a random mark, and names
the mark of the commit before it.

- The first commit since the file was whole reaches the file, which from then on says that it is *open*,
  before it is acknowledged; those that follow may be in the journal alone.
- When nobody has written for a moment, and when the gallery is closed, all of the journal is brought into the
  file; then the file says that it is *done*.
- A file that says *open* and has no journal lacks commits, or may: it is read, but not changed, until its
  journal lies beside it again or its owner says that it is to be taken as it is.
- A journal whose chain does not meet the mark in the file is not of this file, and is never brought into it.

The row is found by its letters, in the page of the file or of the journal that holds it, since SQLite would
bring a journal in by looking at it.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shlex
import sqlite3
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from lookalike import atomic
from lookalike.errors import BUSY, StorageFailed, primary_code

try:
    import fcntl
except ImportError:  # Windows, which does not let an open file be moved
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

FACT: Final = "commits"
# Always as long, so that it stays where it is in its page.
ROW: Final = re.compile(
    FACT.encode() + rb"([0-9a-f]{32}) ([0-9]{12}) ([0-9a-f]{16}) ([0-9a-f]{16}) (open|done)"
)
# The facts are the first table of a gallery: its second page, since the first lists the tables.
PAGE_OF_FACTS: Final = 2
HEADER: Final = 100
WAL_MAGIC: Final = (0x377F0682, 0x377F0683)
WAL_HEADER, FRAME_HEADER = 32, 24
# Others may be writing the page, or the journal, at the moment we read it.
TRIES: Final = 20
SECONDS_BETWEEN_TRIES: Final = 0.025
# A journal of so many bytes is brought into the file before anybody is idle; it grows while others read.
LONG: Final = 16_000_000
# So long a commit waits for whoever reads an old version, which keeps the file from saying that it is open.
SECONDS_FOR_READERS: Final = 2.0
# At which commit a file is that does not say.
SAYS_NOTHING: Final = -2
# Whether a file can be read without SQLite while it is open.
CAN_ASK: Final = hasattr(os, "pread")


class Commit(NamedTuple):
    """Which commit a gallery is at."""

    gallery: str  # which gallery it is, whatever its file is called
    number: int  # how many commits there were
    mark: str  # what tells this commit from all others
    before: str  # the mark of the one before it
    is_open: bool  # whether later commits may lie in the journal alone

    def __str__(self) -> str:
        state = "open" if self.is_open else "done"
        return f"{self.gallery} {self.number:012d} {self.mark} {self.before} {state}"


def path_of(gallery: Path) -> Path:
    """Where the journal of a gallery lies, if it has one."""
    return Path(f"{gallery}-wal")


def size_of(gallery: Path) -> int | None:
    """Bytes of the journal; None if there is none."""
    try:
        return path_of(gallery).stat().st_size
    except FileNotFoundError:
        return None


# Commits, as SQLite sees them.


def found(connection: sqlite3.Connection) -> Commit | None:
    """The commit that a transaction sees; None in a gallery that earlier versions wrote."""
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (FACT,)).fetchone()
    return None if row is None else _read(FACT.encode() + str(row[0]).encode())


def count(connection: sqlite3.Connection, is_open: bool = True, anew: bool = False) -> Commit:
    """Count a commit, at the end of the transaction that is to be one.

    `is_open` says whether it may lie in the journal alone, `anew` whether it is the first commit of a
    gallery of its own, as a copy is.
    """
    known = None if anew else found(connection)
    mark = secrets.token_hex(8)
    if known is None:
        new = Commit(secrets.token_hex(16), 1, mark, "0" * 16, is_open)
    else:
        new = Commit(known.gallery, known.number + 1, mark, known.mark, is_open)
    connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (FACT, str(new)))
    return new


class Told(NamedTuple):
    """The last commit of which a connection made the file tell; the one at which others kept the file."""

    number: int = 0
    kept_at: int = -1


def show_open(connection: sqlite3.Connection, gallery: Path, handle: int, own: Commit, told: Told) -> Told:
    """After a commit: wait until the file says that it is open, which is when the commit may be acknowledged.

    Who reads an old version meanwhile keeps it from saying so. Nobody is to wait long for that, nor twice:
    then a copy that is made without the journal until the reader has ended cannot be told from a whole one.
    A long journal is brought into the file, too. `handle` is the open file, `own` the commit, `told` what the
    last call of this connection returned.
    """
    with suppress(OSError):
        if (size_of(gallery) or 0) >= LONG:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    until = time.monotonic() + SECONDS_FOR_READERS
    pause = 0.0
    while True:
        held = None
        # It is kept already: what cannot be read now does not tell.
        with suppress(OSError):
            held = in_file(handle)
            # Looking through the journal does not help where others keep the file as it is.
            is_kept = held is not None and held.number == told.kept_at
            if not is_kept and _is_told(held, own, told.number, gallery):
                return Told(own.number)
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        number = SAYS_NOTHING if held is None else held.number
        if number == told.kept_at or time.monotonic() > until:
            return Told(kept_at=number)
        time.sleep(pause)
        pause = SECONDS_BETWEEN_TRIES


def _is_told(held: Commit | None, own: Commit, told: int, gallery: Path) -> bool:
    """Whether a file by itself has a commit, or says that it lacks some until it has that one.

    It may say that it is open, and yet say that it is done a moment later, before it has the commit: if
    somebody settled it in between, which lies in the journal and is not brought in yet. One of an earlier
    version says nothing until its first commit of today reaches it.
    """
    if held is None:
        return not CAN_ASK
    if held.number >= own.number:
        return True
    if not held.is_open:
        return False
    if own.number == told + 1:
        return True  # nobody else came in between
    return all(one.is_open for one in in_journal(gallery) if held.number < one.number < own.number)


def empty_journal(connection: sqlite3.Connection, wait: float) -> bool:
    """Bring all changes into the file, zeros over removed rows too; False if others are reading."""
    with waiting(connection, wait):
        try:
            return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError as error:
            if primary_code(error) in BUSY:
                return False
            raise


@contextmanager
def waiting(connection: sqlite3.Connection, wait: float) -> Iterator[None]:
    """Wait so many seconds for those who read or write, in the block."""
    usual = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(usual)}")


def settle(connection: sqlite3.Connection, gallery: Path) -> bool:
    """Bring the whole journal into the file, and let it say that it is done; False if others use it."""
    try:
        known = found(connection)
        if known is None or not (known.is_open or size_of(gallery)):
            return True
        for _ in range(3):
            if not empty_journal(connection, 0.0):
                return False
            if not known.is_open:
                return True
            connection.execute("BEGIN IMMEDIATE")
            # Nobody else can write now: what is in the journal came between, and must reach the file first.
            if not size_of(gallery):
                count(connection, is_open=False)
                connection.execute("COMMIT")
                return empty_journal(connection, 0.0)
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if primary_code(error) not in BUSY:
            raise
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return False


@contextmanager
def closing_alone(gallery: Path) -> Iterator[None]:
    """Nobody else closes a gallery of this folder in the block, where the system has such locks.

    Whoever closes a gallery as the last one deletes the journal, and must have settled it before; two that
    close at once keep each other from settling.
    """
    folder = None
    with suppress(OSError):  # a folder that is gone, or a file system without locks
        if fcntl is not None:
            folder = os.open(gallery.parent, os.O_RDONLY)
            fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if folder is not None:
            with suppress(OSError):
                fcntl.flock(folder, fcntl.LOCK_UN)  # a child that was forked meanwhile has it too
            os.close(folder)


def settle_closed(gallery: Path, handle: int) -> None:
    """Settle a file whose journal went as it was closed, though whoever kept it from settling is dead by now.

    SQLite deletes a journal only after all of it was brought into the file. `handle` is the open file.
    """
    held = in_file(handle)
    if held is None or not held.is_open or size_of(gallery) is not None or _is_used(gallery):
        return
    if os.path.samestat(os.fstat(handle), gallery.stat()):
        with closing(sqlite3.connect(gallery, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            settle(connection, gallery)


def take_as_it_is(gallery: Path) -> None:
    """Let a file that lacks its journal say that it is done; nobody may have it open."""
    with closing(sqlite3.connect(gallery, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        count(connection, is_open=False)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


# Commits, as they lie in the file and in the journal.


def in_file(handle: int) -> Commit | None:
    """The commit that a file by itself is at; None if it does not say."""
    if not CAN_ASK:
        return None
    size = int.from_bytes(os.pread(handle, HEADER, 0)[16:18], "big")
    size = 65536 if size == 1 else size
    return _last(os.pread(handle, size, size)) if size else None


def in_journal(gallery: Path) -> list[Commit]:
    """The commits of a journal, in order; none if it holds none that say so."""
    try:
        with path_of(gallery).open("rb", buffering=0) as file:
            return list(_in_frames(file))
    except FileNotFoundError:
        return []


def _in_frames(file: BinaryIO) -> Iterator[Commit]:
    """The commits of an open journal, which may be long: only pages with facts are read."""
    header = file.read(WAL_HEADER)
    if len(header) < WAL_HEADER:
        return
    magic, _, size, _, *salts = struct.unpack(">6I", header[:24])
    if magic not in WAL_MAGIC or not size:
        return
    end = os.fstat(file.fileno()).st_size
    for start in range(WAL_HEADER, end - FRAME_HEADER - size + 1, FRAME_HEADER + size):
        file.seek(start)
        frame = file.read(FRAME_HEADER)
        # Behind its end lie frames of an earlier time; whoever empties it meanwhile cuts it off.
        if len(frame) < FRAME_HEADER or list(struct.unpack(">2I", frame[8:16])) != salts:
            return
        if int.from_bytes(frame[:4], "big") == PAGE_OF_FACTS:
            one = _last(file.read(size))
            if one is not None:
                yield one


def belongs(held: Commit | None, journal: list[Commit]) -> bool:
    """Whether a journal is of a file: it begins right after the commit of the file, or holds that commit."""
    if held is None or not journal:
        return True
    return held.mark == journal[0].before or any(held.mark == one.mark for one in journal)


def lacks(gallery: Path, handle: int) -> str:
    """Why a file can only be read, found out before SQLite opens it, as a sentence; empty if it may change.

    A journal that is not of this file is set aside, and that is logged; StorageFailed if somebody uses it.
    """
    for tried in range(TRIES):
        # Whoever closes it at this moment may take longer than all tries: the last one waits for that.
        with closing_alone(gallery) if tried + 1 == TRIES else nullcontext():
            held, size = in_file(handle), size_of(gallery)
            is_foreign = bool(size) and not belongs(held, in_journal(gallery))
            is_without = held is not None and held.is_open and size is None
        if not is_foreign and not is_without:
            return ""
        if tried + 1 < TRIES:
            time.sleep(SECONDS_BETWEEN_TRIES)
    if is_foreign:
        _set_aside(gallery)
        if held is None or not held.is_open:
            return ""
    assert held is not None
    return (
        f"{gallery} lacks its journal: what was kept after commit {held.number} is in the file ending in "
        f"-wal that was left behind when this one was moved or copied, so it is read as it is and not "
        f"changed: put that journal beside it as {gallery.name}-wal, or take it as it is by "
        f"`lookalike verify {shlex.quote(str(gallery))} --repair`"
    )


def _set_aside(gallery: Path) -> None:
    journal = path_of(gallery)
    if _is_used(gallery):
        raise StorageFailed(
            f"{journal} is in use by a process that opened another file of this name: end that process, then "
            f"repeat"
        )
    number = 1
    while (aside := Path(f"{journal}.of-another-file-{number}")).exists():
        number += 1
    atomic.rename(journal, aside)
    atomic.delete(Path(f"{gallery}-shm"))
    atomic.sync(journal.parent)
    logger.warning(
        "%s is not the journal of this file and was set aside as %s: put it beside its gallery, or delete it",
        journal,
        aside,
    )


def _is_used(gallery: Path) -> bool:
    """Whether another process has the gallery open: each holds a lock on byte 128 of the journal's index."""
    if fcntl is None:
        return True
    try:
        index = os.open(f"{gallery}-shm", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        if sys.platform == "darwin":
            asked = fcntl.fcntl(index, fcntl.F_GETLK, struct.pack("qqihh", 128, 1, 0, fcntl.F_WRLCK, 0))
            return bool(struct.unpack("qqihh", asked)[3] != fcntl.F_UNLCK)
        asked = fcntl.fcntl(index, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 128, 1, 0))
        return bool(struct.unpack("hhqqi4x", asked)[0] != fcntl.F_UNLCK)
    finally:
        os.close(index)


def _last(page: bytes) -> Commit | None:
    """The commit that a page holds; where SQLite moved the row, an older copy may lie beside it."""
    known = [_commit(one) for one in ROW.finditer(page)]
    return max(known, key=lambda one: one.number, default=None)


def _read(text: bytes) -> Commit | None:
    match = ROW.fullmatch(text)
    return None if match is None else _commit(match)


def _commit(match: re.Match[bytes]) -> Commit:
    gallery, number, mark, before, state = (part.decode() for part in match.groups())
    return Commit(gallery, int(number), mark, before, state == "open")
