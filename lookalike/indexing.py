"""Index: prepare every set, compare all pairs once, keep what queries will look up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import parts, room
from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import StoredTables, TableStore
from lookalike.collection.unfinished import SECONDS_BETWEEN_KEEPING, Unfinished
from lookalike.errors import BadInput, LookalikeError, StorageFailed
from lookalike.faceset import FaceSet, unique_ids
from lookalike.kernels.threads import in_order
from lookalike.progress import Track, silent
from lookalike.room import Need
from lookalike.similarities.contract import Prepared, PreparedSets, SetSimilarity
from lookalike.transitivity.proxies import find_neighbours, grow_neighbours, update_neighbours
from lookalike.transitivity.sizes import index_need, spread
from lookalike.transitivity.tables import Neighbours, Tables

# Raised whenever the arithmetic or the layout of the tables changes: older tables are then made again.
FORMAT = 2
# Neighbours of each set that are kept: cohorts of strangers and tails reach so far, proxies less.
COUNT = 64


def index(
    gallery: Gallery | Iterable[FaceSet], similarity: SetSimilarity | str = "max_max", track: Track = silent
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
    if not isinstance(gallery, Gallery):
        return _index_sets(_listed(gallery), part, track)
    contents, fingerprint = _snapshot(gallery, part)
    if not contents:
        raise BadInput(f"{gallery.path} holds no sets: add some with `lookalike add {gallery.path} SOURCE`")
    store, kind = TableStore.beside(gallery.path), parts.spec(part)
    stored = store.load(kind, fingerprint)
    if stored is None:
        old = store.latest(kind, besides=fingerprint)
        tables = None if old is None else _updated(gallery, part, contents, old, track)
        if tables is None:
            tables = _built(gallery, part, contents, store, fingerprint, track)
        hashes = np.array([list(bytes.fromhex(value)) for value in contents.values()], dtype=np.uint8)
        stored = store.save(
            kind,
            fingerprint,
            {**_to_arrays(tables), "hashes": hashes},
            {"format": FORMAT, "similarity": kind, "version": part.version},
        )
        store.keep_only(kind, fingerprint)
        store.drop(_unfinished(kind))
        now = gallery.contents()
        if any(now.get(id) != content for id, content in contents.items()):
            # Somebody removed a set while we worked: no table may keep it.
            store.drop(kind)
            return index(gallery, part, track)
    else:
        # A process that was killed at the very end left the table before this one, which may know sets that
        # are removed by now. One that is newer is somebody else's.
        with suppress(StorageFailed):
            store.erase_older(stored)
    return _from_arrays(stored.arrays, part, fingerprint)


def is_indexed(gallery: Gallery, similarity: SetSimilarity) -> bool:
    """Whether `index` would find everything done."""
    store = TableStore.beside(gallery.path)
    return store.has(parts.spec(similarity), index_fingerprint(gallery, similarity))


def needed(gallery: Gallery, similarity: SetSimilarity) -> Need | None:
    """What `index` will take, about; None if it would find everything done."""
    if not len(gallery) or is_indexed(gallery, similarity):
        return None
    contents, kind = gallery.contents(), parts.spec(similarity)
    old = [one for one in TableStore.beside(gallery.path).stored() if one.manifest.kind == kind]
    return _need_with(old[0], contents) if old else _need(gallery, similarity, contents)


def index_states(gallery: Gallery) -> list[dict[str, object]]:
    """Every finished table beside a gallery: its kind, and whether it still fits the gallery."""
    stored = TableStore.beside(gallery.path).stored()
    return [{"kind": one.manifest.kind, "fits": table_fits(gallery, one)} for one in stored]


def table_fits(gallery: Gallery, stored: StoredTables) -> bool:
    """Whether an index, or what was learnt on one, was made from just what the gallery holds now."""
    try:
        similarity = parts.build("similarities", stored.facts.get("on", stored.manifest.kind))
    except LookalikeError:  # unfinished, or of a part that is not installed any more
        return False
    return bool(stored.facts.get("index", stored.fingerprint) == index_fingerprint(gallery, similarity))


def index_fingerprint(gallery: Gallery, similarity: SetSimilarity) -> str:
    """Everything that shapes the tables, as one short text."""
    shaped_by = f"{FORMAT}|{parts.spec(similarity)}|{similarity.version}|{COUNT}|{gallery.fingerprint()}"
    return hashlib.sha256(shaped_by.encode()).hexdigest()[:32]


def _snapshot(gallery: Gallery, similarity: SetSimilarity) -> tuple[dict[str, str], str]:
    """Contents and the fingerprint that belongs to them, though others may be adding sets."""
    while True:
        fingerprint, contents = index_fingerprint(gallery, similarity), gallery.contents()
        if index_fingerprint(gallery, similarity) == fingerprint:
            return contents, fingerprint


def _listed(given: Any) -> list[FaceSet]:
    """Sets in memory as a list, or a sentence that says what was given instead."""
    sets = list(given) if isinstance(given, Iterable) else [given]
    wrong = [type(one).__name__ for one in sets if not isinstance(one, FaceSet)]
    if wrong:
        raise BadInput(f"a gallery is a Gallery or a list of FaceSet, got {wrong[0]}: make sets of it")
    return sets


def _index_sets(sets: Sequence[FaceSet], similarity: SetSimilarity, track: Track) -> Tables:
    if not sets:
        raise BadInput("there are no sets to search: give at least one")
    unique_ids(sets)
    lengths = {faceset.dimension for faceset in sets}
    if len(lengths) > 1:
        raise BadInput(
            f"faces of different sets have {sorted(lengths)} numbers: describe all of them the same way"
        )
    ordered = sorted(sets, key=lambda faceset: faceset.id)
    prepared = PreparedSets.join(track(_prepare(ordered, similarity), "preparing sets", len(ordered)))
    near = find_neighbours(similarity, prepared, COUNT, track)
    return Tables(tuple(faceset.id for faceset in ordered), lengths.pop(), similarity, prepared, near)


def _built(
    gallery: Gallery,
    similarity: SetSimilarity,
    contents: Mapping[str, str],
    store: TableStore,
    fingerprint: str,
    track: Track,
) -> Tables:
    """Compare all pairs; what is done is kept now and then, and at an interruption, to go on from there."""
    room.check(_work(contents, similarity), _need(gallery, similarity, contents), store.folder)
    prepared = _prepare(gallery.sets(list(contents)), similarity)
    sets = PreparedSets.join(track(prepared, "preparing sets", len(contents)))
    work = Unfinished(store, _unfinished(parts.spec(similarity)), fingerprint, SECONDS_BETWEEN_KEEPING)
    earlier = work.take_up()
    done, near = (0, None) if earlier is None else (earlier[0], Neighbours(**earlier[1]))

    def state() -> Mapping[str, NDArray[Any]]:
        return near._asdict() if near is not None else {}

    with work.kept_at_the_end(lambda: done, state):
        for finished in grow_neighbours(similarity, sets, COUNT, near, done, track):
            done, near = finished
            work.step(done, state)
    assert near is not None  # a gallery that holds a set has at least one run to compare
    return Tables(tuple(contents), _dimension(gallery), similarity, sets, near)


def _unfinished(kind: str) -> str:
    return f"unfinished {kind}"


def _updated(
    gallery: Gallery,
    similarity: SetSimilarity,
    contents: Mapping[str, str],
    stored: StoredTables,
    track: Track,
) -> Tables | None:
    """Carry old tables over; None if they are of another format or version."""
    if (stored.facts.get("format"), stored.facts.get("version")) != (FORMAT, similarity.version):
        return None
    place = TableStore.beside(gallery.path).folder
    room.check(_work(contents, similarity), _need_with(stored, contents), place)
    old = _from_arrays(stored.arrays, similarity)
    old_contents = {id: bytes(row).hex() for id, row in zip(old.ids, stored.arrays["hashes"], strict=True)}
    now = {id: number for number, id in enumerate(contents)}
    places = np.array(
        [now[id] if contents.get(id) == old_contents[id] else -1 for id in old.ids], dtype=np.int64
    )
    fresh = [id for id in contents if old_contents.get(id) != contents[id]]
    prepared: dict[str, Prepared] = dict(
        zip(
            fresh, track(_prepare(gallery.sets(fresh), similarity), "preparing sets", len(fresh)), strict=True
        )
    )
    sets = PreparedSets.join(
        [prepared[id] if id in prepared else old.sets[old.numbers[id]] for id in contents]
    )
    near = update_neighbours(similarity, sets, old.neighbours, places, COUNT, track)
    return Tables(tuple(contents), _dimension(gallery), similarity, sets, near)


def _work(contents: Mapping[str, str], similarity: SetSimilarity) -> str:
    return f"indexing {len(contents)} sets by {parts.spec(similarity)}"


def _need(gallery: Gallery, similarity: SetSimilarity, contents: Mapping[str, str]) -> Need:
    """Estimate from a few sets, which are prepared for it."""
    counts = {one.id: one.faces for one in gallery.listing()}
    ids = [id for id in contents if id in counts]
    faces = np.array([counts[id] for id in ids], dtype=np.int64)
    chosen = spread(faces)
    prepared = list(_prepare(gallery.sets([ids[number] for number in chosen]), similarity))
    return index_need(similarity, faces, chosen, prepared, COUNT)


def _need_with(old: StoredTables, contents: Mapping[str, str]) -> Need:
    """Estimate from the tables of the same gallery as it was."""
    size = sum(entry.bytes for entry in old.manifest.arrays.values())
    grown = size * len(contents) // max(1, len(old.arrays["hashes"]))
    return Need(grown, grown)


def _dimension(gallery: Gallery) -> int:
    assert gallery.dimension is not None  # a gallery that holds a set knows it
    return gallery.dimension


def _prepare(sets: Iterable[FaceSet], similarity: SetSimilarity) -> Iterator[Prepared]:
    def prepare(faceset: FaceSet) -> Prepared:
        try:
            return similarity.prepare(faceset.faces)
        except BadInput as reason:
            raise BadInput(
                f"set {faceset.id!r} cannot be compared by {parts.spec(similarity)}: {reason}"
            ) from reason

    return in_order(prepare, sets)


def _to_arrays(tables: Tables) -> dict[str, NDArray[Any]]:
    encoded = [id.encode() for id in tables.ids]
    arrays: dict[str, NDArray[Any]] = {
        "ids/bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "ids/starts": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
        "dimension": np.array([tables.dimension]),
    }
    arrays |= {f"prepared/{name}": array for name, array in tables.sets.arrays.items()}
    arrays |= {f"starts/{name}": array for name, array in tables.sets.starts.items()}
    return arrays | {f"neighbours/{name}": array for name, array in tables.neighbours._asdict().items()}


def _from_arrays(
    arrays: Mapping[str, NDArray[Any]], similarity: SetSimilarity, fingerprint: str = ""
) -> Tables:
    text, ends = bytes(arrays["ids/bytes"]), arrays["ids/starts"]
    ids = tuple(text[a:b].decode() for a, b in pairwise(ends))

    def group(prefix: str) -> dict[str, NDArray[Any]]:
        # Plain views of the mapped files: looking something up in them is quicker.
        chosen = {name: np.asarray(array) for name, array in arrays.items() if name.startswith(prefix)}
        return {name.removeprefix(prefix): array for name, array in chosen.items()}

    sets = PreparedSets(group("prepared/"), group("starts/"))
    near = Neighbours(**group("neighbours/"))
    return Tables(ids, int(arrays["dimension"][0]), similarity, sets, near, fingerprint)
