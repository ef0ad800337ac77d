"""Checking a collection in several files: each of them, and that they belong together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from lookalike.collection import (
    checking,
    connections,
    decisions,
    intents,
    membership,
    merging,
    pairs,
    placing,
    queries,
)
from lookalike.collection.checking import told
from lookalike.collection.failures import in_words
from lookalike.collection.findings import Finding, of_gallery, of_set
from lookalike.collection.membership import Membership
from lookalike.collection.together import Held
from lookalike.errors import GalleryUnreadable
from lookalike.progress import Track, silent


def findings(folder: Path, wait: float = 30.0, track: Track = silent) -> list[Finding]:
    """Read all files of a collection whole and tell what is wrong with them; nothing is changed.

    Parameters
    ----------
    folder : Path
    wait : float
        Seconds to wait for another process that is writing.
    track : callable
        Shows progress.

    Raises
    ------
    StorageFailed
        If the disk refuses.
    """
    found: list[Finding] = []
    try:
        with in_words(folder):
            said = membership.read(folder)
    except GalleryUnreadable as reason:
        # The files that are there can be read all the same.
        said, found = None, [of_gallery(folder, reason)]
    names = [one.name for one in membership.shard_files(folder)]
    whole = True
    for name in names if said is None else said.files:
        try:
            each = checking.findings(folder / name, wait, track)
        except GalleryUnreadable as reason:  # it is no gallery at all
            each, whole = [of_gallery(folder / name, reason)], False
        found += each
    if said is not None and whole:
        found += told(folder, lambda: _together(folder, said, wait))
    return list(dict.fromkeys(found))


def _together(folder: Path, said: Membership, wait: float) -> Iterator[Finding]:
    """Whether the files are those of the manifest, and what each says of the others is there."""
    with ExitStack() as stack:
        held: Held = {}
        for place, name in enumerate(said.files):
            with in_words(folder / name):
                held[place] = stack.enter_context(closing(connections.connect(folder / name, wait)))
                held[place].execute("BEGIN")
        for place, name in enumerate(said.files):
            yield from told(folder / name, partial(_member, held, folder / name, said, place))
        yield from _sets(held, folder, said)
        yield from told(folder, lambda: _named(held, folder, said))


def _member(held: Held, path: Path, said: Membership, place: int) -> Iterator[Finding]:
    """It belongs here, and its faces are made as those of all shards are."""
    membership.check(held[place], path, said, place)
    kind = queries.fact(held[place], "descriptor"), queries.dimension(held[place], path)
    is_changing = intents.read(held[0], path) is not None  # which ends when it is next opened
    if kind != merging.NOTHING and kind != merging.claimed(held[0]) and not is_changing:
        yield of_gallery(path, f"its faces are made by {kind[0]!r} ({kind[1]} numbers), those of shard 0 not")
    if place and held[place].execute("SELECT EXISTS (SELECT 1 FROM decisions)").fetchone()[0]:
        yield of_gallery(path, "it holds decisions, which belong into shard 0")


def _sets(held: Held, folder: Path, said: Membership) -> Iterator[Finding]:
    """Every set lies in the shard that its id says: then none lies in two."""
    for place, connection in held.items():
        path = folder / said.files[place]
        for set_id in queries.ids(connection, path):
            home = placing.place_of(set_id, said.shards)
            if home != place:
                twice = ", where it is too" if queries.has(held[home], set_id) else ""
                yield of_set(path, set_id, f"set {set_id!r} belongs into {said.files[home]}{twice}")


def _named(held: Held, folder: Path, said: Membership) -> Iterator[Finding]:
    """Sets of which decisions and pairs speak are there."""
    for place, connection in held.items():
        path = folder / said.files[place]
        named = {one for pair in pairs.everything(connection, path) for one in pair}
        named |= {one for each in decisions.everything(connection, path) for one in each.sets}
        for set_id in sorted(named):
            if not queries.has(held[placing.place_of(set_id, said.shards)], set_id):
                yield of_gallery(path, f"it speaks of set {set_id!r}, which is in no shard")
