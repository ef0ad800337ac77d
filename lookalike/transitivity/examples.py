"""Training examples drawn from an unlabelled gallery."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.threads import in_order
from lookalike.parameters import PROXIES, REFERENCES
from lookalike.progress import Track, silent
from lookalike.similarities.contract import Examples
from lookalike.transitivity.tables import Tables

# All rows of 200 references, 10 proxies and 10 faces are 360,000; beyond this a seeded part of them is used.
MOST_ROWS = 400_000


class TrainingSet(NamedTuple):
    """Rows of five numbers, and 1 for same person or 0 for another."""

    x: NDArray[np.float64]  # (rows, 5)
    y: NDArray[np.float64]  # (rows,)


def draw_examples(
    tables: Tables,
    rng: np.random.Generator,
    references: int = REFERENCES,
    proxies: int = PROXIES,
    most: int = MOST_ROWS,
    track: Track = silent,
) -> TrainingSet:
    """Draw examples from random reference sets and all of their proxies (sections 2.4.1 and 3.4).

    Positives come from inside the reference, so they are sure; negatives take the proxy for somebody else,
    which is sometimes wrong: the loss of the regressor is chosen for that.

    Parameters
    ----------
    tables : Tables
    rng : Generator
        Chooses the references, and the rows if there are more than ``most``.
    references, proxies : int
        How many sets, and how many proxies of each.
    most : int
        Most rows to return.
    """
    chosen = np.sort(rng.permutation(len(tables))[:references])
    pairs = [(r, int(p)) for r in chosen for p in tables.neighbours.sets[r, :proxies]]

    def draw(pair: tuple[int, int]) -> Examples:
        return tables.similarity.examples(tables.sets[int(pair[0])], tables.sets[pair[1]])

    x: list[NDArray[np.float64]] = [np.empty((0, 5))]
    y: list[NDArray[np.float64]] = [np.empty(0)]
    # Large sets make very many rows: none may take more than twice its share, so memory stays bounded.
    share = max(1, 2 * most // max(1, len(pairs)))
    for found in track(in_order(draw, pairs), "drawing examples", len(pairs)):
        targets = np.repeat([1.0, 0.0], [len(found.positives), len(found.negatives)])
        rows = _some(TrainingSet(np.concatenate(found), targets), share, rng)
        x.append(rows.x)
        y.append(rows.y)
    return _some(TrainingSet(np.concatenate(x), np.concatenate(y)), most, rng)


def _some(rows: TrainingSet, most: int, rng: np.random.Generator) -> TrainingSet:
    """Keep a random part of the rows, in their order, if there are more than wanted."""
    if len(rows.x) <= most:
        return rows
    kept = np.sort(rng.choice(len(rows.x), most, replace=False))
    return TrainingSet(rows.x[kept], rows.y[kept])
