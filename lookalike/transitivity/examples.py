"""Training examples drawn from an unlabelled gallery."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.threads import in_order
from lookalike.parameters import PROXIES, REFERENCES
from lookalike.progress import Track, silent
from lookalike.similarities.contract import Examples
from lookalike.transitivity.extrapolation import features_about
from lookalike.transitivity.tables import Tables

# All rows of 200 references, 10 proxies and 10 faces are 360,000; beyond this a seeded part of them is used.
MOST_ROWS = 400_000
# Where triplets are drawn as retrieval meets them: two sets, each among so many nearest of the other, are
# taken for one person, and so many random targets of each reference for somebody else. KIN was chosen of 1
# and 3 by the labels of the development data (docs/learnt.md).
KIN = 3
STRANGERS = 10


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
    chosen: NDArray[np.int64] | None = None,
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
    track : callable
        Shows progress.
    chosen : array, optional
        Numbers of the references, if they are drawn already.
    """
    if chosen is None:
        chosen = draw_references(tables, rng, references)
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


def draw_references(tables: Tables, rng: np.random.Generator, references: int) -> NDArray[np.int64]:
    """Numbers of random sets, in increasing order."""
    return np.sort(rng.permutation(len(tables))[:references])


def draw_near_examples(
    tables: Tables,
    rng: np.random.Generator,
    references: int = REFERENCES,
    proxies: int = PROXIES,
    most: int = MOST_ROWS,
    track: Track = silent,
    chosen: NDArray[np.int64] | None = None,
) -> TrainingSet:
    """Draw triplets of whole sets, where retrieval meets them; the parameters are those of `draw_examples`.

    Each reference is asked as a query, left out of its own gallery. Targets that are among its three nearest
    sets, and have it among theirs, count as the same person; a reference without any gives no positive
    example. A few random targets count as somebody else. Both are sometimes wrong.
    """
    if chosen is None:
        chosen = draw_references(tables, rng, references)
    x: list[NDArray[np.float64]] = [np.empty((0, 5))]
    y: list[NDArray[np.float64]] = [np.empty(0)]
    for query in track(map(int, chosen), "drawing examples", len(chosen)):
        kin = mutual_nearest(tables, query)
        others = np.setdiff1d(np.arange(len(tables)), [query, *kin])
        strangers = rng.choice(others, min(STRANGERS, len(others)), replace=False)
        targets = np.sort(np.concatenate([kin, strangers]).astype(np.int64))
        if len(targets):
            features = features_about(tables, query, targets, proxies)
            x.append(features.reshape(-1, 5))
            y.append(np.repeat(np.isin(targets, kin).astype(np.float64), features.shape[1]))
    return _some(TrainingSet(np.concatenate(x), np.concatenate(y)), most, rng)


def mutual_nearest(tables: Tables, number: int) -> list[int]:
    """Sets that are among the `KIN` nearest of this one and have it among theirs."""
    nearest = tables.neighbours.sets[:, :KIN]
    return [int(one) for one in nearest[number] if number in nearest[one]]


def _some(rows: TrainingSet, most: int, rng: np.random.Generator) -> TrainingSet:
    """Keep a random part of the rows, in their order, if there are more than wanted."""
    if len(rows.x) <= most:
        return rows
    kept = np.sort(rng.choice(len(rows.x), most, replace=False))
    return TrainingSet(rows.x[kept], rows.y[kept])
