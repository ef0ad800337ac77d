"""Arriving: sets enter a collection in several files, each in the file where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import AbstractContextManager
from functools import partial
from typing import TypeVar

from lookalike.collection import filing, finishing, intents, media, merging, pairs, placing, rows
from lookalike.collection.filing import Filed
from lookalike.collection.intents import Intent
from lookalike.collection.media import MediaFile
from lookalike.collection.merging import Merged
from lookalike.collection.together import Held, Together
from lookalike.errors import BadInput
from lookalike.faceset import FaceSet

Done = TypeVar("Done")


def add(together: Together, merged: Merged, faceset: FaceSet, descriptor: str) -> bool:
    """Write a set unless the same is there already; whether it was written."""
    place = merged.place_of(faceset.id)

    def write(held: Held) -> bool:
        return rows.add(held[place], merged.path, faceset, descriptor)

    return _settled(together, merged, (faceset,), descriptor, lambda: together.changing((place,)), write)


def add_together(
    together: Together,
    merged: Merged,
    sets: Sequence[FaceSet],
    apart: Iterable[pairs.Pair],
    descriptor: str,
) -> None:
    """Write sets and pairs apart into all shards that they belong to, or into none."""
    for faceset in sets:
        rows.check(faceset, descriptor)
    checked = pairs.checked(apart)
    owners = merging.places(merged, [one.id for one in sets]) or {0}
    # Shard 0 says first what the others are about to get, if that is more than one file.
    places = owners if len(owners) == 1 else {0, *owners}

    def write(held: Held) -> Intent | None:
        new = [
            one.id for one in sets if rows.add(held[merged.place_of(one.id)], merged.path, one, descriptor)
        ]
        for pair in checked:
            place = min(pair, key=lambda one: (merged.place_of(one) not in owners, one))
            home = merged.place_of(place) if merged.place_of(place) in owners else min(owners)
            pairs.insert(held[home], [pair], merged.lookup(held))
        if len(owners) == 1 or not new:
            return None
        intent = Intent(intents.ARRIVE, tuple(new))
        intents.write(held[0], intent)
        return intent

    every = range(len(merged.shards))
    intent = _settled(
        together, merged, sets, descriptor, lambda: together.changing(places, reading=every), write
    )
    if intent is not None:
        finishing.clear(together, intent)


def keep_file(
    together: Together,
    merged: Merged,
    file: MediaFile,
    new: Sequence[FaceSet],
    grown: Sequence[FaceSet],
    apart: Iterable[pairs.Pair],
    descriptor: str,
) -> bool:
    """Write a file with its sets into the shard of the sets; whether its content was new.

    One without sets lies in the shard that its content says. That shard is locked by everybody who brings
    this content, so that two of them, under two names, do not both find it new.
    """
    given = Filed(file, new, grown, pairs.checked(apart), descriptor)
    home = placing.place_of_file(file.content, len(merged.shards))
    ids = [one.id for one in (*new, *grown)]
    owners = merging.places(merged, ids) or {home}
    if len(owners) > 1:
        raise BadInput(
            f"the sets of one file lie in one shard, and {ids[0]!r} and the others in {len(owners)}: "
            f"call them alike up to the last '#', as in {ids[0] + '#1'!r} and {ids[0] + '#2'!r}"
        )
    places = {*owners, home}
    every = range(len(merged.shards))
    while True:
        write = partial(_write_file, merged=merged, given=given, owner=min(owners), places=places)
        changing = partial(together.changing, frozenset(places), reading=every)
        done = _settled(together, merged, (*new, *grown), descriptor, changing, write, file.content)
        if isinstance(done, bool):
            return done
        places |= done


def _write_file(held: Held, merged: Merged, given: Filed, owner: int, places: Set[int]) -> bool | set[int]:
    """Write a file, or where it lies now; whether it was new, or which shards must be locked first."""
    known = {
        place: found
        for place, shard in enumerate(merged.shards)
        if (found := media.of(held[place], shard.path, given.file.content)) is not None
    }
    if not known:
        lookup = merged.lookup(held)
        for one in given.grown:
            if reason := lookup(one.id):
                raise reason
        barred = merged.shards[0]._barred.read(held[0], merged.shards[0].path)
        return filing.keep(held[owner], merged.path, given, barred, lookup)
    if not known.keys() <= places:
        return set(known)
    for place, found in known.items():
        media.move(held[place], found, given.file)
    return False


def _settled(
    together: Together,
    merged: Merged,
    sets: Sequence[FaceSet],
    descriptor: str,
    changing: Callable[[], AbstractContextManager[Held]],
    write: Callable[[Held], Done],
    content: str = "",
) -> Done:
    """Write where sets may enter: not barred, of the kind that shard 0 has settled for all shards."""
    while True:
        with changing() as held:
            known = bool(content) and any(
                media.of(held[place], shard.path, content) is not None
                for place, shard in enumerate(merged.shards)
            )
            if known:
                return write(held)
            barred = merged.shards[0]._barred.read(held[0], merged.shards[0].path)
            filing.refuse_barred(merged.path, barred, sets, descriptor, content)
            if not sets or merging.claimed(held[0]) == (descriptor, sets[0].dimension):
                return write(held)
        _claim(together, merged, sets[0], descriptor)


def _claim(together: Together, merged: Merged, faceset: FaceSet, descriptor: str) -> None:
    """Settle in shard 0 what makes all faces, unless there are others already, which refuse another kind."""
    # With all shards locked nobody can be about to add a first set of another kind.
    with together.changing() as held:
        kind, dimension = merging.claimed(held[0])
        if kind is not None and dimension is not None and any(map(merging.has_sets, held.values())):
            rows.refuse_other_kind(merged.path, faceset, descriptor, kind, dimension)
        merging.claim(held[0], (descriptor, faceset.dimension))
