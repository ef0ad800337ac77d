"""Reduced: the neighbours of some sets of a gallery, when the others cannot be reached."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.order import best_first
from lookalike.similarities.contract import PreparedSets, SetSimilarity
from lookalike.transitivity.held import Held
from lookalike.transitivity.tables import Neighbours, beside

# Lists that lost most of their sets are made again, so that they do not shorten all others: so many at most.
MADE_AGAIN = 256


def reduced(
    near: Neighbours, is_there: NDArray[np.bool_], similarity: SetSimilarity, sets: PreparedSets | Held
) -> Neighbours:
    """Take the sets that are not there out of all lists.

    The first neighbours of every list are those that an index of the sets that are there has, bit for bit.
    Lists become shorter, all to one length. Modes are not kept: those of neighbours that move up are not
    known.

    Parameters
    ----------
    near : Neighbours
        Of all n sets.
    is_there : array (n,)
    similarity : SetSimilarity
    sets : PreparedSets or Held
        The m sets that are there.
    """
    numbers = np.cumsum(is_there) - 1
    lists, scores = near.sets[is_there], near.scores[is_there]
    kept = is_there[lists]
    left = kept.sum(axis=1)
    width = int(np.sort(left)[min(MADE_AGAIN, len(left) - 1)])
    width = min(width, len(left) - 1)
    order = np.argsort(~kept, axis=1, kind="stable")[:, :width]
    found = np.take_along_axis(lists, order, axis=1), np.take_along_axis(scores, order, axis=1)
    chosen, values = numbers[found[0]], found[1]
    for number in np.flatnonzero(left < width):
        own = beside(similarity, sets, int(number)).scores[0]
        best = best_first(own, own, width)
        chosen[number], values[number] = best + (best >= number), own[best]
    modes = np.zeros((len(left), 0, *similarity.mode_shape), dtype=similarity.mode_type)
    return Neighbours(chosen, values, modes, modes)
