"""Transform: learn from a gallery how faces are prepared before they are compared, and keep it."""

from __future__ import annotations

import copy
import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import registry, resources
from lookalike.errors import BadInput, LookalikeError
from lookalike.faceset import Faces, FaceSet, evenly
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.opened import Version
from lookalike.indexing.store import StoredTables, TableStore
from lookalike.kernels.threads import in_order
from lookalike.preparations.contract import LONGEST, Preparation
from lookalike.preparations.none import Nothing
from lookalike.progress import Before, Task, Track, counted, silent
from lookalike.similarities.contract import Prepared, SetSimilarity

logger = logging.getLogger(__name__)

# The preparation that suits the descriptor, or none.
AUTO = "auto"
# Raised whenever how a preparation is stored changes.
FORMAT = 1
# On fewer sets a preparation is learnt too badly to be a default: below 100 it made some random halves of the
# development collections worse (chosen with labels, see docs/explanation/method.md).
FEWEST_SETS = 100
# More faces than these tell nothing new, and each takes time.
MOST_FACES = 50_000
# From this share of new sets on a preparation is called stale.
STALE = 0.2
# Tables of d x d numbers that are in memory at once while a preparation is learnt.
TABLES = 8


class Known(NamedTuple):
    """A preparation that lies beside a gallery."""

    part: Preparation
    sets: int  # on so many it was learnt
    faces: int
    new: int  # sets of the gallery that it has not seen

    def is_stale(self, total: int) -> bool:
        """Whether so much of a gallery is new that it should be learnt again."""
        return self.new > STALE * total


def choose(gallery: Gallery | Version | None, given: Preparation | str = AUTO) -> Preparation:
    """Return the part that is meant, with nothing learnt yet; without a gallery, for sets in memory.

    ``auto`` is what the descriptor of the gallery asks for if there are enough sets, otherwise nothing.
    """
    part: Preparation = registry.build("preparations", _default(gallery) if given == AUTO else given)
    part.check()
    return copy.copy(part)


def prepare(
    gallery: Gallery,
    preparation: Preparation | str = AUTO,
    track: Track = silent,
    again: bool = False,
    before: Before | None = None,
) -> Preparation:
    """Return the preparation of a gallery as it was learnt, or learn it now and keep it.

    Sets that are added later do not change it; one that knows a set which has left the gallery is learnt
    again, as any is if asked for (`again`). `before` is called with what is to be learnt before it is. Raise
    BadInput if the faces cannot be prepared so; StorageFailed if there is too little memory or disk, or the
    disk refuses.
    """
    ready = None if again else ready_preparation(gallery, preparation)
    if ready is not None:
        return ready
    part = choose(gallery, preparation)
    if not part.is_learnt:
        return part
    if before is not None:
        words = f"learning {registry.spec(part)} from {counted(len(gallery))}; this is kept"
        before(Task("preparation", words))
    try:
        return _learn(gallery, part, track)
    except BadInput as reason:
        if preparation != AUTO:
            raise
        logger.warning("the faces of %s are left as they are: %s", gallery.path, reason)
        return Nothing()


def prepare_sets(sets: Sequence[FaceSet], preparation: Preparation | str = AUTO) -> Preparation:
    """Learn a preparation from sets in memory; nothing is done to them unless it is asked for."""
    part = choose(None, preparation)
    if not part.is_learnt:
        return part
    chosen, most = sample([len(faceset) for faceset in sets])
    return part.fit(_some([sets[number] for number in chosen], most))


def prepared_sets(
    sets: Iterable[FaceSet], similarity: SetSimilarity, preparation: Preparation
) -> Iterator[Prepared]:
    """Prepare set after set for a similarity, on several threads."""

    def one(faceset: FaceSet) -> Prepared:
        try:
            return similarity.prepare(preparation.apply(faceset.faces))
        except BadInput as reason:
            raise BadInput(
                f"set {faceset.id!r} cannot be compared by {registry.spec(similarity)}: {reason}"
            ) from reason

    return in_order(one, sets)


def kept_preparation(
    gallery: Gallery | Version, part: Preparation, tables: Sequence[StoredTables] | None = None
) -> Known | None:
    """Open what was learnt earlier; None if there is nothing that may be used.

    `tables` are all that lie beside the gallery, if somebody has opened them just now.
    """
    store, kind = TableStore.beside(gallery.path), preparation_kind(part)
    if tables is None:
        stored = store.latest(kind, look=preparation_faults)
    else:
        listed = next((table for table in tables if table.manifest.kind == kind), None)
        stored = None if listed is None else store.reopen(listed, preparation_faults)
    facts = {} if stored is None else stored.facts
    if stored is None or (facts.get("format"), facts.get("version")) != (FORMAT, part.version):
        return None
    seen, now = _hashes(stored), list(gallery.contents().values())
    if not seen <= set(now):
        return None
    found = copy.copy(part)
    with suppress(BadInput):
        found.from_arrays({name: array for name, array in stored.arrays.items() if name != "hashes"})
        found.reason_ = str(facts.get("reason", ""))
        new = sum(value not in seen for value in now)
        return Known(found, int(facts["sets"]), int(facts["faces"]), new)
    return None


def ready_preparation(
    gallery: Gallery | Version, preparation: Preparation | str, tables: Sequence[StoredTables] | None = None
) -> Preparation | None:
    """What `prepare` returns if it has nothing to learn, else None; `tables` as for `kept_preparation`."""
    part = choose(gallery, preparation)
    if not part.is_learnt:
        return part
    known = kept_preparation(gallery, part, tables)
    return None if known is None else known.part


def preparation_states(gallery: Gallery) -> list[dict[str, object]]:
    """The default preparation of a gallery, then every other that was learnt; how much of it they know."""
    default = choose(gallery)
    others = []
    for stored in TableStore.beside(gallery.path).stored():
        if is_preparation(stored) and stored.facts.get("preparation") not in (None, registry.spec(default)):
            with suppress(LookalikeError):  # of a part that is not installed any more
                others.append(registry.build("preparations", stored.facts["preparation"]))
    found: list[dict[str, object]] = []
    for part in (default, *others):
        known = kept_preparation(gallery, part) if part.is_learnt else None
        state: dict[str, object] = {"name": registry.spec(part), "is_default": part is default}
        state["is_learnt"] = part.is_learnt
        if known is not None:
            state |= {"sets": known.sets, "faces": known.faces, "new_sets": known.new}
            state |= {"is_stale": known.is_stale(len(gallery)), "reason": known.part.reason_}
        if part is default or known is not None:
            found.append(state)
    return found


def is_preparation(stored: StoredTables) -> bool:
    """Whether a stored table is a preparation."""
    return stored.manifest.kind.startswith(_KIND)


def preparation_faults(stored: StoredTables) -> Iterator[str]:
    """What no preparation can say."""
    for name, array in stored.arrays.items():
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            yield f"array {name!r} holds a number that is not finite"
    hashes = stored.arrays.get("hashes")
    if hashes is None or hashes.ndim != 2 or hashes.shape[1:] != (32,) or hashes.dtype != np.uint8:
        yield "it does not tell the content of the sets that it was learnt from"


def preparation_fits(gallery: Gallery, stored: StoredTables) -> bool:
    """Whether a stored preparation was learnt from nobody but sets that the gallery still holds."""
    return "hashes" in stored.arrays and _hashes(stored) <= set(gallery.contents().values())


def table_kind(similarity: SetSimilarity, preparation: Preparation) -> str:
    """What tables are called that compare by a similarity after a preparation."""
    written = registry.spec(similarity)
    return f"{written} after {registry.spec(preparation)}" if preparation.is_learnt else written


def sample(counts: Sequence[int], most: int = MOST_FACES) -> tuple[NDArray[np.intp], int]:
    """Choose the faces from which a preparation is learnt: all, or about `most` that are spread evenly.

    The numbers of the sets: all of them, unless two faces of each are too many. Then how many faces of each
    are taken at most, evenly spread: at least two, since one has no variation.
    """
    faces = np.asarray(counts, dtype=np.int64)
    chosen = evenly(len(faces), max(1, most // 2))
    faces = faces[chosen]
    low, high = 2, max(2, int(faces.max(initial=2)))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(faces, middle).sum() <= most else (low, middle - 1)
    return chosen, low


_KIND = "preparation "
# What a gallery calls the descriptor of faces that nobody described here.
READY_MADE = ("", "array")


def preparation_kind(part: Preparation) -> str:
    """What the table of a preparation is called."""
    return f"{_KIND}{registry.spec(part)}"


def _default(gallery: Gallery | Version | None) -> Preparation | str:
    if gallery is None or len(gallery) < FEWEST_SETS or (gallery.dimension or 0) > LONGEST:
        return Nothing()
    name = (gallery.descriptor or "").partition(":")[0]
    # Of ready-made numbers nothing is known; asking other packages about them takes longer than a query.
    if name in READY_MADE or not registry.is_known("descriptors", name):
        return Nothing()
    suited: str = registry.part_class("descriptors", name).prepared_by
    return suited


def _learn(gallery: Gallery, part: Preparation, track: Track) -> Preparation:
    """Fit and keep; again if a set left the gallery meanwhile."""
    store, kind = TableStore.beside(gallery.path), preparation_kind(part)
    while True:
        listing, contents = list(gallery.listing()), gallery.contents()
        chosen, most = sample([facts.faces for facts in listing])
        ids = [listing[number].id for number in chosen]
        if not set(ids) <= contents.keys():
            continue
        needed = TABLES * 8 * (gallery.dimension or 0) ** 2
        resources.check_memory(f"learning {registry.spec(part)}", needed)
        read = track(_some(gallery.sets(ids), most), "learning how faces vary", len(ids))
        fitted = copy.copy(part).fit(read)
        if fitted.reason_:
            logger.warning("%s on %s: %s", registry.spec(part), gallery.path, fitted.reason_)
        taken = sum(min(listing[number].faces, most) for number in chosen)
        facts: Mapping[str, Any] = {
            "format": FORMAT,
            "preparation": registry.spec(part),
            "version": part.version,
            "sets": len(contents),
            "faces": taken,
            "reason": fitted.reason_,
        }
        hashes = hashes_of(contents)
        origin = hashlib.sha256(f"{FORMAT}|{fitted.fingerprint()}|".encode() + hashes.tobytes()).hexdigest()
        stored = store.save(kind, origin[:32], {**fitted.to_arrays(), "hashes": hashes}, facts)
        store.keep_only(kind, origin[:32])
        if preparation_fits(gallery, stored):
            return fitted
        store.drop(kind)


def _some(sets: Iterable[FaceSet], most: int) -> Iterator[Faces]:
    return (faceset.faces[evenly(len(faceset), most)] for faceset in sets)


def hashes_of(contents: Mapping[str, str]) -> NDArray[np.uint8]:
    """Content hashes of sets as rows of bytes; (n, 32)."""
    return np.array([list(bytes.fromhex(value)) for value in contents.values()], dtype=np.uint8)


def _hashes(stored: StoredTables) -> set[str]:
    return {bytes(row).hex() for row in np.asarray(stored.arrays["hashes"])}
