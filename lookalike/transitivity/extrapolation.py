"""Extrapolation: what retrieval asks of a regressor, and how much of it is unlike its training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.similarities.contract import PreparedSets
from lookalike.transitivity.metafeatures import metafeatures
from lookalike.transitivity.proxies import proxy_slots
from lookalike.transitivity.shortlist import narrowed
from lookalike.transitivity.tables import Tables, rows

# So many queries, and so many targets of each, tell the distribution well enough.
QUERIES = 100
TARGETS = 20
# What training showed: this part of its rows, so that a few odd ones do not widen it.
INNER = 0.99


def features_about(
    tables: Tables, query: int, targets: NDArray[np.int64], proxies: int
) -> NDArray[np.float64]:
    """The five numbers of a member of the gallery and some targets, as retrieval meets them; (m, k, 5).

    The query is compared with the targets and their proxies only, so the cost does not grow with the gallery.

    Parameters
    ----------
    tables : Tables
    query : int
        Its number; it is not among the targets.
    targets : array (m,)
        Numbers in increasing order.
    proxies : int
        Proxies of each target.
    """
    small, member, _ = narrowed(tables, targets, query, proxies)
    [row] = rows(small, PreparedSets.join([tables.sets[query]]), [member])
    return metafeatures(row, small, proxy_slots(small.neighbours, proxies, member))


def features_asked(tables: Tables, proxies: int) -> NDArray[np.float64]:
    """What a gallery asks when its own sets are queries, without any label; (rows, 5).

    The sample is the same each time: it depends on the size of the gallery only, not on a seed.
    """
    chance = np.random.default_rng(0)
    found: list[NDArray[np.float64]] = [np.empty((0, 5))]
    for query in np.sort(chance.permutation(len(tables))[:QUERIES]):
        others = np.delete(np.arange(len(tables)), query)
        targets = np.sort(chance.permutation(others)[:TARGETS])
        if len(targets):
            found.append(features_about(tables, int(query), targets, proxies).reshape(-1, 5))
    return np.concatenate(found)


def far_from(training: NDArray[np.float64], met: NDArray[np.float64]) -> float:
    """Share of rows that lie further from the training rows than nearly all of these do themselves.

    Each number alone may be common and the five together never seen, so the distance is that of Mahalanobis:
    from the mean of the training rows, in units of their spread along every direction.
    """
    if len(training) < 2 or not len(met):
        return 0.0
    centre = training.mean(axis=0)
    # A number that never changes in training has no spread; the smallest keeps its distance finite.
    spread = np.cov(training.T) + 1e-9 * np.eye(training.shape[1])
    inverse = np.linalg.inv(spread)

    def distances(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.einsum("ij,jk,ik->i", rows - centre, inverse, rows - centre)

    return float((distances(met) > np.quantile(distances(training), INNER)).mean())
