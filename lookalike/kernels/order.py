"""Order: who comes first, without sorting everybody when only the first few are asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Numbers = NDArray[np.int64]

# Places of fewer numbers than this are counted one by one, which is quicker than sorting.
FEW = 128


def best_first(scores: Scores, then: Scores, top: int | None = None) -> Numbers:
    """Numbers by decreasing score; ties go to the larger ``then``, and after that to the lower number."""
    count = len(scores)
    if top is None or top >= count:
        return np.lexsort((np.arange(count), -then, -scores))
    # Everybody who reaches the last of the best may still be among them.
    chosen = np.flatnonzero(scores >= np.partition(scores, count - top)[count - top])
    return chosen[np.lexsort((chosen, -then[chosen], -scores[chosen]))[:top]]


def united(total: int, *groups: Numbers) -> Numbers:
    """Numbers below a total that are in any of some groups, in increasing order.

    Marking them takes less time than sorting tens of thousands, however many there are in all.
    """
    marked = np.zeros(total, dtype=bool)
    for group in groups:
        marked[group] = True
    return np.flatnonzero(marked)


def places(scores: Scores, then: Scores, asked: Numbers) -> Numbers:
    """The places that some numbers have in the order of `best_first`; 0 is the first."""
    if len(asked) > FEW:
        everybody = np.empty(len(scores), dtype=np.int64)
        everybody[best_first(scores, then)] = np.arange(len(scores))
        return everybody[asked]
    found = np.empty(len(asked), dtype=np.int64)
    for i, number in enumerate(asked):
        found[i] = np.count_nonzero(scores > scores[number])
        tied = np.flatnonzero(scores == scores[number])
        if len(tied) > 1:
            ahead = (then[tied] > then[number]) | ((then[tied] == then[number]) & (tied < number))
            found[i] += np.count_nonzero(ahead)
    return found
