"""Holding: which other galleries on the disk still hold what was forgotten in this one."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lookalike.collection.connections import is_gallery, is_split, shard_files

# What is known of a copy.
HOLDS: Final = "holds it"
GONE: Final = "is not there any more; if it was moved, it may hold it"
UNREADABLE: Final = "cannot be read; it may hold it"


@dataclass(frozen=True)
class Copy:
    """Another gallery, and whether it holds what was forgotten: one of the words above."""

    path: str
    state: str


def copies(
    gallery: Path, backups: Iterable[str], ids: Collection[str], contents: Collection[str]
) -> list[Copy]:
    """Look into the backups that are known, and into every gallery in the folder of this one.

    A restore or an upgrade leaves the earlier file beside the gallery, and a killed backup an unfinished one.

    Parameters
    ----------
    gallery : Path
    backups : iterable of str
        Where backups were put.
    ids, contents : collections of str
        Of the sets that were forgotten.
    """
    own = gallery.resolve()
    known = list(dict.fromkeys(map(Path, backups)))
    beside: list[Path] = []
    with suppress(OSError):
        beside += [path for path in sorted(own.parent.iterdir()) if _is_one(path)]
    found = []
    for path in dict.fromkeys([*known, *beside]):
        with suppress(OSError):
            if path.resolve() == own:
                continue
        if not path.exists():
            found.append(Copy(str(path), GONE))
        elif (held := _any(path, ids, contents)) is not False:
            found.append(Copy(str(path), UNREADABLE if held is None else HOLDS))
    return found


def _is_one(path: Path) -> bool:
    return (path.is_file() and is_gallery(path)) or is_split(path)


def _any(path: Path, ids: Collection[str], contents: Collection[str]) -> bool | None:
    """Whether a gallery, split ones among them, has one of the sets; None if a file does not say."""
    files = shard_files(path) if path.is_dir() else [path]
    each = [_holds(one, ids, contents) for one in files]
    return True if True in each else None if None in each or not each else False


def _holds(path: Path, ids: Collection[str], contents: Collection[str]) -> bool | None:
    """Whether a gallery has one of the sets, by name or content; None if it does not say."""
    journal = Path(f"{path}-wal")
    # Without a journal the file can be read as it lies, which leaves no trace beside a backup.
    how = "mode=ro" if journal.exists() and journal.stat().st_size else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            rows = connection.execute("SELECT id, content FROM sets")
            return any(set_id in ids or content in contents for set_id, content in rows)
    except (sqlite3.Error, UnicodeDecodeError, OSError):
        return None
