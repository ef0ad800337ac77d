"""Train: fit a second stage on a gallery's tables, without a label."""

from __future__ import annotations

import hashlib
from contextlib import suppress

import numpy as np

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import TableStore
from lookalike.errors import BadInput
from lookalike.indexing import index_fingerprint
from lookalike.parameters import is_whole
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Reranker
from lookalike.transitivity.tables import Tables

# Raised whenever what is learnt, or how it is stored, changes.
FORMAT = 1


def train(
    tables: Tables,
    reranker: Reranker | str = "learnt",
    seed: int = 0,
    gallery: Gallery | None = None,
    track: Track = silent,
) -> Reranker:
    """Return a fitted second stage; beside a gallery it is stored, and found again while it fits.

    Parameters
    ----------
    tables : Tables
        As `index` returns them.
    reranker : Reranker or str
        The second stage, or its name.
    seed : int
        Chooses the random references; the same gallery and seed give the same result.
    gallery : Gallery, optional
        The gallery the tables belong to.
    track : callable
        Shows progress.
    """
    part: Reranker = parts.build("rerankers", reranker)
    check_seed(seed)
    # Tables that the gallery has outgrown may be asked, but what is learnt from them is not kept.
    if gallery is None or not part.is_learnt or not _fits(gallery, tables):
        return part.fit(tables, np.random.default_rng(seed), track)
    store = TableStore.beside(gallery.path)
    kind, fingerprint = _kind(tables, part, seed), _fingerprint(tables, part, seed)
    stored = store.load(kind, fingerprint)
    # The arrays are small: a flipped bit is noticed here, and learnt again.
    if stored is not None and not store.check(stored):
        with suppress(BadInput):
            return part.from_arrays(stored.arrays)
    store.drop(kind)
    part.fit(tables, np.random.default_rng(seed), track)
    facts = {"format": FORMAT, "on": parts.spec(tables.similarity), "index": tables.fingerprint}
    store.save(kind, fingerprint, part.to_arrays(), facts)
    if not _fits(gallery, tables):
        store.drop(kind)  # the gallery changed while we learnt: nothing may be kept of a set that left it
    return part


def is_trained(gallery: Gallery, tables: Tables, reranker: Reranker, seed: int) -> bool:
    """Whether `train` would find everything done."""
    if not reranker.is_learnt:
        return True
    store = TableStore.beside(gallery.path)
    return store.load(_kind(tables, reranker, seed), _fingerprint(tables, reranker, seed)) is not None


def check_seed(seed: object) -> None:
    """Refuse what cannot seed a random choice.

    Raises
    ------
    BadInput
        If it is not a whole number of at least 0.
    """
    if not is_whole(seed, 0):
        raise BadInput(f"seed must be a whole number of at least 0, got {seed!r}")


def _kind(tables: Tables, reranker: Reranker, seed: int) -> str:
    chance = f" seed {seed}" if reranker.is_random else ""
    return f"{parts.spec(reranker)} on {parts.spec(tables.similarity)}{chance}"


def _fits(gallery: Gallery, tables: Tables) -> bool:
    return tables.fingerprint == index_fingerprint(gallery, tables.similarity)


def _fingerprint(tables: Tables, reranker: Reranker, seed: int) -> str:
    chance = seed if reranker.is_random else "any"
    shaped_by = f"{FORMAT}|{tables.fingerprint}|{parts.spec(reranker)}|{reranker.version}|{chance}"
    return hashlib.sha256(shaped_by.encode()).hexdigest()[:32]
