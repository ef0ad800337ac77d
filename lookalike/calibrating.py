"""Calibrate: learn from a gallery, without a label, how sure a second stage may be of its answers."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from lookalike.collection.gallery import Gallery
from lookalike.derived import is_kept, kept
from lookalike.errors import StorageFailed
from lookalike.kernels.threads import in_order
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Reranker
from lookalike.training import kind_of, shaped_by
from lookalike.transitivity.calibration import LEAST, Calibration, reach
from lookalike.transitivity.tables import Row, Tables, rows_of_some

logger = logging.getLogger(__name__)

# Raised whenever what is learnt, or how it is stored, changes.
FORMAT = 1
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
    if len(tables) <= LEAST:  # nothing can be said, and nothing needs to be kept
        return Calibration.fit(np.empty((0, 0)), len(tables) - 1)
    made: list[Calibration] = []

    def make() -> Calibration:
        made.append(Calibration.fit(_best_scores(tables, reranker, track), len(tables) - 1))
        return made[-1]

    names = _kind(tables, reranker, seed), _shaped_by(reranker, seed)
    try:
        return kept(gallery, tables, *names, make, Calibration.to_arrays, Calibration.from_arrays)
    except StorageFailed as reason:
        # A gallery that may be read may be asked.
        logger.warning("what was learnt about probabilities is not kept: %s", reason)
        return made[-1] if made else make()


def is_calibrated(gallery: Gallery, tables: Tables, reranker: Reranker, seed: int) -> bool:
    """Whether `calibrate` would find everything done."""
    if len(tables) <= LEAST:
        return True
    return is_kept(gallery, tables, _kind(tables, reranker, seed), _shaped_by(reranker, seed))


def _best_scores(tables: Tables, reranker: Reranker, track: Track) -> NDArray[np.float64]:
    """The best scores (queries, reach) of sets asked as queries, each left out of its own gallery."""
    others = len(tables) - 1
    count, asked = rows_of_some(tables, SAMPLE)
    width = reach(others)

    def best(row: Row) -> NDArray[np.float64]:
        scores = -np.delete(reranker.score(row, tables).scores, row.member or 0)
        return -np.sort(np.partition(scores, width - 1)[:width])

    watched = track(asked, "learning how sure to be", count)
    return np.array(list(in_order(best, watched)))


def _kind(tables: Tables, reranker: Reranker, seed: int) -> str:
    return f"probabilities of {kind_of(tables, reranker, seed)}"


def _shaped_by(reranker: Reranker, seed: int) -> str:
    return f"probabilities {FORMAT}|{shaped_by(reranker, seed)}"
