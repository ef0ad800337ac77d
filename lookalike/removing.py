"""Remove: take sets out of a gallery and out of everything derived from it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import TableStore
from lookalike.errors import BadInput, GalleryUnreadable, NotFound, StorageFailed
from lookalike.indexing import index, table_fits
from lookalike.packing import is_index, made_by
from lookalike.preparing import is_ready
from lookalike.progress import Track, silent

logger = logging.getLogger(__name__)

Taken = TypeVar("Taken")


@dataclass(frozen=True)
class Derived:
    """What became of derived tables, by their kinds.

    Attributes
    ----------
    rewritten : tuple of str
        Brought up to date without the removed sets.
    deleted : tuple of str
        Made again when they are needed.
    """

    rewritten: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


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
    return take_out(gallery, lambda: gallery.remove(ids), track)[0]


def take_out(gallery: Gallery, take: Callable[[], Taken], track: Track = silent) -> tuple[Taken, Derived]:
    """Let something remove sets from the gallery, and see to the derived tables.

    Whatever interrupts this, the gallery remembers that tables may know removed sets: they are deleted when
    it is next opened.

    Parameters
    ----------
    gallery : Gallery
    take : callable
        Removes the sets.
    track : callable
        Shows progress.
    """
    store = TableStore.beside(gallery.path)
    before = {stored.manifest.kind: stored.path for stored in store.stored()}
    # What still fits knows no removed set; the rest is out of date, perhaps since an interrupted removal.
    try:
        old = sorted({made_by(stored) for stored in store.stored() if is_index(stored)})
        taken = take()
        for similarity, preparation in old if len(gallery) else ():
            # A part that is not here any more cannot bring its table up to date, nor can a gallery in which
            # other sets are damaged too; and where the preparation knew a removed set, everything has to be
            # made anew, which waits until it is needed.
            with suppress(NotFound, BadInput, GalleryUnreadable), _later():
                if is_ready(gallery, preparation):
                    index(gallery, similarity, track, preparation)
    finally:
        # Whatever happened: no table that knows a set which the gallery does not know may stay.
        with _later():
            mark = gallery.derived_mark()
            store.erase_others([stored.path for stored in store.stored() if table_fits(gallery, stored)])
            if mark is not None:
                gallery.settle_derived(mark)
    after = {stored.manifest.kind: stored.path for stored in store.stored()}
    rewritten = (kind for kind, path in after.items() if kind in before and before[kind] != path)
    return taken, Derived(tuple(rewritten), tuple(kind for kind in before if kind not in after))


@contextmanager
def _later() -> Iterator[None]:
    """Trouble with tables is logged: the sets are removed already, and the gallery remembers what is due."""
    try:
        yield
    except (StorageFailed, OSError) as reason:
        logger.warning("tables that knew removed sets are deleted when it is opened next: %s", reason)
