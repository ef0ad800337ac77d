"""Partly: an index of the sets that can be reached, while shards of a collection are missing."""

from __future__ import annotations

import numpy as np

from lookalike import parts
from lookalike.collection.sharded import ShardedGallery
from lookalike.collection.tables import StoredTables, TableStore
from lookalike.engaging import choose_engine
from lookalike.engines.contract import Engine
from lookalike.errors import NotFound
from lookalike.packing import from_arrays, ids_of, is_index, made_by
from lookalike.preparations.contract import Preparation
from lookalike.preparing import AUTO
from lookalike.similarities.contract import SetSimilarity
from lookalike.spreading import hold_shards, read_preparation
from lookalike.transitivity.reduced import reduced
from lookalike.transitivity.tables import Tables


def index_of_part(
    gallery: ShardedGallery,
    similarity: SetSimilarity,
    format: int,
    preparation: Preparation | str,
    engine: Engine | str,
) -> Tables:
    """Take what cannot be reached out of the index of the whole collection; nothing is kept of that.

    Parameters
    ----------
    gallery : ShardedGallery
        Opened though shards are missing.
    similarity : SetSimilarity
    format : int
        Of indexes, as they are stored today.
    preparation : Preparation or str
        That of the newest index if it is ``auto``.
    engine : Engine or str

    Raises
    ------
    NotFound
        If there is no index of the collection as it is: none can be made without the missing shards.
    """
    stored = _newest(gallery, similarity, format, preparation)
    ids = () if stored is None else ids_of(stored.arrays)
    is_there = np.array([gallery.shard_of(id) not in gallery.unreachable for id in ids], dtype=bool)
    contents = gallery.contents()
    if stored is None or not contents or not _is_of(stored, ids, is_there, contents):
        raise NotFound(
            f"{gallery.path} lacks {gallery.missing}, and no index by {parts.spec(similarity)} knows the "
            "sets that are left: bring it back, or restore a backup"
        )
    part: Preparation = parts.build("preparations", made_by(stored)[1])
    learnt = read_preparation(gallery.path, part, str(stored.facts["prepared"]))
    place = choose_engine(engine)
    _, _, held = hold_shards(gallery, similarity, learnt, lambda: (gallery.contents(), ""), place)
    whole = from_arrays(stored.arrays, similarity, learnt, held=held)
    near = reduced(whole.neighbours, is_there, similarity, held)
    left = tuple(id for id, there in zip(ids, is_there, strict=True) if there)
    gone = len(ids) - len(left)
    return Tables(left, whole.dimension, similarity, held, near, preparation=learnt, unreachable=gone)


def _newest(
    gallery: ShardedGallery, similarity: SetSimilarity, format: int, preparation: Preparation | str
) -> StoredTables | None:
    """The index of the collection that was saved last and can be used."""
    store = TableStore.beside(gallery.path)
    wanted = None if preparation == AUTO else parts.spec(parts.build("preparations", preparation))
    like = {"similarity": parts.spec(similarity), "version": similarity.version, "format": format}
    found = [
        one
        for one in store.stored()
        if is_index(one)
        and all(one.facts.get(name) == value for name, value in like.items())
        and wanted in (None, made_by(one)[1])
    ]
    for one in sorted(found, key=lambda one: one.manifest.saved, reverse=True):
        loaded = store.load(one.manifest.kind, one.fingerprint)
        if loaded is not None:
            return loaded
    return None


def _is_of(
    stored: StoredTables, ids: tuple[str, ...], is_there: np.ndarray, contents: dict[str, str]
) -> bool:
    """Whether the sets of an index that can be reached are those that are there."""
    hashes = np.asarray(stored.arrays["hashes"])
    known = {ids[number]: bytes(hashes[number]).hex() for number in np.flatnonzero(is_there)}
    return known == contents
