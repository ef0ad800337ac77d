"""Pairs of sets that are certainly of different people, seen side by side."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from lookalike.errors import BadInput
from lookalike.gallery import queries, schema
from lookalike.gallery.failures import damaged_rows

Pair = tuple[str, str]
ADVICE: Final = "restore it from a backup"


def checked(pairs: Iterable[Pair]) -> list[Pair]:
    """Refuse what is not a list of pairs of two sets each."""
    found = [tuple(pair) if isinstance(pair, (tuple, list)) else (pair,) for pair in pairs]
    for pair in found:
        if len(pair) != 2 or pair[0] == pair[1]:
            raise BadInput(f"two sets apart are a pair of two ids, got {pair!r}: name two sets")
    return [(one, other) for one, other in found]


def insert(connection: sqlite3.Connection, pairs: Iterable[Pair], lookup: queries.Lookup) -> None:
    """Write pairs of sets that are there; those known already are left as they are."""
    for pair in pairs:
        for set_id in pair:
            if reason := lookup(set_id):
                raise reason
        connection.execute("INSERT OR IGNORE INTO apart VALUES (?, ?, ?)", (*sorted(pair), _checksum(*pair)))


def delete_pairs_of(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Delete the pairs of some sets."""
    for set_id in ids:
        connection.execute("DELETE FROM apart WHERE first = ?", (set_id,))
        connection.execute("DELETE FROM apart WHERE second = ?", (set_id,))


def names(connection: sqlite3.Connection, set_id: str) -> bool:
    """Whether a pair names a set."""
    asked = (
        "SELECT EXISTS (SELECT 1 FROM apart WHERE first = ?) OR EXISTS (SELECT 1 FROM apart WHERE second = ?)"
    )
    return bool(connection.execute(asked, (set_id, set_id)).fetchone()[0])


def everything(connection: sqlite3.Connection, path: Path) -> list[Pair]:
    """Every pair of ids, the smaller id first, in order.

    Raises
    ------
    GalleryUnreadable
        If a pair is not one that was written.
    """
    if schema.found(connection) < 2:
        return []
    # An id that leads to no set is none.
    column = "id" if schema.found(connection) >= schema.NAMES_IDS else "number"
    asked = (
        "SELECT one.id, other.id, checksum FROM apart"
        f" LEFT JOIN sets AS one ON one.{column} = first LEFT JOIN sets AS other ON other.{column} = second"
    )
    found = connection.execute(asked).fetchall()
    for one, other, checksum in found:
        texts = isinstance(one, str) and isinstance(other, str)
        if not texts or checksum != _checksum(one, other):
            raise damaged_rows(
                path, f"sets {one!r} and {other!r} are not the pair that was kept apart", ADVICE
            )
    return sorted((min(one, other), max(one, other)) for one, other, _ in found)


def _checksum(one: str, other: str) -> bytes:
    """SHA-256 of both ids: SQLite numbers alone would not show that a pair points elsewhere."""
    return hashlib.sha256("\0".join(sorted((one, other))).encode()).digest()
