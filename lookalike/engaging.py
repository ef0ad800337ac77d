"""Engage: choose where the shards of a gallery are opened, and refuse what cannot be spread."""

from __future__ import annotations

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.collection.sharded import ShardedGallery
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput


def choose_engine(engine: Engine | str) -> Engine:
    """Return an engine by its name, or as it is given.

    Raises
    ------
    BadInput, NotFound
        If there is no such engine, or its options are refused.
    """
    found: Engine = parts.build("engines", engine)
    return found


def check_spread(gallery: object, engine: Engine | str) -> None:
    """Refuse an engine that has nothing to spread.

    Raises
    ------
    BadInput
        If the gallery is one file, and the engine is not the one of this process.
    """
    chosen = choose_engine(engine)
    if not chosen.is_here and not isinstance(gallery, ShardedGallery):
        what = f"{gallery.path} is one file" if isinstance(gallery, Gallery) else "these are sets in memory"
        raise BadInput(
            f"{what}, which the engine {parts.spec(chosen)} cannot spread: "
            "split a gallery with `lookalike split`, or leave the engine out"
        )
