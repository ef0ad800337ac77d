"""Remove: take sets out of a gallery and out of everything derived from it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import TableStore
from lookalike.errors import BadInput, NotFound
from lookalike.indexing import index, table_fits
from lookalike.packing import is_index, made_by
from lookalike.preparing import is_ready
from lookalike.progress import Track, silent


def remove(gallery: Gallery, ids: Sequence[str], track: Track = silent) -> list[str]:
    """Remove sets everywhere; indexes are brought up to date, what was learnt is learnt again when needed.

    An index of prepared faces is made again when needed too, if the preparation was learnt from such a set.

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
        old = sorted({made_by(stored) for stored in store.stored() if is_index(stored)})
        removed = gallery.remove(ids)
        for similarity, preparation in old if len(gallery) else ():
            # A part that is not here any more cannot bring its table up to date; and where the preparation
            # knew a removed set, everything has to be made anew, which waits until it is needed.
            with suppress(NotFound, BadInput):
                if is_ready(gallery, preparation):
                    index(gallery, similarity, track, preparation)
    finally:
        # Whatever happened: no table that knows a set which the gallery does not know may stay.
        store.erase_others([stored.path for stored in store.stored() if table_fits(gallery, stored)])
    return removed
