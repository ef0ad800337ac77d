"""Wipe from a gallery file, and from what was derived from it, the bytes that removed sets left behind.

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

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from lookalike import resources
from lookalike.errors import BUSY, primary_code
from lookalike.gallery import schema

# A file of up to so many bytes is rewritten at once, which takes less than a second.
AT_ONCE: Final = 64_000_000
# The wipe of a larger file waits so long for further removals, counted from the first.
GATHERED: Final = timedelta(hours=1)
# Measured on two cores beside other work, 2026-11-18: 379 MB in 5.2 s.
SECONDS_PER_GB: Final = 14.0


@dataclass(frozen=True)
class WipeDue:
    """A wipe of the gallery file that is still to be done.

    Attributes
    ----------
    since : str
        When the first set was removed that it is for, in UTC; empty if that is not known.
    bytes : int
        The size of the file, which is written anew.
    seconds : int
        How long that takes, about.
    is_overwritten : bool
        Whether the removed rows are overwritten with zeros and the journal is empty, so that only copies
        which SQLite left in free space can be there. False while others read what was removed.
    """

    since: str
    bytes: int
    seconds: int
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
    """The wipe of the file that is due, if one is.

    Parameters
    ----------
    connection : sqlite3.Connection
    overwritten : str, optional
        The mark that stood before the journal was last emptied.
    """
    found = file_mark(connection)
    if found is None:
        return None
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    seconds = round(SECONDS_PER_GB * pages * size / 1e9)
    return WipeDue(_since(found), pages * size, seconds, found == overwritten)


def file_mark(connection: sqlite3.Connection) -> str | None:
    """What stands while a wipe of the file is due; another removal changes it."""
    return _mark(connection, "purge")


def derived_mark(connection: sqlite3.Connection) -> str | None:
    """What stands while derived tables may know removed sets; another removal changes it."""
    return _mark(connection, "purge_derived")


def settle_derived_mark(connection: sqlite3.Connection, mark: str) -> None:
    """Settle one mark: no derived table knows the sets that were removed before it was read."""
    connection.execute("DELETE FROM facts WHERE name = 'purge_derived' AND value = ?", (mark,))


def empty_journal(connection: sqlite3.Connection, wait: float) -> bool:
    """Bring all changes into the file, zeros over removed rows among them; False if others are reading.

    Parameters
    ----------
    connection : sqlite3.Connection
        Outside any transaction.
    wait : float
        Seconds to wait for those who read or write.
    """
    with _waiting(connection, wait):
        try:
            return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError as error:
            if primary_code(error) in BUSY:
                return False
            raise


def wipe_file(connection: sqlite3.Connection, wait: float) -> bool:
    """Write the file anew if a wipe is due.

    Parameters
    ----------
    connection : sqlite3.Connection
        Outside any transaction.
    wait : float
        Seconds to wait for those who read or write.

    Returns
    -------
    bool
        False if others were still reading or writing: the wipe stays due.
    """
    found = file_mark(connection)
    if found is None:
        return True
    # The first checkpoint finds out cheaply whether anybody still reads what is to be wiped.
    if not empty_journal(connection, wait):
        return False
    with _waiting(connection, wait):
        try:
            connection.execute("VACUUM")
            if not empty_journal(connection, wait):
                return False
            # Only the mark found above: another process may have removed sets meanwhile.
            connection.execute("DELETE FROM facts WHERE name = 'purge' AND value = ?", (found,))
        except sqlite3.OperationalError as error:
            if primary_code(error) in BUSY:
                return False
            raise
    return True


def _mark(connection: sqlite3.Connection, name: str) -> str | None:
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _since(mark: str) -> str:
    """When a mark was first set; earlier versions did not say."""
    return mark.partition(" ")[2]


@contextmanager
def _waiting(connection: sqlite3.Connection, wait: float) -> Iterator[None]:
    usual = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(usual)}")
