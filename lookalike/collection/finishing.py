"""Finishing: what several shards owe each other, done by whoever finds it; all of it may be done twice."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lookalike.collection import (
    connections,
    decisions,
    filing,
    intents,
    leaving,
    media,
    merging,
    models,
    pairs,
    purge,
    queries,
)
from lookalike.collection.barred import Entry
from lookalike.collection.connections import Connection
from lookalike.collection.intents import Intent
from lookalike.collection.leaving import Gone, Told
from lookalike.collection.merging import Merged
from lookalike.collection.together import Held, Together
from lookalike.errors import StorageFailed

logger = logging.getLogger(__name__)


def finish(together: Together, merged: Merged, intent: Intent) -> None:
    """Do what an intent says in every shard where it is not done, and take it back.

    Raises
    ------
    StorageFailed
        If the collection may not be written.
    """
    if not connections.is_writable(together.shards[0].path):
        raise StorageFailed(
            f"a change of {together.path} was interrupted and cannot be finished where it is read-only: "
            f"open it once where it may be written"
        )
    if intent.kind == intents.ARRIVE:
        _arrive(together, merged, intent)
        return
    for place in range(len(together.shards)):
        with together.changing((place,), despite=intent) as held:
            if not _stands(held, together, intent):
                return  # somebody else has finished it
            if intent.kind == intents.USE:
                use(held[place], merged, place, intent.names[0])
            elif leaves(held[place], intent.names):
                delete(held[place], intent.names)
    if intent.kind == intents.LEAVE and not len_of(together, intent):
        with together.changing(despite=intent) as held:
            if _stands(held, together, intent):
                empty(held)
    clear(together, intent)


def clear(together: Together, intent: Intent) -> None:
    """Take an intent back that is done in every shard."""
    with together.changing((0,), despite=intent) as held:
        if _stands(held, together, intent):
            intents.clear(held[0], intent)


def len_of(together: Together, intent: Intent) -> int:
    """How many shards hold a set."""
    with together.changing((), reading=range(len(together.shards)), despite=intent) as held:
        return sum(map(merging.has_sets, held.values()))


def _arrive(together: Together, merged: Merged, intent: Intent) -> None:
    """Sets that came into several shards: all of them are there, or those that are must go again."""
    undone = Intent(intents.LEAVE, intent.names)
    owners = merging.places(merged, intent.names)
    with together.changing({0, *owners}, despite=intent) as held:
        if not _stands(held, together, intent):
            return
        if all(queries.has(held[merged.place_of(one)], one) for one in intent.names):
            intents.clear(held[0], intent)
            return
        intents.write(held[0], undone)
    finish(together, merged, undone)


def _stands(held: Held, together: Together, intent: Intent) -> bool:
    return intents.read(held[0], together.shards[0].path) == intent


# LOW LEVEL: one shard each; the caller holds the transaction.


def leaves(connection: Connection, ids: Sequence[str]) -> bool:
    """Whether a shard holds one of the sets, or a pair with one."""
    return any(queries.has(connection, one) or pairs.names(connection, one) for one in ids)


def delete(connection: Connection, ids: Sequence[str]) -> None:
    """Delete those of the sets that are there, and their pairs; a wipe is due then."""
    filing.delete(connection, ids)
    purge.mark(connection)


def empty(held: Held) -> None:
    """Let a collection without any set take any kind of face again."""
    if any(map(merging.has_sets, held.values())):
        return
    for connection in held.values():
        connection.execute("DELETE FROM models")
    merging.claim(held[0], merging.NOTHING)
    queries.forget_facts(held[0], *queries.HINTS)


def use(connection: Connection, merged: Merged, place: int, name: str) -> None:
    """Let a shard use another model; one without sets forgets its vectors, of which there are none."""
    if merging.has_sets(connection):
        models.use(connection, merged.shards[place].path, name)
    else:
        connection.execute("DELETE FROM models WHERE name = ?", (name,))


# HIGH LEVEL: sets leave, all of them or none.


def remove(together: Together, merged: Merged, ids: Sequence[str]) -> None:
    """Delete sets with all that is known of them, in every shard."""
    with _deciding(together) as decided, together.changing() as held:
        _check(held, merged, ids)
        decided += _take_out(held, merged, ids)


def forget(
    together: Together, merged: Merged, ids: Sequence[str], bar: bool, people: Sequence[Entry]
) -> Gone:
    """As `remove`; what went is counted, written down and, if asked for, barred, in the same step."""
    told = Told()
    with _deciding(together) as decided, together.changing() as held:
        _check(held, merged, ids)
        for set_id in ids:
            place = merged.place_of(set_id)
            told.take(held[place], merged.shards[place].path, set_id, bar)
        touched = [one for place, one in held.items() if place == 0 or leaves(one, ids)]
        before = [leaving.counts(one) for one in touched]
        decided += _take_out(held, merged, ids)
        after = [leaving.counts(one) for one in touched]
        lost = {
            table: count
            for table in leaving.TABLES
            if (count := sum(one[table] for one in before) - sum(one[table] for one in after))
        }
        if "files" in lost:
            # A film that shows sets of two shards is one film.
            lost["files"] = sum(_is_gone(held, merged, content) for content in told.files)
        gone = told.note(held[0], {table: count for table, count in lost.items() if count}, bar, people)
    return gone  # noqa: RET504  (what the disk refuses at the end of the block may be passed over)


def _check(held: Held, merged: Merged, ids: Sequence[str]) -> None:
    lookup = merged.lookup(held)
    for set_id in ids:
        if reason := lookup(set_id):
            raise reason


def _is_gone(held: Held, merged: Merged, content: str) -> bool:
    each = enumerate(merged.shards)
    return all(media.of(held[place], one.path, content) is None for place, one in each)


def _take_out(held: Held, merged: Merged, ids: Sequence[str]) -> list[Intent]:
    """Delete in every shard, none of which commits yet; what others than shard 0 will owe when it does."""
    decisions.forget(held[0], merged.shards[0].path, ids)
    touched = [place for place, one in held.items() if leaves(one, ids)]
    for place in touched:
        delete(held[place], ids)
    empty(held)
    # Decisions named the sets, and an intent will.
    purge.mark_file(held[0])
    held[0].execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (merging.DERIVED, secrets.token_hex(8)))
    if set(touched) <= {0} and any(map(merging.has_sets, held.values())):
        return []  # only shard 0 changed, in one step
    intent = Intent(intents.LEAVE, tuple(ids))
    intents.write(held[0], intent)
    return [intent]


@contextmanager
def _deciding(together: Together) -> Iterator[list[Intent]]:
    """A block that may decide one thing in shard 0; afterwards it is done, or will be, and wiped.

    What the disk refuses once it is decided is logged: whoever asks next finishes it, and sees none of it.
    """
    decided: list[Intent] = []
    try:
        try:
            yield decided
        except StorageFailed as reason:
            if not decided or not _is_decided(together, decided[0]):
                raise
            raise _Later(str(reason)) from reason
        for intent in decided:
            try:
                clear(together, intent)
            except StorageFailed as reason:
                raise _Later(str(reason)) from reason
    except _Later as reason:
        logger.warning("a removal in %s is finished when it is next used: %s", together.path, reason)
        return
    for one in together.shards:
        one._opened.catch_up(wait=one._opened.wait, derived=True)


class _Later(StorageFailed):
    """What is decided, but not done everywhere."""


def _is_decided(together: Together, intent: Intent) -> bool:
    with together.shards[0]._opened.transaction() as connection:
        return intents.read(connection, together.shards[0].path) == intent
