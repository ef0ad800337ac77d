"""Remove: take sets out of a gallery and out of everything derived from it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import TableStore
from lookalike.errors import BadInput, NotFound
from lookalike.indexing import index, index_fingerprint
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
    try:
        return gallery.remove(ids)
    finally:
        # Even if there is nothing to remove: an earlier removal may have been interrupted before this.
        _refresh(gallery, track)


def _refresh(gallery: Gallery, track: Track) -> None:
    """Bring every index up to date, and erase all other tables: they may know the removed sets."""
    store = TableStore.beside(gallery.path)
    fresh: list[Path] = []
    for stored in store.stored() if len(gallery) else []:
        kind, learnt_on = stored.manifest.kind, stored.facts.get("on")
        # A part that is not here any more cannot bring its table up to date, nor say whether it is.
        with suppress(NotFound, BadInput):
            if learnt_on is None:
                index(gallery, kind, track)
                found = store.latest(kind)
            else:
                similarity = parts.build("similarities", learnt_on)
                fits = stored.facts.get("index") == index_fingerprint(gallery, similarity)
                found = stored if fits else None
            fresh += [found.path] if found is not None else []
    store.erase_others(fresh)
