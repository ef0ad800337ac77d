"""Train: fit a second stage on a gallery's tables, without a label."""

from __future__ import annotations

import numpy as np

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.derived import is_kept, kept
from lookalike.errors import BadInput
from lookalike.parameters import is_whole
from lookalike.preparing import table_kind
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Reranker
from lookalike.transitivity.tables import Tables

# Raised whenever what is learnt, or how it is stored, changes.
FORMAT = 1


def train(
    tables: Tables,
    reranker: Reranker | str = "auto",
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
    rng = np.random.default_rng(seed)
    return kept(
        gallery if part.is_learnt else None,
        tables,
        kind_of(tables, part, seed),
        shaped_by(part, seed),
        lambda: part.fit(tables, rng, track),
        lambda fitted: fitted.to_arrays(),
        part.from_arrays,
    )


def is_trained(gallery: Gallery, tables: Tables, reranker: Reranker, seed: int) -> bool:
    """Whether `train` would find everything done."""
    if not reranker.is_learnt:
        return True
    return is_kept(gallery, tables, kind_of(tables, reranker, seed), shaped_by(reranker, seed))


def check_seed(seed: object) -> None:
    """Refuse what cannot seed a random choice.

    Raises
    ------
    BadInput
        If it is not a whole number of at least 0.
    """
    if not is_whole(seed, 0):
        raise BadInput(f"seed must be a whole number of at least 0, got {seed!r}")


def kind_of(tables: Tables, reranker: Reranker, seed: int) -> str:
    """What is learnt by a second stage, in words: of each kind the newest is kept."""
    chance = f" seed {seed}" if reranker.is_random else ""
    return f"{parts.spec(reranker)} on {table_kind(tables.similarity, tables.preparation)}{chance}"


def shaped_by(reranker: Reranker, seed: int) -> str:
    """Everything besides the tables that shapes what a second stage learns from them."""
    chance = seed if reranker.is_random else "any"
    return f"{FORMAT}|{parts.spec(reranker)}|{reranker.version}|{chance}"
