"""Remove: take sets out of a gallery and out of everything derived from it."""

from __future__ import annotations

from collections.abc import Sequence

from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import TableStore
from lookalike.errors import BadInput, NotFound
from lookalike.indexing import index
from lookalike.progress import Track, silent


def remove(gallery: Gallery, ids: Sequence[str], track: Track = silent) -> list[str]:
    """Remove sets everywhere; indexes are brought up to date, what was learnt is learnt again when needed.

    Parameters
    ----------
    gallery : Gallery
    ids : sequence of str
        All of them are removed, or, if one is not there, none.
    track : callable
        Shows progress.

    Raises
    ------
    NotFound
        If a set is not there.
    """
    removed = gallery.remove(ids)
    store = TableStore.beside(gallery.path)
    if not len(gallery):
        store.drop()
        return removed
    for stored in store.stored():
        kind = stored.manifest.kind
        if stored.facts.get("similarity") != kind:
            store.drop(kind)
            continue
        try:
            index(gallery, kind, track)  # keeps no table that knows the removed sets
        except (NotFound, BadInput):  # the part that made it is not here to bring it up to date
            store.drop(kind)
    return removed
