"""Remove: take sets out of a gallery and out of everything derived from it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import TableStore
from lookalike.errors import BadInput, NotFound
from lookalike.indexing import index, table_fits
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
    store = TableStore.beside(gallery.path)
    # What still fits knows no removed set; the rest is out of date, perhaps since an interrupted removal.
    try:
        old = {stored.manifest.kind for stored in store.stored() if "on" not in stored.facts}
        removed = gallery.remove(ids)
        for kind in old if len(gallery) else ():
            # A part that is not here any more cannot bring its table up to date.
            with suppress(NotFound, BadInput):
                index(gallery, kind, track)
    finally:
        # Whatever happened: no table that knows a set which the gallery does not know may stay.
        store.erase_others([stored.path for stored in store.stored() if table_fits(gallery, stored)])
    return removed
