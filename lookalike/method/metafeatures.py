"""Query, proxy, target: the five numbers, in the order of the paper, and in units of their spread."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.method.tables import Neighbours, Pairs, Row, Tables, agreements

NUMBERS: Final = (
    "query and proxy are alike",
    "query and target are alike",
    "proxy and target are alike",
    "query and target meet the proxy in the same face",
    "query and proxy meet the target in the same face",
)


def metafeatures(row: Row, tables: Tables, slots: NDArray[np.int64]) -> NDArray[np.float64]:
    """v(query, target | proxy) = [s1, s2, s3, s4, s5] for every target and each of its proxies (equation 1).

    s1 = sim(query, proxy), s2 = sim(query, target), s3 = sim(proxy, target),
    s4 = agreement in the proxy of mode(proxy | query) and mode(proxy | target),
    s5 = agreement in the target of mode(target | query) and mode(target | proxy).

    Parameters
    ----------
    row : Row
        The query against all n sets.
    tables : Tables
    slots : array (n, k)
        Columns of ``tables.neighbours`` that are proxies, as `proxy_slots` chooses them.

    Returns
    -------
    array (n, k, 5)
        Rows of a query that is a member mean nothing for itself as a target.
    """
    near = tables.neighbours
    proxies = np.take_along_axis(near.sets, slots, axis=1)  # (n, k)
    targets = np.broadcast_to(np.arange(len(proxies))[:, None], proxies.shape)
    features = np.empty((*proxies.shape, 5))
    features[..., 0] = row.scores[proxies]
    features[..., 1] = row.scores[targets]
    features[..., 2] = np.take_along_axis(near.scores, slots, axis=1)
    # Both in one go: sets that lie elsewhere are then asked once.
    asked = pairs_of(near, slots)
    agreed = agreements(tables, asked.which, row.set_modes[asked.which], asked.modes)
    features[..., 3:] = np.moveaxis(agreed.reshape(2, *proxies.shape), 0, -1)
    return features


def pairs_of(near: Neighbours, slots: NDArray[np.int64]) -> Pairs:
    """The modes that are held against those of a query: for s4 those of all proxies, then for s5 of targets.

    Parameters
    ----------
    near : Neighbours
    slots : array (n, k)
        As in `metafeatures`.
    """
    proxies = np.take_along_axis(near.sets, slots, axis=1)
    targets = np.broadcast_to(np.arange(len(proxies))[:, None], proxies.shape)
    return Pairs(
        np.concatenate([proxies.ravel(), targets.ravel()]),
        np.concatenate([_flat(near.their_modes[targets, slots]), _flat(near.own_modes[targets, slots])]),
    )


def _flat(modes: NDArray[Any]) -> NDArray[Any]:
    """Modes (n, k, ...) one after the other."""
    return modes.reshape(-1, *modes.shape[2:])
