"""Derived: what is made from the tables of a gallery is kept beside it, and found again while it fits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from numpy.typing import NDArray

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import TableStore
from lookalike.errors import BadInput
from lookalike.indexing import index_fingerprint
from lookalike.transitivity.tables import Tables

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

    Parameters
    ----------
    gallery : Gallery, optional
        The gallery the tables belong to.
    tables : Tables
    kind : str
        What it is; of each kind the newest is kept.
    shaped_by : str
        Everything that shapes it besides the tables.
    make : callable
    to_arrays, from_arrays : callables
        How it is stored; ``from_arrays`` raises BadInput for what it cannot use, which is made again.
    """
    # Tables that the gallery has outgrown may be asked, but what is made from them is not kept.
    if gallery is None or not _fits(gallery, tables):
        return make()
    store, fingerprint = TableStore.beside(gallery.path), _fingerprint(tables, shaped_by)
    stored = store.load(kind, fingerprint)
    if stored is not None:
        with suppress(BadInput, LookupError, TypeError, ValueError):
            return from_arrays(stored.arrays)
    store.drop(kind)
    made = make()
    facts = {
        "on": parts.spec(tables.similarity),
        "preparation": parts.spec(tables.preparation),
        "index": tables.fingerprint,
    }
    store.save(kind, fingerprint, to_arrays(made), facts)
    if not _fits(gallery, tables):
        store.drop(kind)  # the gallery changed meanwhile: nothing may be kept of a set that left it
    return made


def is_kept(gallery: Gallery, tables: Tables, kind: str, shaped_by: str) -> bool:
    """Whether `kept` would find it."""
    return TableStore.beside(gallery.path).has(kind, _fingerprint(tables, shaped_by))


def _fits(gallery: Gallery, tables: Tables) -> bool:
    return tables.fingerprint == index_fingerprint(gallery, tables.similarity, tables.preparation)


def _fingerprint(tables: Tables, shaped_by: str) -> str:
    return hashlib.sha256(f"{tables.fingerprint}|{shaped_by}".encode()).hexdigest()[:32]
