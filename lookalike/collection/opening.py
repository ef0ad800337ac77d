"""Open a gallery, whatever it is: one file, or a folder of several with their manifest."""

from __future__ import annotations

from pathlib import Path

from lookalike.collection import membership
from lookalike.collection.gallery import Gallery
from lookalike.collection.sharded import ShardedGallery


def open_gallery(
    path: str | Path, create: bool = False, wait: float = 30.0, partial: bool = False
) -> Gallery:
    """Open what lies at a path.

    Parameters
    ----------
    path : path
        A gallery file, or the folder of a collection in several files.
    create : bool
        Make an empty gallery file if there is nothing.
    wait : float
        Seconds to wait for another process that is writing.
    partial : bool
        Open a folder, for reading only, though shards are missing: their sets are as if they were not.

    Returns
    -------
    Gallery
        A `ShardedGallery` for a folder.

    Raises
    ------
    NotFound, GalleryUnreadable, StorageFailed
        As `Gallery` and `ShardedGallery`.
    """
    if "\0" not in str(path) and membership.is_collection(Path(path)):
        return ShardedGallery(path, wait, partial)
    return Gallery(path, create, wait)
