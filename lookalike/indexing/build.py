"""Build an index: prepare every set, compare all pairs once, keep what queries will look up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import registry, resources
from lookalike.engines.contract import Engine, Label
from lookalike.errors import BadInput, LookalikeError, StorageFailed
from lookalike.faceset import FaceSet, unique_ids
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.opened import Version, checked_version
from lookalike.indexing import transform
from lookalike.indexing.slices import Hold, hold_slices, identity
from lookalike.indexing.store import SECONDS_BETWEEN_KEEPING, StoredTables, TableStore, Unfinished
from lookalike.indexing.transform import AUTO, hashes_of, prepare, ready_preparation, table_kind
from lookalike.method.neighbours import index_need, spread
from lookalike.method.proxies import (
    find_neighbours,
    grow_neighbours,
    is_by_means,
    is_screened,
    update_neighbours,
)
from lookalike.method.tables import HeldGallery, Neighbours, Tables, sizes_of
from lookalike.preparations.contract import Preparation
from lookalike.progress import Before, Task, Track, counted, silent
from lookalike.resources import Need
from lookalike.similarities.contract import Prepared, PreparedSets, SetSimilarity


def work_of_index(contents: Mapping[str, str], similarity: SetSimilarity) -> str:
    """What is done, in words."""
    return f"indexing {len(contents)} sets by {registry.spec(similarity)}"


def need_of_index(
    gallery: Gallery,
    similarity: SetSimilarity,
    preparation: Preparation,
    contents: Mapping[str, str],
    count: int,
) -> Need:
    """Estimate from a few sets, which are prepared for it."""
    counts = {facts.id: facts.faces for facts in gallery.listing()}
    ids = [id for id in contents if id in counts]
    faces = np.array([counts[id] for id in ids], dtype=np.int64)
    chosen = spread(faces)
    # Read whole: a stream that a refusal interrupts would keep the gallery open.
    some = list(gallery.sets([ids[number] for number in chosen]))
    prepared = list(transform.prepared_sets(some, similarity, preparation))
    return index_need(similarity, faces, chosen, prepared, count)


def need_with(old: StoredTables, contents: Mapping[str, str]) -> Need:
    """Estimate from the tables of the same gallery as it was."""
    size = sum(entry.bytes for entry in old.manifest.arrays.values())
    grown = size * len(contents) // max(1, len(old.arrays.get("hashes", contents)))
    return Need(grown, grown)


# Loose: sets that lie in memory only, made ready to be asked.


def index_loose(
    given: Iterable[FaceSet],
    similarity: SetSimilarity,
    count: int,
    track: Track,
    preparation: Preparation | str,
    hold: Hold,
) -> Tables:
    """Prepare sets and compare all pairs, keeping so many neighbours of each."""
    sets = _listed(given)
    if not sets:
        raise BadInput("there are no sets to search: give at least one")
    unique_ids(sets)
    lengths = {faceset.dimension for faceset in sets}
    if len(lengths) > 1:
        raise BadInput(
            f"faces of different sets have {sorted(lengths)} numbers: describe all of them the same way"
        )
    ordered = sorted(sets, key=lambda faceset: faceset.id)
    learnt = transform.prepare_sets(ordered, preparation)
    prepared = PreparedSets.join(
        track(transform.prepared_sets(ordered, similarity, learnt), "preparing sets", len(ordered))
    )
    held = hold(prepared)
    near = find_neighbours(similarity, held, count, track)
    ids = tuple(faceset.id for faceset in ordered)
    return Tables(ids, lengths.pop(), similarity, held, near, preparation=learnt)


def _listed(given: Any) -> list[FaceSet]:
    """Sets in memory as a list, or a sentence that says what was given instead."""
    sets = list(given) if isinstance(given, Iterable) else [given]
    wrong = [type(item).__name__ for item in sets if not isinstance(item, FaceSet)]
    if wrong:
        raise BadInput(f"a gallery is a Gallery or a list of FaceSet, got {wrong[0]}: make sets of it")
    return sets


# Index: prepare every set, compare all pairs once, keep what queries will look up.


# Raised whenever the arithmetic or the layout of the tables changes: older tables are then made again.
FORMAT = 2
# So many neighbours of each set an index keeps: cohorts of strangers and tails reach so far, proxies less.
NEIGHBOURS_KEPT = 64


def index(
    gallery: Gallery | Iterable[FaceSet],
    similarity: SetSimilarity | str = "max_max",
    track: Track = silent,
    preparation: Preparation | str = AUTO,
    engine: Engine | str | None = None,
    before: Before | None = None,
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
    engine : Engine or str, optional
        Where sets are compared, if not in this process: a cluster holds them in slices, one a machine.
    before : callable, optional
        Called with what is to be made (`progress.Task`) before it is; not for loose sets.

    Raises
    ------
    BadInput
        If there are no sets, or a set cannot be prepared.
    StorageFailed
        If there is too little memory or disk, which is told before the work begins, or the disk refuses.

    Examples
    --------
    >>> from lookalike import index
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> tables = index(sets, "max_max")
    >>> len(tables), tables.dimension
    (24, 118)
    """
    part: SetSimilarity = registry.build("similarities", similarity)
    if isinstance(gallery, (str, Path)):
        raise BadInput(f"a gallery must be opened first: write Gallery({str(gallery)!r})")
    place: Engine | None = None if engine is None else registry.build("engines", engine)
    if not isinstance(gallery, Gallery):
        hold: Hold = partial(hold_slices, similarity=part, engine=place)
        return index_loose(gallery, part, NEIGHBOURS_KEPT, track, preparation, hold)
    version = checked_version(gallery)
    if not len(version):
        raise BadInput(f"{gallery.path} holds no sets: add some with `lookalike add {gallery.path} SOURCE`")
    prepared = ready_preparation(version, preparation)
    if prepared is None:
        prepared = prepare(gallery, preparation, track, before=before)
        version = checked_version(gallery)  # others may have added and removed sets while it was learnt
    name = similarity if isinstance(similarity, str) else registry.spec(part)
    done = _indexed(gallery, version, part, prepared, place, track, before=before, name=name)
    # None if somebody removed a set while we worked.
    return index(gallery, similarity, track, preparation, engine, before) if done is None else done[1]


def update_index(
    gallery: Gallery, old: StoredTables, tables: Sequence[StoredTables], track: Track = silent
) -> StoredTables | None:
    """Bring an index up to date after sets were removed, without reading manifests again.

    `tables` are all that lay beside the gallery before. None if it is to be made anew when it is needed: the
    gallery is empty, the preparation knew a removed set, or somebody removes more sets meanwhile.
    """
    similarity, preparation = old.made_by
    part: SetSimilarity = registry.build("similarities", similarity)
    version = checked_version(gallery)
    prepared = ready_preparation(version, preparation, tables)
    if prepared is None or not len(version):
        return None
    done = _indexed(gallery, version, part, prepared, None, track, tables)
    return None if done is None else done[0]


def _indexed(
    gallery: Gallery,
    version: Version,
    part: SetSimilarity,
    prepared: Preparation,
    place: Engine | None,
    track: Track,
    tables: Sequence[StoredTables] | None = None,
    before: Before | None = None,
    name: str = "",
) -> tuple[StoredTables, Tables] | None:
    """The index as stored and as used, made or updated; None if a set left the gallery meanwhile."""
    fingerprint = index_fingerprint(version, part, prepared)
    store, kind = TableStore.beside(gallery.path), table_kind(part, prepared)

    def hold(sets: PreparedSets) -> PreparedSets | HeldGallery:
        if place is None:
            return sets
        label = Label(identity(gallery.path), "", kind, version.fingerprint(), fingerprint)
        return hold_slices(sets, part, place, label)

    listed = (table for table in tables or () if table.manifest.kind == kind)
    here = next((table for table in listed if table.fingerprint == fingerprint), None)
    stored = store.load(kind, fingerprint) if here is None else store.reopen(here)
    if stored is None:
        plan = _Plan(
            gallery=gallery,
            version=version,
            similarity=part,
            preparation=prepared,
            store=store,
            kind=kind,
            fingerprint=fingerprint,
            hold=hold,
            track=track,
            before=before,
            name=name,
            beside=tables,
        )
        stored = _made(plan)
        if stored is None:
            # No table may keep a set that left, nor what was learnt from it.
            store.drop(kind)
            return None
    elif tables is None:
        # A process that was killed at the very end left the table before this one, which may know sets that
        # are removed by now. One that is newer is somebody else's.
        with suppress(StorageFailed):
            store.erase_older(stored)
    found = Tables.from_arrays(stored.arrays, part, prepared, fingerprint, tuple(version.contents()))
    assert isinstance(found.sets, PreparedSets)  # nobody holds yet what was just read
    return stored, replace(found, sets=hold(found.sets))


def index_states(gallery: Gallery) -> list[dict[str, object]]:
    """Every finished table beside a gallery: its kind, and whether it still fits the gallery."""
    stored = TableStore.beside(gallery.path).stored()
    fit = {table.path for table in tables_that_fit(gallery, stored)}
    return [
        {"kind": table.manifest.kind, "fits": table.path in fit}
        for table in stored
        if not transform.is_preparation(table)
    ]


def tables_that_fit(gallery: Gallery, tables: Sequence[StoredTables]) -> list[StoredTables]:
    """Those of all tables beside a gallery that were made from what it holds now.

    They are indexes, what was learnt on an index, and preparations.
    """
    indexes = {table.made_by for table in tables if not transform.is_preparation(table)}
    now = {made: _fingerprint_now(gallery, *made, tables) for made in indexes}
    return [
        table
        for table in tables
        if (
            transform.preparation_fits(gallery, table)
            if transform.is_preparation(table)
            else table.facts.get("index", table.fingerprint) == now[table.made_by]
        )
    ]


def _fingerprint_now(
    gallery: Gallery, similarity: str, preparation: str, tables: Sequence[StoredTables]
) -> str | None:
    """The fingerprint that an index would have; None if it cannot be made without learning anything."""
    try:
        part: SetSimilarity = registry.build("similarities", similarity)
        prepared = ready_preparation(gallery, preparation, tables)
    except LookalikeError:  # unfinished, or of a part that is not installed any more
        return None
    return None if prepared is None else index_fingerprint(gallery, part, prepared)


def index_fingerprint(gallery: Gallery | Version, similarity: SetSimilarity, prepared: Preparation) -> str:
    """Everything that shapes the tables, as one short text."""
    shaped_by = (
        f"{FORMAT}|{registry.spec(similarity)}|{similarity.version}|{NEIGHBOURS_KEPT}|{gallery.fingerprint()}"
    )
    if prepared.is_learnt:  # otherwise tables from before there were preparations are found again
        shaped_by += f"|{prepared.fingerprint()}"
    return hashlib.sha256(shaped_by.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class _Plan:
    """Tables that are to be made: of what, how, and where they are kept."""

    gallery: Gallery
    version: Version
    similarity: SetSimilarity
    preparation: Preparation
    store: TableStore
    kind: str
    fingerprint: str
    hold: Hold
    track: Track
    before: Before | None
    name: str  # of the similarity, as it was given
    beside: Sequence[StoredTables] | None = None  # all that lie beside the gallery, if they are known

    @property
    def contents(self) -> Mapping[str, str]:
        return self.version.contents()

    @property
    def unfinished(self) -> str:
        """What work is called that was interrupted."""
        return f"unfinished {self.kind}"

    def begin(self, need: Need) -> None:
        """Announce the work, and refuse it if there is no room."""
        if self.before is not None:
            words = f"indexing {counted(len(self.version))} by {self.name}, which is kept: {need}"
            self.before(Task("index", words, need))
        resources.check(work_of_index(self.contents, self.similarity), need, self.store.folder)

    def tables(self, sets: PreparedSets, near: Neighbours) -> Tables:
        """What was made."""
        dimension = self.version.dimension
        assert dimension is not None  # a gallery that holds a set knows it
        return Tables(
            tuple(self.contents), dimension, self.similarity, sets, near, preparation=self.preparation
        )


def _made(plan: _Plan) -> StoredTables | None:
    """Update older tables or build new ones, and keep them; None if a set left the gallery meanwhile."""
    store, kind, prepared = plan.store, plan.kind, plan.preparation
    if plan.beside is None:
        old = store.latest(kind, besides=plan.fingerprint)
    else:
        earlier = (table for table in plan.beside if table.manifest.kind == kind)
        others = (table for table in earlier if table.fingerprint != plan.fingerprint)
        old = next(filter(None, map(store.reopen, others)), None)
    tables = None if old is None else _updated(plan, old)
    if tables is None:
        tables = _built(plan)
    stored = store.save(
        kind,
        plan.fingerprint,
        {**tables.to_arrays(), "hashes": hashes_of(plan.contents)},
        {
            "format": FORMAT,
            "similarity": registry.spec(plan.similarity),
            "version": plan.similarity.version,
            "preparation": registry.spec(prepared),
            "prepared": prepared.fingerprint(),
        },
    )
    store.keep_only(kind, plan.fingerprint)
    store.drop(plan.unfinished)
    now = plan.gallery.contents()
    left = any(now.get(id) != content for id, content in plan.contents.items())
    return None if left or ready_preparation(plan.gallery, prepared, plan.beside) is None else stored


def _built(plan: _Plan) -> Tables:
    """Compare all pairs; what is done is kept now and then, and at an interruption, to go on from there."""
    gallery, similarity, preparation, contents = (
        plan.gallery,
        plan.similarity,
        plan.preparation,
        plan.contents,
    )
    plan.begin(need_of_index(gallery, similarity, preparation, contents, NEIGHBOURS_KEPT))
    prepared = transform.prepared_sets(gallery.sets(list(contents)), similarity, preparation)
    sets = PreparedSets.join(plan.track(prepared, "preparing sets", len(contents)))
    held = plan.hold(sets)
    # Slices are sent other runs than are compared here.
    origin = plan.fingerprint
    if held is not sets:
        origin = f"{plan.fingerprint}-slices"
    elif is_by_means(similarity, len(sets)):
        origin = f"{plan.fingerprint}-means"
    elif is_screened(similarity, int(sizes_of(similarity, sets).sum())):
        origin = f"{plan.fingerprint}-rounded"
    work = Unfinished(plan.store, plan.unfinished, origin, SECONDS_BETWEEN_KEEPING)
    earlier = work.take_up()
    done, near = (0, None) if earlier is None else (earlier[0], Neighbours(**earlier[1]))

    def state() -> Mapping[str, NDArray[Any]]:
        return near._asdict() if near is not None else {}

    with work.kept_at_the_end(lambda: done, state):
        for finished in grow_neighbours(similarity, held, NEIGHBOURS_KEPT, near, done, plan.track):
            done, near = finished
            work.step(done, state)
    assert near is not None  # a gallery that holds a set has at least one run to compare
    return plan.tables(sets, near)


def _updated(plan: _Plan, stored: StoredTables) -> Tables | None:
    """Carry old tables over; None if they are of another format or version, or prepared otherwise."""
    similarity, preparation, contents = plan.similarity, plan.preparation, plan.contents
    made = stored.facts.get("format"), stored.facts.get("version"), stored.facts.get("prepared", "")
    if made != (FORMAT, similarity.version, preparation.fingerprint()):
        return None
    plan.begin(need_with(stored, contents))
    old = Tables.from_arrays(stored.arrays, similarity, preparation)
    old_contents = {id: bytes(row).hex() for id, row in zip(old.ids, stored.arrays["hashes"], strict=True)}
    now = {id: number for number, id in enumerate(contents)}
    places = np.array(
        [now[id] if contents.get(id) == old_contents[id] else -1 for id in old.ids], dtype=np.int64
    )
    fresh = [id for id in contents if old_contents.get(id) != contents[id]]
    new = transform.prepared_sets(plan.gallery.sets(fresh), similarity, preparation)
    shown = plan.track(new, "preparing sets", len(fresh))
    prepared: dict[str, Prepared] = dict(zip(fresh, shown, strict=True))
    sets = PreparedSets.join(prepared[id] if id in prepared else old.sets[old.numbers[id]] for id in contents)
    near = update_neighbours(similarity, plan.hold(sets), old.neighbours, places, NEIGHBOURS_KEPT, plan.track)
    return plan.tables(sets, near)
