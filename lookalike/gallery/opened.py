"""Opened: one gallery file that a process has open, its connection, its version, the wipe due to it.

SQLite's secure_delete writes zeros over a deleted row where it lies, and the checkpoint empties the journal:
after both, no page that SQLite reads holds the row. But when SQLite moves rows between pages it leaves their
old copies in the free space between the rows of a page, and zeros are not written over these when the row is
deleted later (seen in 4 of 5 random histories of 150 changes, in none of 120 sets that left a gallery of
3,000). VACUUM writes the file anew from living rows only. That takes time by the size of the file, so it is
done at once for small files, and for large ones gathered: once for all that is removed within an hour.

A mark in the gallery remembers that a wipe is due, so that neither a reader nor a kill makes it forgotten.
A second mark remembers that derived tables may still know removed sets. `gallery.forget` brings those
tables up to date and settles it; whoever opens a gallery in which it still stands deletes all of them.
"""

from __future__ import annotations

import json
import logging
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lookalike import atomic, resources
from lookalike.errors import (
    BUSY,
    BadInput,
    GalleryUnreadable,
    LookalikeError,
    NotFound,
    StorageFailed,
    in_words,
    primary_code,
)
from lookalike.gallery import journal, schema, set_rows
from lookalike.gallery.connection import (
    Connection,
    check_file,
    check_list,
    check_same,
    check_whole,
    connect,
    create,
    is_writable,
    transaction,
)
from lookalike.indexing.store import TableStore
from lookalike.resources import Need

if TYPE_CHECKING:
    from lookalike.gallery.gallery import Gallery

logger = logging.getLogger(__name__)

# Nobody has written for so long: time to bring the journal into the file.
SECONDS_UNTIL_SETTLED: Final = 0.3
# A file of up to so many bytes is rewritten at once, which takes less than a second.
AT_ONCE: Final = 64_000_000
# The wipe of a larger file waits so long for further removals, counted from the first.
GATHERED: Final = timedelta(hours=1)
# Measured on two cores beside other work, 2026-11-18: 379 MB in 5.2 s.
SECONDS_PER_GB: Final = 14.0


def _folders(connection: Connection) -> list[str]:
    """Where derived tables of a gallery lie, as it noted itself; anything else is no such list."""
    with suppress(ValueError, TypeError):
        known = json.loads(set_rows.fact(connection, "derived") or "")
        return [one for one in known if isinstance(one, str) and one.endswith(".derived")]
    return []


class Opened:
    """One gallery file, its connection and the wipe that removals owe; parameters are those of `Gallery`.

    Short operations share one connection behind a lock, which is simpler than a connection for each thread
    and leaves none behind when a thread ends; long reading gets one of its own, so that it holds up nobody.
    """

    def __init__(self, path: str | Path, is_new: bool, wait: float) -> None:
        if "\0" in str(path):
            raise BadInput(f"a gallery path may not hold a NUL character, got {str(path)!r}: rename the file")
        self.path = Path(path)
        self.wait = wait
        self.streams = 0
        # The mark of the removals whose rows are overwritten in the file.
        self._overwritten: str | None = None
        self._file = self.path.absolute()
        self.lock = threading.RLock()
        self._written = 0.0
        self._had_tables = TableStore.beside(self._file).folder.exists()
        self._settling: threading.Timer | None = None
        with in_words(self.path):
            if not self._file.exists():
                if not is_new:
                    raise NotFound(
                        f"there is no gallery at {path}: make one by adding sets to it (`lookalike add`)"
                    )
                create(self._file)
            check_file(self._file)
            check_list(self._file, wait)
            self._connection: Connection | None = connect(self._file, wait)
            try:
                check_whole(self._connection, self.path)
            except BaseException:
                self._connection.close()
                raise
        if self._connection.lacks:
            logger.warning("%s", self._connection.lacks)
        self.catch_up(derived=True)

    def close(self) -> None:
        """Give the file back; closing twice does nothing."""
        with self.lock:
            if self._connection is None:
                return
            if self._settling is not None:
                self._settling.cancel()
            try:
                self.catch_up(derived=True)
            finally:
                self._connection.close()
                self._connection = None

    @property
    def connection(self) -> Connection:
        """The connection of short operations; raise BadInput once the gallery is closed."""
        if self._connection is None:
            raise BadInput(f"the gallery {self.path} was closed: open it again to use it")
        return self._connection

    @contextmanager
    def transaction(self, writing: bool = False) -> Iterator[Connection]:
        """One version of the gallery; what the block writes is kept whole or not at all."""
        with self.lock, in_words(self.path):
            connection = self.connection
            before = connection.commits
            try:
                with transaction(connection, self._file, writing):
                    yield connection
            finally:
                # Also where something failed after it was kept.
                if connection.commits > before:
                    self._written = time.monotonic()
                    self._settle_soon()

    @property
    def lacks(self) -> str:
        """Why the gallery can only be read, having lost its journal, as a sentence; empty if it has not."""
        return self.connection.lacks

    def settle(self) -> bool:
        """Bring all that was kept into the file, so that it is whole by itself; False if others use it."""
        with self.lock, in_words(self.path):
            return not is_writable(self._file) or self.connection.settle()

    def _settle_soon(self) -> None:
        """Settle when nobody has written for a moment; in the middle of work that would only hold it up."""
        with self.lock:
            if self._settling is None and self._connection is not None:
                soon = threading.Timer(SECONDS_UNTIL_SETTLED, self._settle_later)
                soon.daemon = True
                try:
                    soon.start()
                except RuntimeError:  # no memory for a thread: the next change or closing settles it
                    return
                self._settling = soon

    def _settle_later(self) -> None:
        with self.lock:
            self._settling = None
            if self._connection is None:
                return
            done = False
            if time.monotonic() - self._written >= SECONDS_UNTIL_SETTLED * 0.9:
                try:
                    done = self.settle()
                except LookalikeError as reason:
                    # Whoever asks next is told; trying again would not help.
                    logger.warning("%s", reason)
                    return
            if not done:
                self._settle_soon()

    @contextmanager
    def stream(self) -> Iterator[Connection]:
        """A connection of its own for long reading, to be asked inside `reading` blocks."""
        with self.lock, in_words(self.path):
            check_same(self.connection, self._file)
            connection = connect(self._file, self.wait)
            self.streams += 1
        try:
            with in_words(self.path):
                connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()
            with self.lock:
                self.streams -= 1

    @contextmanager
    def reading(self, connection: Connection) -> Iterator[None]:
        """One step of a stream: refused once the gallery is closed, or if its file was exchanged."""
        with in_words(self.path):
            _ = self.connection
            yield
            check_same(connection, self._file)

    def catch_up(self, wait: float = 0.0, derived: bool = False) -> None:
        """Do the wipe that removals owe, unless it is to be gathered with others; what prevents it is logged.

        The sets are removed already. Of a large file whose wipe waits, the journal at least is emptied. With
        `derived`, derived tables go too, unless whoever removed sets has seen to them.
        """
        with self.lock:
            connection = self.connection
            if not is_writable(self._file) or connection.frozen is not None:
                return
            try:
                with in_words(self.path):
                    due = file_wipe_due(connection)
                    done = due is None or self._wiped(due, wait, is_time=not due.until)
                    mark = derived_mark(connection) if derived else None
                    if mark is not None:
                        TableStore.beside(self._file).drop()
                        settle_derived_mark(connection, mark)
                    if derived:
                        self._adopt_tables()
                reason = "others are using it"
            except LookalikeError as error:
                done, reason = False, str(error)
        if not done:
            logger.warning("%s still holds traces of removed sets, to be wiped later: %s", self.path, reason)

    def tables_elsewhere(self) -> list[str]:
        """Where derived tables were left, under names that the gallery had before, that cannot be reached."""
        own = str(TableStore.beside(self._file).folder)
        with self.transaction() as connection:
            return [one for one in _folders(connection) if one != own]

    def _adopt_tables(self) -> None:
        """Take over the tables that were left under a name which the gallery had before, and note its own.

        They are taken over if there are none under the name that it has now, and otherwise erased. Those of
        a gallery that still has that name stay: this one is a copy of it.
        """
        connection, store = self.connection, TableStore.beside(self._file)
        own, known = str(store.folder), _folders(connection)
        is_settled = known == [own] or not (known or store.folder.exists())
        if is_settled or schema.found(connection) < schema.FORMAT:
            return
        left = [own]
        for folder in (Path(one) for one in known if one != own):
            if not folder.parent.is_dir():
                left.append(str(folder))  # on a disk that is not at hand
            elif folder.is_dir() and not folder.with_suffix("").exists():
                if store.folder.exists():
                    TableStore(folder).drop()
                else:
                    atomic.rename(folder, store.folder)
                self._had_tables = False
        # Whoever only looks changes nothing, unless tables were taken over.
        is_time = self._written or not self._had_tables or not store.folder.exists()
        if left != known and is_time:
            with self.transaction(writing=True) as connection:
                connection.execute("INSERT OR REPLACE INTO facts VALUES ('derived', ?)", (json.dumps(left),))

    def wipe(self) -> None:
        """Do the wipe that removals owe, however large the file; StorageFailed leaves it due."""
        with self.lock, in_words(self.path):
            due = file_wipe_due(self.connection)
            if due is not None and not self._wiped(due, self.wait, is_time=True):
                raise StorageFailed(f"{self.path} is in use and cannot be wiped: end that, then repeat")

    def wipe_due(self) -> WipeDue | None:
        """The wipe of the file that is due, if one is."""
        with self.transaction() as connection:
            return file_wipe_due(connection, self._overwritten)

    def _wiped(self, due: WipeDue, wait: float, is_time: bool) -> bool:
        """Empty the journal and, if it is time, write the file anew; False if others use it."""
        connection = self.connection
        check_same(connection, self._file)
        mark = file_mark(connection)
        # Waiting for a reader of our own could be waiting for ourselves.
        patience = 0.0 if self.streams else wait
        if not journal.empty_journal(connection, patience):
            return False
        self._overwritten = mark
        if not is_time:
            return True
        if due.bytes > AT_ONCE:
            logger.warning("%s is wiped of removed sets: %s", self.path, due)
            resources.check(f"wiping {self.path}", Need(0, due.bytes), self._file.parent)
        return wipe_file(connection, patience)


@dataclass(frozen=True)
class Version:
    """One version of a gallery: what shapes its tables, read once; it is asked like the gallery itself."""

    path: Path
    descriptor: str | None
    dimension: int | None
    by_id: Mapping[str, str]
    digest: str

    def __len__(self) -> int:
        return len(self.by_id)

    def contents(self) -> Mapping[str, str]:
        """Id -> content hash of each set, sorted by id."""
        return self.by_id

    def fingerprint(self) -> str:
        """As `Gallery.fingerprint`."""
        return self.digest


def checked_version(gallery: Gallery) -> Version:
    """The version that a gallery has now, in which every set has all its faces; GalleryUnreadable if not.

    No face is read, so this is done before every search; of one version of an open gallery it is found out
    once.
    """
    with gallery._opened.transaction() as connection:
        version = set_rows.version(connection)
        if version != gallery._counted:
            for what in (*wrong_facts(connection, gallery.path), *wrong_counts(connection)):
                raise GalleryUnreadable(
                    f"{gallery.path} is damaged: {what}: look at `lookalike verify {gallery.path}`, "
                    f"then restore a backup, or remove the sets it names"
                )
            gallery._counted = version
        return Version(
            gallery.path,
            set_rows.fact(connection, "descriptor"),
            set_rows.dimension(connection, gallery.path),
            gallery._contents(connection),
            gallery._fingerprint(connection),
        )


def wrong_facts(connection: sqlite3.Connection, path: Path) -> Iterator[str]:
    """What is wrong with what a gallery says of itself: what made its faces is known if it has any."""
    sets, descriptor = set_rows.count(connection), set_rows.fact(connection, "descriptor")
    dimension = set_rows.dimension(connection, path)
    if sets and (descriptor is None or dimension is None):
        yield ("it does not say what made its faces, or how many numbers they have")
    if not sets and (descriptor is not None or dimension is not None):
        yield ("it says what made its faces, but holds no set")
    if descriptor is not None:
        try:
            set_rows.check_name(descriptor)
        except BadInput as reason:
            yield str(reason)
    if set_rows.fact(connection, "created") is None:
        yield ("it does not say when it was made")
    is_sealed = schema.found(connection) >= schema.SEALED_SINCE
    if is_sealed and set_rows.fact(connection, schema.SEAL) != schema.facts_seal(connection):
        yield ("what it says of itself, such as its descriptor, does not fit its checksum")


def wrong_counts(connection: sqlite3.Connection) -> Iterator[str]:
    """What is wrong unless each set has as many faces as it says, numbered from 0; read without any face."""
    no_hash = "length(content) IS NOT 64 OR content GLOB '*[^0-9a-f]*'"
    if connection.execute(f"SELECT EXISTS (SELECT 1 FROM sets WHERE {no_hash})").fetchone()[0]:
        yield ("the entry of a set does not tell its content")
    grouped = (
        "(SELECT set_number, count(*) AS there, min(position) AS first, max(position) AS last"
        " FROM faces GROUP BY set_number)"
    )
    whole = "there IS faces AND first IS 0 AND last IS faces - 1"
    # Groups of faces are looked up among the sets, which is quicker than the other way round.
    asked = f"SELECT count(*), total({whole}) FROM {grouped} LEFT JOIN sets ON number = set_number"
    sets = set_rows.count(connection)
    if connection.execute(asked).fetchone() == (sets, sets):
        return
    if connection.execute(
        "SELECT EXISTS (SELECT 1 FROM faces WHERE set_number NOT IN (SELECT number FROM sets))"
    ).fetchone()[0]:
        yield ("it holds a face of no set")
    asked = f"SELECT id, faces, ifnull(there, 0) FROM sets LEFT JOIN {grouped} ON set_number = number"
    if wrong := connection.execute(f"{asked} WHERE NOT ({whole})").fetchall():
        set_id, faces, there = wrong[0]
        more = f", and {len(wrong) - 1} more sets are so" if len(wrong) > 1 else ""
        yield (f"set {set_id!r} has {there} of its {faces} faces{more}")


@dataclass(frozen=True)
class WipeDue:
    """A wipe of the gallery file that is still to be done."""

    since: str  # when the first set was removed that it is for, in UTC; empty if that is not known
    bytes: int  # the size of the file, which is written anew
    seconds: int  # how long that takes, about
    is_overwritten: bool

    @property
    def until(self) -> str:
        """Until when it waits for further removals, in UTC; empty if it does not wait."""
        if self.bytes > AT_ONCE:
            with suppress(ValueError, TypeError, OverflowError):
                since = datetime.fromisoformat(self.since)
                # A clock that was put back must not put the wipe off.
                if timedelta() <= datetime.now(UTC) - since < GATHERED:
                    return (since + GATHERED).isoformat()
        return ""

    def __str__(self) -> str:
        return f"{resources.in_words(self.bytes)} to be rewritten, about {max(1, self.seconds)} s"


def mark_wipe_due(connection: sqlite3.Connection) -> None:
    """Remember, in the transaction that removes sets, that a wipe is due: of the file and of its tables."""
    mark_file_wipe_due(connection)
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('purge_derived', ?)", (secrets.token_hex(8),))


def mark_file_wipe_due(connection: sqlite3.Connection) -> None:
    """Remember that a wipe of the file alone is due, since the first removal that is not wiped."""
    earlier = file_mark(connection)
    since = schema.now() if earlier is None else _since(earlier)
    value = f"{secrets.token_hex(8)} {since}".strip()
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('purge', ?)", (value,))


def is_wipe_due(connection: sqlite3.Connection) -> bool:
    """Whether removed sets may still have bytes in the file, or in derived tables."""
    return file_mark(connection) is not None or derived_mark(connection) is not None


def file_wipe_due(connection: sqlite3.Connection, overwritten: str | None = None) -> WipeDue | None:
    """The wipe of the file that is due; `overwritten` is the mark before the journal was last emptied."""
    found = file_mark(connection)
    if found is None:
        return None
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    seconds = round(SECONDS_PER_GB * pages * size / 1e9)
    return WipeDue(_since(found), pages * size, seconds, found == overwritten)


def file_mark(connection: sqlite3.Connection) -> str | None:
    """What stands while a wipe of the file is due; another removal changes it."""
    return set_rows.fact(connection, "purge")


def derived_mark(connection: sqlite3.Connection) -> str | None:
    """What stands while derived tables may know removed sets; another removal changes it."""
    return set_rows.fact(connection, "purge_derived")


def settle_derived_mark(connection: sqlite3.Connection, mark: str) -> None:
    """Settle one mark: no derived table knows the sets that were removed before it was read."""
    connection.execute("DELETE FROM facts WHERE name = 'purge_derived' AND value = ?", (mark,))


def wipe_file(connection: sqlite3.Connection, wait: float) -> bool:
    """Write the file anew if a wipe is due, outside any transaction; False if others still read or write."""
    found = file_mark(connection)
    if found is None:
        return True
    # The first checkpoint finds out cheaply whether anybody still reads what is to be wiped.
    if not journal.empty_journal(connection, wait):
        return False
    with journal.waiting(connection, wait):
        try:
            # Whoever takes the file alone meanwhile is to be told that it is not whole.
            if isinstance(connection, Connection) and not connection.say_open():
                return False
            connection.execute("VACUUM")
            if not journal.empty_journal(connection, wait):
                return False
            # Only the mark found above: another process may have removed sets meanwhile.
            connection.execute("DELETE FROM facts WHERE name = 'purge' AND value = ?", (found,))
        except sqlite3.OperationalError as error:
            if primary_code(error) in BUSY:
                return False
            raise
    if isinstance(connection, Connection):
        connection.settle()
    return True


def _since(mark: str) -> str:
    """When a mark was first set; earlier versions did not say."""
    return mark.partition(" ")[2]
