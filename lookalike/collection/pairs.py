"""Pairs of sets that are certainly of different people, seen side by side."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from lookalike.collection import queries, schema
from lookalike.collection.failures import damaged_rows
from lookalike.errors import BadInput

Pair = tuple[str, str]
ADVICE: Final = "restore it from a backup"


def checked(pairs: Iterable[Pair]) -> list[Pair]:
    """Refuse what is not a list of pairs of two sets each."""
    found = [tuple(pair) if isinstance(pair, (tuple, list)) else (pair,) for pair in pairs]
    for pair in found:
        if len(pair) != 2 or pair[0] == pair[1]:
            raise BadInput(f"two sets apart are a pair of two ids, got {pair!r}: name two sets")
    return [(one, other) for one, other in found]


def insert(connection: sqlite3.Connection, path: Path, pairs: Iterable[Pair]) -> None:
    """Write pairs of sets that are in the gallery; those known already are left as they are."""
    for pair in pairs:
        for set_id in pair:
            if not queries.has(connection, set_id):
                raise queries.unknown(connection, path, set_id)
        connection.execute(
            "INSERT OR IGNORE INTO apart SELECT min(number), max(number), ? FROM sets WHERE id IN (?, ?)",
            (_checksum(*pair), *pair),
        )


def everything(connection: sqlite3.Connection, path: Path) -> list[Pair]:
    """Every pair of ids, the smaller id first, in order.

    Raises
    ------
    GalleryUnreadable
        If a pair is not one that was written.
    """
    if schema.found(connection) < 2:
        return []
    found = connection.execute(
        "SELECT one.id, other.id, checksum FROM apart"
        " LEFT JOIN sets AS one ON one.number = first LEFT JOIN sets AS other ON other.number = second"
    ).fetchall()
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
