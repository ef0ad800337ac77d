"""Spread: open the shards of a collection where an engine keeps them, each with its faces prepared."""

from __future__ import annotations

import copy
import hashlib
import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.collection.sharded import ShardedGallery
from lookalike.collection.tables import StoredTables, TableStore
from lookalike.engines.contract import Engine, Residents
from lookalike.errors import BadInput, Conflict, LookalikeError, NotFound, StorageFailed
from lookalike.kernels.codes import Codes
from lookalike.packing import (
    hashes_of,
    ids_of,
    ids_to_arrays,
    prepared_faults,
    prepared_of,
    prepared_to_arrays,
)
from lookalike.preparations.contract import Preparation
from lookalike.preparing import preparation_faults, preparation_kind, prepared_sets, table_kind
from lookalike.residing import shard_label
from lookalike.similarities.contract import Prepared, PreparedSets, SetSimilarity
from lookalike.transitivity import shard
from lookalike.transitivity.shard import Shard
from lookalike.transitivity.spread import SpreadSets

logger = logging.getLogger(__name__)

# Raised whenever how the prepared sets of a shard are stored changes.
FORMAT = 1
# So often shards are opened again because sets came or went meanwhile.
TRIES = 5


class ShardChanged(Conflict):
    """A shard does not hold what those believe who ask it."""


def hold_shards(
    gallery: ShardedGallery,
    similarity: SetSimilarity,
    preparation: Preparation,
    snapshot: Callable[[], tuple[dict[str, str], str]],
    engine: Engine,
) -> tuple[dict[str, str], str, SpreadSets]:
    """Open all shards that hold sets, as they are in one version of the collection.

    Parameters
    ----------
    gallery : ShardedGallery
    similarity, preparation
        What faces are prepared by, the preparation as it was learnt from the whole collection.
    snapshot : callable
        Gives the sets of the collection with their content, in order, and a fingerprint of both.
    engine : Engine

    Returns
    -------
    contents : dict of str to str
    fingerprint : str
        What `snapshot` said of the version that the shards hold.
    held : SpreadSets

    Raises
    ------
    StorageFailed
        If they do not hold what the collection holds, however often one looks.
    """
    given = str(gallery.path.absolute()), similarity, _unlearnt(preparation), preparation.fingerprint()
    for _ in range(TRIES):
        contents, fingerprint = snapshot()
        full = [one for one in gallery.shards if len(one)]
        labels = [shard_label(gallery, one, similarity, preparation) for one in full]
        own = [one.contents() for one in full]
        if {id: content for each in own for id, content in each.items()} != contents:
            continue  # sets came or went meanwhile
        residents = engine.hold(
            open_shard,
            [
                (str(one.path.absolute()), *given, label.content)
                for one, label in zip(full, labels, strict=True)
            ],
            labels,
        )
        try:
            sizes = residents.ask_all(shard.held)
        except ShardChanged:
            residents.close()
            continue
        held = _joined(gallery, similarity, preparation, contents, residents, own, sizes)
        return contents, fingerprint, held
    raise StorageFailed(
        f"the shards of {gallery.path} do not hold what it holds: somebody changes it too fast, or a machine "
        "of the cluster finds other files at the same path; check that, then repeat"
    )


def _joined(
    gallery: ShardedGallery,
    similarity: SetSimilarity,
    preparation: Preparation,
    contents: Mapping[str, str],
    residents: Residents,
    own: Sequence[Iterable[str]],
    found: Sequence[NDArray[np.int64]],
) -> SpreadSets:
    """All shards as one sequence of sets, from the ids and the sizes of those that each has."""
    numbers = {id: number for number, id in enumerate(contents)}
    places = [np.array([numbers[id] for id in each], dtype=np.int64) for each in own]
    sizes = np.empty(len(contents), dtype=np.int64)
    for place, each in zip(places, found, strict=True):
        sizes[place] = each
    ids = tuple(contents)

    def read(number: int) -> Prepared | None:
        """One set from its file, if that is open still and has not changed."""
        try:
            found = gallery.get(ids[number], pictures=True)  # of which the content is made too
            if found.content_hash() != contents[found.id]:
                return None
            return next(iter(prepared_sets([found], similarity, preparation)))
        except LookalikeError:
            return None

    return SpreadSets(residents, places, sizes, similarity, read)


def open_shard(
    path: str,
    folder: str,
    similarity: SetSimilarity,
    part: Preparation,
    learnt: str,
    content: str | None = None,
) -> Shard:
    """Open one shard with its faces prepared, which is kept beside its file and found again.

    It is called in the place where the shard is to be open, also when it has to be opened again: all that it
    is given is small, and its arrays are mapped there.

    Parameters
    ----------
    path, folder : str
        The file of the shard, and the folder of its collection.
    similarity : SetSimilarity
    part : Preparation
        With nothing learnt: what was learnt lies beside the collection.
    learnt : str
        The fingerprint of what was learnt.
    content : str, optional
        The fingerprint of what the file must hold; whatever it holds, unless it is given.

    Raises
    ------
    ShardChanged
        If it holds something else, for instance when it has to be opened again after a change: answers would
        be about other sets than those who ask believe.
    """
    preparation = read_preparation(folder, part, learnt)
    with Gallery(Path(path)) as gallery:
        store, kind = TableStore.beside(gallery.path), f"prepared {table_kind(similarity, preparation)}"
        while True:
            contents, fingerprint = _snapshot(gallery, similarity, preparation, content)
            stored = store.load(kind, fingerprint, lambda found: _faults(found, contents))  # noqa: B023
            if stored is None:
                arrays = _prepared(gallery, similarity, preparation, contents, store.latest(kind))
                stored = store.save(kind, fingerprint, arrays, {"format": FORMAT})
                store.keep_only(kind, fingerprint)
                if any(gallery.contents().get(id) != content for id, content in contents.items()):
                    store.drop(kind)  # a set left meanwhile: no table may keep it
                    continue
            coded = partial(_coded, Path(path), kind, fingerprint)
            return Shard(similarity, prepared_of(stored.arrays), coded)


def _coded(
    path: Path, prepared: str, fingerprint: str, faces: NDArray[Any], points: NDArray[np.float32]
) -> Codes:
    """Code the faces of a shard, or find the codes beside its file.

    Parameters
    ----------
    path : Path
        The file of the shard.
    prepared, fingerprint : str
        The kind and the fingerprint of its prepared sets.
    """
    store, kind = TableStore.beside(path), f"codes of {prepared}"
    key = hashlib.sha256(fingerprint.encode() + points.tobytes()).hexdigest()[:32]
    stored = store.load(kind, key)
    if stored is not None:
        with suppress(BadInput, LookupError, TypeError, ValueError):
            found = Codes.from_arrays(stored.arrays)
            if len(found) == len(faces):
                return found
    found = Codes.of(faces, points)
    try:
        store.save(kind, key, found.to_arrays(), {"format": FORMAT})
        store.keep_only(kind, key)
        if not store.has(prepared, fingerprint):
            store.drop(kind)  # a set left meanwhile: no table may keep it
    except StorageFailed as reason:
        # A shard that may be read may be asked: making the codes takes seconds.
        logger.warning("the codes of faces are not kept: %s", reason)
    return found


def _unlearnt(part: Preparation) -> Preparation:
    """The same preparation with nothing learnt, which is small: who opens a shard may have to do so again."""
    return type(part)(**{name: getattr(part, name) for name in inspect.signature(type(part)).parameters})


def read_preparation(gallery: str | Path, part: Preparation, fingerprint: str) -> Preparation:
    """Read what was learnt from beside a gallery, whatever that holds now.

    Raises
    ------
    NotFound
        If what lies there is not what is wanted: it was learnt anew, or deleted.
    """
    if not part.is_learnt:
        return part
    stored = TableStore.beside(gallery).latest(preparation_kind(part), look=preparation_faults)
    if stored is not None:
        found = copy.copy(part)
        found.from_arrays({name: array for name, array in stored.arrays.items() if name != "hashes"})
        if found.fingerprint() == fingerprint:
            return found
    raise NotFound(f"{parts.spec(part)} of {gallery} was learnt anew meanwhile: ask again")


def _prepared(
    gallery: Gallery,
    similarity: SetSimilarity,
    preparation: Preparation,
    contents: Mapping[str, str],
    before: StoredTables | None,
) -> dict[str, NDArray[Any]]:
    """Prepare the sets of a shard; those that were prepared before and have not changed are taken over."""
    known = _earlier(before, contents)
    fresh = [id for id in contents if id not in known]
    known |= zip(fresh, prepared_sets(gallery.sets(fresh), similarity, preparation), strict=True)
    sets = PreparedSets.join([known[id] for id in contents])
    return {**ids_to_arrays(tuple(contents)), **prepared_to_arrays(sets), "hashes": hashes_of(contents)}


def _snapshot(
    gallery: Gallery, similarity: SetSimilarity, preparation: Preparation, wanted: str | None
) -> tuple[dict[str, str], str]:
    """Contents of a shard, and everything that shapes its prepared sets as one short text."""
    while True:
        before, contents = gallery.fingerprint(), gallery.contents()
        if wanted is not None and before != wanted:
            raise ShardChanged(f"{gallery.path} has changed since it was opened: ask again")
        if gallery.fingerprint() == before:
            prepared_by = parts.spec(similarity), similarity.version, preparation.fingerprint()
            shaped_by = "|".join(map(str, (FORMAT, *prepared_by, before)))
            return contents, hashlib.sha256(shaped_by.encode()).hexdigest()[:32]


def _earlier(stored: StoredTables | None, contents: Mapping[str, str]) -> dict[str, Prepared]:
    """Sets that were prepared earlier and have not changed since."""
    if stored is None or stored.facts.get("format") != FORMAT or any(_faults(stored, None)):
        return {}
    sets, hashes = prepared_of(stored.arrays), np.asarray(stored.arrays["hashes"])
    return {
        id: sets[number]
        for number, id in enumerate(ids_of(stored.arrays))
        if contents.get(id) == bytes(hashes[number]).hex()
    }


def _faults(stored: StoredTables, contents: Mapping[str, str] | None) -> list[str]:
    """What no prepared sets of a shard can say, or not of this one."""
    wrong = list(prepared_faults(stored.arrays))
    if not wrong and contents is not None:
        if list(ids_of(stored.arrays)) != list(contents):
            wrong = ["its sets are not those of the shard"]
        elif stored.arrays["hashes"].tobytes() != bytes.fromhex("".join(contents.values())):
            wrong = ["the content of its sets is not that of the shard"]
    return wrong
