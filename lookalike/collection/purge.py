"""Wipe from a gallery file, and from what was derived from it, the bytes that removed sets left behind.

SQLite's secure_delete writes zeros over a deleted row where it lies, but not over older copies of it that
remain in free space after rows were moved between pages (seen in 4 of 5 random histories of 150 changes).
VACUUM writes the file anew from living rows only, at about 12 s per GB; the checkpoint empties the journal.
A mark in the gallery remembers that a wipe is due, so that neither a reader nor a kill makes it forgotten.
A second mark remembers that derived tables may still know removed sets. `lookalike.removing` brings those
tables up to date and settles it; whoever opens a gallery in which it still stands deletes all of them.
"""

from __future__ import annotations

import secrets
import sqlite3

from lookalike.collection.failures import BUSY, primary_code


def mark(connection: sqlite3.Connection) -> None:
    """Remember, in the transaction that removes sets, that a wipe is due: of the file and of its tables."""
    mark_file(connection)
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('purge_derived', ?)", (secrets.token_hex(8),))


def mark_file(connection: sqlite3.Connection) -> None:
    """Remember that a wipe of the file alone is due."""
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('purge', ?)", (secrets.token_hex(8),))


def is_due(connection: sqlite3.Connection) -> bool:
    """Whether removed sets may still have bytes in the file, or in derived tables."""
    return _mark(connection) is not None or derived_mark(connection) is not None


def derived_mark(connection: sqlite3.Connection) -> str | None:
    """What stands while derived tables may know removed sets; another removal changes it."""
    return _mark(connection, "purge_derived")


def derived_done(connection: sqlite3.Connection, mark: str) -> None:
    """Settle one mark: no derived table knows the sets that were removed before it was read."""
    connection.execute("DELETE FROM facts WHERE name = 'purge_derived' AND value = ?", (mark,))


def wipe(connection: sqlite3.Connection, wait: float) -> bool:
    """Wipe if it is due.

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
    found = _mark(connection)
    if found is None:
        return True
    usual = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
    try:
        # The first checkpoint finds out cheaply whether anybody still reads what is to be wiped.
        if not _journal_emptied(connection):
            return False
        connection.execute("VACUUM")
        if not _journal_emptied(connection):
            return False
        # Only the mark found above: another process may have removed sets meanwhile.
        connection.execute("DELETE FROM facts WHERE name = 'purge' AND value = ?", (found,))
    except sqlite3.OperationalError as error:
        if primary_code(error) in BUSY:
            return False
        raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(usual)}")
    return True


def _mark(connection: sqlite3.Connection, name: str = "purge") -> str | None:
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _journal_emptied(connection: sqlite3.Connection) -> bool:
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return not busy
