"""Calibrate: learn from a gallery, without a label, how sure a second stage may be of its answers."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lookalike.collection.gallery import Gallery
from lookalike.derived import kept
from lookalike.errors import LookalikeError, StorageFailed
from lookalike.kernels.threads import in_order
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Reranker
from lookalike.training import kind_of, shaped_by
from lookalike.transitivity.calibration import EVEN, LEAST, NEVER, Calibration, reach
from lookalike.transitivity.tables import Row, Tables, rows_of_some

logger = logging.getLogger(__name__)

# Raised whenever what is learnt, or how it is stored, changes.
FORMAT = 2
# Sets of the gallery that are asked as queries, evenly spread; fewer make the tail of strangers uncertain.
SAMPLE = 400


def calibrate(
    tables: Tables, reranker: Reranker, seed: int = 0, gallery: Gallery | None = None, track: Track = silent
) -> Calibration:
    """Return how scores become probabilities; beside a gallery it is stored, and found again while it fits.

    It costs as much as asking 400 queries, or every set if there are fewer: the index compares every set.

    Parameters
    ----------
    tables : Tables
        As `index` returns them.
    reranker : Reranker
        The fitted second stage, as `train` returns it.
    seed : int
        The seed it was trained with.
    gallery : Gallery, optional
        The gallery the tables belong to.
    track : callable
        Shows progress.
    """
    if len(tables) <= LEAST or not reranker.tells:  # nothing can be said, and nothing needs to be kept
        return Calibration.fit(np.empty((0, 0)), 0)
    made: list[Calibration] = []

    def make() -> Calibration:
        found = Calibration.fit(_best_values(tables, reranker, track), len(tables) - 1)
        made.append(replace(found, same_person=_same_person(tables, gallery)))
        return made[-1]

    names = _kind(tables, reranker, seed), _shaped_by(reranker, seed)
    try:
        return kept(gallery, tables, *names, make, Calibration.to_arrays, Calibration.from_arrays)
    except StorageFailed as reason:
        # A gallery that may be read may be asked.
        logger.warning("what was learnt about probabilities is not kept: %s", reason)
        return made[-1] if made else make()


def _best_values(tables: Tables, reranker: Reranker, track: Track) -> NDArray[np.float64]:
    """The best values (queries, reach) of sets asked as queries, each left out of its own gallery.

    Of those whose odds are told by other means there is no tail of strangers to learn from: their own people
    fill it. They are passed over if there are enough others.
    """
    others = len(tables) - 1
    count, asked = rows_of_some(tables, SAMPLE)
    width = reach(others)

    def best(row: Row) -> tuple[NDArray[np.float64], float]:
        scored = reranker.score(row, tables)
        grounds = scored.grounds
        values = -np.delete(scored.scores if grounds is None else grounds.values, row.member or 0)
        return -np.sort(np.partition(values, width - 1)[:width]), grounds.clearly if grounds else 0.0

    watched = track(asked, "learning how sure to be", count)
    found, clearly = zip(*in_order(best, watched), strict=True)
    unclear = np.array(clearly) < EVEN
    return np.array(found)[unclear if unclear.sum() >= LEAST else slice(None)]


def _same_person(tables: Tables, gallery: Gallery | None) -> float:
    """The similarity from which two faces are one person's by the descriptor of a gallery; 1 if unknown."""
    if gallery is None or not tables.similarity.compares_faces or tables.preparation.is_learnt:
        return NEVER
    # Here, since who asks a calibrated gallery does not need it.
    from lookalike.intake.describer import same_person_of

    with suppress(LookalikeError):
        found = same_person_of(gallery.descriptor)
        return NEVER if found is None else found
    return NEVER


def _kind(tables: Tables, reranker: Reranker, seed: int) -> str:
    return f"probabilities of {kind_of(tables, reranker, seed)}"


def _shaped_by(reranker: Reranker, seed: int) -> str:
    return f"probabilities {FORMAT}|{shaped_by(reranker, seed)}"
