"""Index: prepare every set, compare all pairs once, keep what queries will look up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import estimating, parts, preparing, room
from lookalike.collection.checking import check_counts
from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import StoredTables, TableStore
from lookalike.collection.unfinished import SECONDS_BETWEEN_KEEPING, Unfinished
from lookalike.engines.contract import Engine, Label
from lookalike.errors import BadInput, LookalikeError, StorageFailed
from lookalike.faceset import FaceSet
from lookalike.loose import index_loose
from lookalike.packing import from_arrays, hashes_of, made_by, prepared_of, to_arrays
from lookalike.preparations.contract import Preparation
from lookalike.preparations.none import Nothing
from lookalike.preparing import AUTO, choose, is_ready, prepare, table_kind
from lookalike.progress import Track, silent
from lookalike.room import Need
from lookalike.similarities.contract import Prepared, PreparedSets, SetSimilarity
from lookalike.slicing import Hold, hold_slices, identity
from lookalike.transitivity.proxies import grow_neighbours, update_neighbours
from lookalike.transitivity.tables import Neighbours, Tables

# Raised whenever the arithmetic or the layout of the tables changes: older tables are then made again.
FORMAT = 2
# Neighbours of each set that are kept: cohorts of strangers and tails reach so far, proxies less.
COUNT = 64


def index(
    gallery: Gallery | Iterable[FaceSet],
    similarity: SetSimilarity | str = "max_max",
    track: Track = silent,
    preparation: Preparation | str = AUTO,
    engine: Engine | str = "local",
) -> Tables:
    """Return the tables of a gallery, making or updating only what is missing.

    Parameters
    ----------
    gallery : Gallery or iterable of FaceSet
        Tables of a gallery are kept beside its file; those of loose sets live in memory only.
    similarity : SetSimilarity or str
        The baseline, or its name.
    track : callable
        Shows progress.
    preparation : Preparation or str
        What is done to faces before they are compared, or its name. ``auto`` is what suits the descriptor of
        a gallery of enough sets, and nothing otherwise. It is learnt once, and kept as long as the gallery
        holds every set that it was learnt from.
    engine : Engine or str
        Where sets are compared: one of a cluster holds them in slices, as many as it has machines.

    Raises
    ------
    BadInput
        If there are no sets, or a set cannot be prepared.
    StorageFailed
        If there is too little memory or disk, which is told before the work begins, or the disk refuses.
    """
    part: SetSimilarity = parts.build("similarities", similarity)
    if isinstance(gallery, (str, Path)):
        raise BadInput(f"a gallery must be opened first: write Gallery({str(gallery)!r})")
    place: Engine = parts.build("engines", engine)
    if not isinstance(gallery, Gallery):
        hold: Hold = partial(hold_slices, similarity=part, engine=place)
        return index_loose(gallery, part, COUNT, track, preparation, hold)
    check_counts(gallery)
    if not len(gallery):
        raise BadInput(f"{gallery.path} holds no sets: add some with `lookalike add {gallery.path} SOURCE`")
    prepared = prepare(gallery, preparation, track)
    contents, fingerprint = _snapshot(gallery, part, prepared)
    store, kind = TableStore.beside(gallery.path), table_kind(part, prepared)
    label = Label(identity(gallery.path), "", kind, gallery.fingerprint(), fingerprint)
    hold = partial(hold_slices, similarity=part, engine=place, label=label)
    stored = store.load(kind, fingerprint)
    if stored is None:
        old = store.latest(kind, besides=fingerprint)
        tables = None if old is None else _updated(gallery, part, prepared, contents, old, hold, track)
        if tables is None:
            tables = _built(gallery, part, prepared, contents, store, fingerprint, hold, track)
        stored = store.save(
            kind,
            fingerprint,
            {**to_arrays(tables), "hashes": hashes_of(contents)},
            {
                "format": FORMAT,
                "similarity": parts.spec(part),
                "version": part.version,
                "preparation": parts.spec(prepared),
                "prepared": prepared.fingerprint(),
            },
        )
        store.keep_only(kind, fingerprint)
        store.drop(_unfinished(kind))
        now = gallery.contents()
        left = any(now.get(id) != content for id, content in contents.items())
        if left or not is_ready(gallery, prepared):
            # Somebody removed a set while we worked: no table may keep it, nor what was learnt from it.
            store.drop(kind)
            return index(gallery, part, track, preparation, engine)
    else:
        # A process that was killed at the very end left the table before this one, which may know sets that
        # are removed by now. One that is newer is somebody else's.
        with suppress(StorageFailed):
            store.erase_older(stored)
    tables = from_arrays(stored.arrays, part, prepared, fingerprint)
    return replace(tables, sets=hold(prepared_of(stored.arrays)))


def is_indexed(gallery: Gallery, similarity: SetSimilarity, preparation: Preparation | str = AUTO) -> bool:
    """Whether `index` would find everything done."""
    if not is_ready(gallery, preparation):
        return False
    store, prepared = TableStore.beside(gallery.path), prepare(gallery, preparation)
    return store.has(table_kind(similarity, prepared), index_fingerprint(gallery, similarity, prepared))


def needed(gallery: Gallery, similarity: SetSimilarity, preparation: Preparation | str = AUTO) -> Need | None:
    """What `index` will take, about; None if it would find everything done."""
    if not len(gallery) or is_indexed(gallery, similarity, preparation):
        return None
    contents, kind = gallery.contents(), table_kind(similarity, choose(gallery, preparation))
    old = [one for one in TableStore.beside(gallery.path).stored() if one.manifest.kind == kind]
    if is_ready(gallery, preparation):
        if old:
            return estimating.need_with(old[0], contents)
        return estimating.need(gallery, similarity, prepare(gallery, preparation), contents, COUNT)
    # Prepared faces are mostly shorter, nobody knows yet by how much.
    need = estimating.need(gallery, similarity, Nothing(), contents, COUNT)
    return Need(max(need.memory, preparing.learning_bytes(_dimension(gallery))), need.disk)


def index_states(gallery: Gallery) -> list[dict[str, object]]:
    """Every finished table beside a gallery: its kind, and whether it still fits the gallery."""
    stored = [one for one in TableStore.beside(gallery.path).stored() if not preparing.is_preparation(one)]
    return [{"kind": one.manifest.kind, "fits": table_fits(gallery, one)} for one in stored]


def table_fits(gallery: Gallery, stored: StoredTables) -> bool:
    """Whether an index, what was learnt on one, or a preparation was made from what the gallery holds now."""
    if preparing.is_preparation(stored):
        return preparing.preparation_fits(gallery, stored)
    written, preparation = made_by(stored)
    try:
        similarity = parts.build("similarities", written)
        if not is_ready(gallery, preparation):
            return False
        prepared = prepare(gallery, preparation)
    except LookalikeError:  # unfinished, or of a part that is not installed any more
        return False
    made = stored.facts.get("index", stored.fingerprint)
    return bool(made == index_fingerprint(gallery, similarity, prepared))


def index_fingerprint(gallery: Gallery, similarity: SetSimilarity, prepared: Preparation) -> str:
    """Everything that shapes the tables, as one short text."""
    shaped_by = f"{FORMAT}|{parts.spec(similarity)}|{similarity.version}|{COUNT}|{gallery.fingerprint()}"
    if prepared.is_learnt:  # otherwise tables from before there were preparations are found again
        shaped_by += f"|{prepared.fingerprint()}"
    return hashlib.sha256(shaped_by.encode()).hexdigest()[:32]


def _snapshot(
    gallery: Gallery, similarity: SetSimilarity, prepared: Preparation
) -> tuple[dict[str, str], str]:
    """Contents and the fingerprint that belongs to them, though others may be adding sets."""
    while True:
        fingerprint, contents = index_fingerprint(gallery, similarity, prepared), gallery.contents()
        if index_fingerprint(gallery, similarity, prepared) == fingerprint:
            return contents, fingerprint


def _built(
    gallery: Gallery,
    similarity: SetSimilarity,
    preparation: Preparation,
    contents: Mapping[str, str],
    store: TableStore,
    fingerprint: str,
    hold: Hold,
    track: Track,
) -> Tables:
    """Compare all pairs; what is done is kept now and then, and at an interruption, to go on from there."""
    need = estimating.need(gallery, similarity, preparation, contents, COUNT)
    room.check(estimating.work(contents, similarity), need, store.folder)
    prepared = preparing.prepared_sets(gallery.sets(list(contents)), similarity, preparation)
    sets = PreparedSets.join(track(prepared, "preparing sets", len(contents)))
    held = hold(sets)
    # Slices are sent other runs than are compared here.
    origin = fingerprint if held is sets else f"{fingerprint}-slices"
    work = Unfinished(
        store, _unfinished(table_kind(similarity, preparation)), origin, SECONDS_BETWEEN_KEEPING
    )
    earlier = work.take_up()
    done, near = (0, None) if earlier is None else (earlier[0], Neighbours(**earlier[1]))

    def state() -> Mapping[str, NDArray[Any]]:
        return near._asdict() if near is not None else {}

    with work.kept_at_the_end(lambda: done, state):
        for finished in grow_neighbours(similarity, held, COUNT, near, done, track):
            done, near = finished
            work.step(done, state)
    assert near is not None  # a gallery that holds a set has at least one run to compare
    return Tables(tuple(contents), _dimension(gallery), similarity, sets, near, preparation=preparation)


def _unfinished(kind: str) -> str:
    return f"unfinished {kind}"


def _updated(
    gallery: Gallery,
    similarity: SetSimilarity,
    preparation: Preparation,
    contents: Mapping[str, str],
    stored: StoredTables,
    hold: Hold,
    track: Track,
) -> Tables | None:
    """Carry old tables over; None if they are of another format or version, or prepared otherwise."""
    made = stored.facts.get("format"), stored.facts.get("version"), stored.facts.get("prepared", "")
    if made != (FORMAT, similarity.version, preparation.fingerprint()):
        return None
    place = TableStore.beside(gallery.path).folder
    room.check(estimating.work(contents, similarity), estimating.need_with(stored, contents), place)
    old = from_arrays(stored.arrays, similarity, preparation)
    old_contents = {id: bytes(row).hex() for id, row in zip(old.ids, stored.arrays["hashes"], strict=True)}
    now = {id: number for number, id in enumerate(contents)}
    places = np.array(
        [now[id] if contents.get(id) == old_contents[id] else -1 for id in old.ids], dtype=np.int64
    )
    fresh = [id for id in contents if old_contents.get(id) != contents[id]]
    new = preparing.prepared_sets(gallery.sets(fresh), similarity, preparation)
    shown = track(new, "preparing sets", len(fresh))
    prepared: dict[str, Prepared] = dict(zip(fresh, shown, strict=True))
    sets = PreparedSets.join(
        [prepared[id] if id in prepared else old.sets[old.numbers[id]] for id in contents]
    )
    near = update_neighbours(similarity, hold(sets), old.neighbours, places, COUNT, track)
    return Tables(tuple(contents), _dimension(gallery), similarity, sets, near, preparation=preparation)


def _dimension(gallery: Gallery) -> int:
    assert gallery.dimension is not None  # a gallery that holds a set knows it
    return gallery.dimension
