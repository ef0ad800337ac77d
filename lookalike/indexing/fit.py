"""Fit: what is learnt from the tables of a gallery without a label, and kept beside it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike import registry
from lookalike.errors import BadInput, LookalikeError, StorageFailed, is_whole
from lookalike.gallery.gallery import Gallery
from lookalike.indexing.build import index_fingerprint
from lookalike.indexing.store import TableStore
from lookalike.indexing.transform import table_kind
from lookalike.kernels.codes import Codes
from lookalike.kernels.threads import in_order
from lookalike.method.calibration import EVEN, LEAST, NEVER, Calibration, reach
from lookalike.method.shortlist import Shortlist, code_means
from lookalike.method.tables import Row, Tables, rows_of_some
from lookalike.progress import Before, Task, Track, counted, silent
from lookalike.rerankers.contract import Reranker
from lookalike.similarities.contract import SetSimilarity

logger = logging.getLogger(__name__)

Made = TypeVar("Made")
Arrays = Mapping[str, NDArray[Any]]


def kept(
    gallery: Gallery | None,
    tables: Tables,
    kind: str,
    shaped_by: str,
    make: Callable[[], Made],
    to_arrays: Callable[[Made], Arrays],
    from_arrays: Callable[[Arrays], Made],
) -> Made:
    """Find what was made earlier, or make it, and keep it if there is a gallery that it fits.

    `kind` says what it is (of each kind the newest is kept), `shaped_by` all that shapes it besides the
    tables. `from_arrays` raises BadInput for what it cannot use, which is made again.
    """
    if gallery is None:
        return make()
    store, fingerprint = TableStore.beside(gallery.path), _fingerprint(tables, shaped_by)
    stored = store.load(kind, fingerprint)
    if stored is not None:
        with suppress(BadInput, LookupError, TypeError, ValueError):
            return from_arrays(stored.arrays)
    # Tables that the gallery has outgrown may be asked, but what is made from them is not kept.
    if not _fits(gallery, tables):
        return make()
    store.drop(kind)
    made = make()
    facts = {
        "on": registry.spec(tables.similarity),
        "preparation": registry.spec(tables.preparation),
        "index": tables.fingerprint,
    }
    store.save(kind, fingerprint, to_arrays(made), facts)
    if not _fits(gallery, tables):
        store.drop(kind)  # the gallery changed meanwhile: nothing may be kept of a set that left it
    return made


def kept_if_possible(
    what: str,
    gallery: Gallery | None,
    tables: Tables,
    kind: str,
    shaped_by: str,
    make: Callable[[], Made],
    to_arrays: Callable[[Made], Arrays],
    from_arrays: Callable[[Arrays], Made],
) -> Made:
    """As `kept`, where a disk that refuses is only logged: a gallery that may be read may be asked."""
    made: list[Made] = []

    def once() -> Made:
        made.append(make())
        return made[-1]

    try:
        return kept(gallery, tables, kind, shaped_by, once, to_arrays, from_arrays)
    except StorageFailed as reason:
        logger.warning("%s not kept: %s", what, reason)
        return made[-1] if made else make()


def _fits(gallery: Gallery, tables: Tables) -> bool:
    return tables.fingerprint == index_fingerprint(gallery, tables.similarity, tables.preparation)


def _fingerprint(tables: Tables, shaped_by: str) -> str:
    return hashlib.sha256(f"{tables.fingerprint}|{shaped_by}".encode()).hexdigest()[:32]


# Train: fit a re-ranker on a gallery's tables, without a label.


# Raised whenever what is learnt, or how it is stored, changes.
TRAINED_FORMAT = 1


def train(
    tables: Tables,
    reranker: Reranker | str = "auto",
    seed: int = 0,
    gallery: Gallery | None = None,
    track: Track = silent,
    before: Before | None = None,
) -> Reranker:
    """Return a fitted re-ranker; beside a gallery it is stored, and found again while it fits.

    Parameters
    ----------
    tables : Tables
        As `index` returns them.
    reranker : Reranker or str
        The re-ranker, or its name.
    seed : int
        Chooses the random references; the same gallery and seed give the same result.
    gallery : Gallery, optional
        The gallery the tables belong to.
    track : callable
        Shows progress.
    before : callable, optional
        Called with what is to be learnt (`progress.Task`) before it is; not unless there is a gallery.

    Examples
    --------
    >>> from lookalike import Search, index, train
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> tables = index(sets)
    >>> Search(tables, train(tables, "csls")).find("video-0001", top=1).reranker.partition(":")[0]
    'csls'
    """
    part: Reranker = registry.build("rerankers", reranker)
    check_seed(seed)

    def fit() -> Reranker:
        if before is not None and gallery is not None and part.is_learnt:
            name = reranker if isinstance(reranker, str) else registry.spec(part)
            before(Task("reranker", f"training {name} on {counted(len(tables))} first; this is kept"))
        return part.fit(tables, np.random.default_rng(seed), track)

    return kept(
        gallery if part.is_learnt else None,
        tables,
        kind_of(tables, part, seed),
        shaped_by(part, seed),
        fit,
        lambda fitted: fitted.to_arrays(),
        part.from_arrays,
    )


def check_seed(seed: object) -> None:
    """Refuse a seed that is no whole number of at least 0."""
    if not is_whole(seed, 0):
        raise BadInput(f"seed must be a whole number of at least 0, got {seed!r}")


def kind_of(tables: Tables, reranker: Reranker, seed: int) -> str:
    """What is learnt by a re-ranker, in words: of each kind the newest is kept."""
    chance = f" seed {seed}" if reranker.is_random else ""
    return f"{registry.spec(reranker)} on {table_kind(tables.similarity, tables.preparation)}{chance}"


def shaped_by(reranker: Reranker, seed: int) -> str:
    """Everything besides the tables that shapes what a re-ranker learns from them."""
    chance = seed if reranker.is_random else "any"
    return f"{TRAINED_FORMAT}|{registry.spec(reranker)}|{reranker.version}|{chance}"


# Calibrate: learn from a gallery, without a label, how sure a re-ranker may be of its answers.


# Raised whenever what is learnt, or how it is stored, changes.
CALIBRATION_FORMAT = 2
# Sets of the gallery that are asked as queries, evenly spread; fewer make the tail of strangers uncertain.
SAMPLE = 400


def calibrate(
    tables: Tables, reranker: Reranker, seed: int = 0, gallery: Gallery | None = None, track: Track = silent
) -> Calibration:
    """Return how scores become probabilities; beside a gallery it is stored, and found again while it fits.

    It costs as much as asking 400 queries, or every set if there are fewer: the index compares every set.
    The re-ranker is fitted, with the same `seed`.
    """
    if len(tables) <= LEAST or not reranker.tells:  # nothing can be said, and nothing needs to be kept
        return Calibration.fit(np.empty((0, 0)), 0)

    def make() -> Calibration:
        found = Calibration.fit(_best_values(tables, reranker, track), len(tables) - 1)
        return replace(found, same_person=same_person_in(tables, gallery))

    kind = f"probabilities of {kind_of(tables, reranker, seed)}"
    shape = f"probabilities {CALIBRATION_FORMAT}|{shaped_by(reranker, seed)}"
    what, stored = "what was learnt about probabilities is", (Calibration.to_arrays, Calibration.from_arrays)
    return kept_if_possible(what, gallery, tables, kind, shape, make, *stored)


def _best_values(tables: Tables, reranker: Reranker, track: Track) -> NDArray[np.float64]:
    """The best values (queries, reach) of sets asked as queries, each left out of its own gallery.

    Of those whose odds are told by other means there is no tail of strangers to learn from: their own people
    fill it. They are passed over if there are enough others.
    """
    others = len(tables) - 1
    count, asked = rows_of_some(tables, SAMPLE)
    width = reach(others)

    def best(row: Row) -> tuple[NDArray[np.float64], float]:
        scored = reranker.score(row, tables)
        grounds = scored.grounds
        values = -np.delete(scored.scores if grounds is None else grounds.values, row.member or 0)
        return -np.sort(np.partition(values, width - 1)[:width]), grounds.clearly if grounds else 0.0

    watched = track(asked, "learning how sure to be", count)
    found, clearly = zip(*in_order(best, watched), strict=True)
    unclear = np.array(clearly) < EVEN
    return np.array(found)[unclear if unclear.sum() >= LEAST else slice(None)]


def same_person_in(tables: Tables, gallery: Gallery | None) -> float:
    """The similarity from which two faces are one person's by the descriptor of a gallery; 1 if unknown."""
    if gallery is None or not tables.similarity.compares_faces or tables.preparation.is_learnt:
        return NEVER
    # Here, since who asks a calibrated gallery does not need it.
    from lookalike.ingest.describe import same_person_of

    with suppress(LookalikeError):
        found = same_person_of(gallery.descriptor)
        return NEVER if found is None else found
    return NEVER


# Shortlist: make or open what finds the few sets worth ranking in a large gallery.


# Raised whenever the codes, or how they are stored, change.
CODES_FORMAT = 3
# From so many sets on, comparing a query with all of them takes several times as long as a shortlist.
LARGE = 20_000


def open_shortlist(
    tables: Tables,
    reranker: Reranker,
    wanted: bool | None = None,
    gallery: Gallery | None = None,
    before: Before | None = None,
) -> Shortlist | None:
    """Return a shortlist, or None where all sets are to be compared.

    Unless one is `wanted` or not, large galleries have one wherever it can be had; BadInput if it is wanted
    and cannot. Codes are kept beside a gallery; `before` is called before sets are coded for one, which
    takes seconds for a million.
    """
    check_shortlist(tables.similarity, reranker, wanted)
    if wanted is None:
        wanted = len(tables) >= LARGE and _why_no_shortlist(tables.similarity, reranker) is None
    if not wanted:
        return None
    return Shortlist(tables, _codes(tables, gallery, before))


def check_shortlist(similarity: SetSimilarity, reranker: Reranker, wanted: bool | None) -> None:
    """Refuse a shortlist that cannot be had, before any work is done."""
    reason = _why_no_shortlist(similarity, reranker) if wanted else None
    if reason is not None:
        raise BadInput(f"a shortlist cannot be had: {reason}; leave it out to compare all sets")


def _why_no_shortlist(similarity: SetSimilarity, reranker: Reranker) -> str | None:
    if reranker.looks_at_all:
        return f"the re-ranker {registry.spec(reranker)} looks at all sets"
    if not similarity.compares_faces:
        return f"{registry.spec(similarity)} does not compare faces one by one"
    return None


def _codes(tables: Tables, gallery: Gallery | None, before: Before | None) -> Codes:
    def make() -> Codes:
        if before is not None and gallery is not None:
            words = f"coding {counted(len(tables))} for shortlists first; this is kept"
            before(Task("shortlist", words))
        return code_means(tables)

    kind = f"shortlist on {table_kind(tables.similarity, tables.preparation)}"
    what, stored = "the codes of sets are", (Codes.to_arrays, Codes.from_arrays)
    return kept_if_possible(what, gallery, tables, kind, str(CODES_FORMAT), make, *stored)
