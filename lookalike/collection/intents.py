"""Intents: a change of several shards that was decided in shard 0, and is not done in all of them yet.

Each shard commits on its own. So shard 0 comes first, and says in the same step what the others still owe;
whoever finds that said does it, all of which may be done twice, and takes it back.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lookalike.collection import purge, queries
from lookalike.collection.failures import damaged_rows

NAME: Final = "intent"
# Sets that leave; sets that come, or else none of them; a model that becomes the current one.
LEAVE: Final = "leave"
ARRIVE: Final = "arrive"
USE: Final = "use"
KINDS: Final = (LEAVE, ARRIVE, USE)


@dataclass(frozen=True)
class Intent:
    """What is owed.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    names : tuple of str
        Ids of sets, or the one model.
    token : str
        Tells it from any other that says the same.
    """

    kind: str
    names: tuple[str, ...]
    token: str = field(default_factory=lambda: secrets.token_hex(8))


def read(connection: sqlite3.Connection, path: Path) -> Intent | None:
    """What is owed now, as shard 0 says; None if nothing is."""
    text = queries.fact(connection, NAME)
    if text is None:
        return None
    try:
        kind, names, token = json.loads(text)
        if kind not in KINDS or not all(isinstance(one, str) for one in (*names, token)):
            raise ValueError(f"it says {kind!r}")
    except (ValueError, TypeError, RecursionError) as reason:
        raise damaged_rows(
            path, f"it does not say what is to be finished ({reason})", "restore it from a backup"
        ) from reason
    return Intent(kind, tuple(names), token)


def write(connection: sqlite3.Connection, intent: Intent) -> None:
    """Say in shard 0 what the others owe, in the transaction of what it does itself."""
    connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (NAME, _text(intent)))


def clear(connection: sqlite3.Connection, intent: Intent) -> None:
    """Take back what was said; if it names sets that are gone, a wipe is due then."""
    connection.execute("DELETE FROM facts WHERE name = ? AND value = ?", (NAME, _text(intent)))
    if intent.kind == LEAVE:
        purge.mark_file(connection)


def _text(intent: Intent) -> str:
    return json.dumps([intent.kind, intent.names, intent.token])
