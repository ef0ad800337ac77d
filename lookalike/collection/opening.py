"""Open a gallery by its path."""

from __future__ import annotations

from pathlib import Path

from lookalike.collection.gallery import Gallery


def open_gallery(path: str | Path, create: bool = False, wait: float = 30.0) -> Gallery:
    """Open the gallery file at a path.

    Parameters
    ----------
    path : path
    create : bool
        Make an empty gallery file if there is nothing.
    wait : float
        Seconds to wait for another process that is writing.

    Raises
    ------
    BadInput
        If an earlier version split it into several files: `lookalike merge` brings it back into one.
    NotFound, GalleryUnreadable, StorageFailed
        As `Gallery`.
    """
    return Gallery(path, create, wait)
