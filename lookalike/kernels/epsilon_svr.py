"""Linear epsilon-insensitive regression of very many rows.

Minimise |w|²/2 + C sum_i max(0, |y_i - w.x_i - b| - epsilon), to optimality, whatever C is. At the optimum a
row inside the tube pulls with no force and a row outside with the whole of C; only rows on the edge have
forces to be found, and they are no more than the unknowns. So a quarter of the rows, at four times the price,
tells roughly where the tube lies; rows far from its edge are taken as decided, and the interior point method
finds the optimum of the others. If some were decided wrongly, they join the others, and it is found again.

Decomposition methods such as libsvm's reach the same optimum, but their time grows with the square of the
rows and faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.interior_point import Pull, minimise
from lookalike.kernels.threads import one_blas_thread

Doubles = NDArray[np.float64]

# Up to so many rows are solved as they are. What follows changes the time that it takes, not the optimum.
FEW = 8192
# One row in so many is asked for a first guess.
SAMPLE = 4
# The gap that a first guess may leave.
ROUGH = 1e-3
# One row in so many, those nearest to the edge of the tube, is undecided at first; but not fewer than FEW.
UNDECIDED = 24
# After so many attempts every row is undecided; two or three are usual.
ATTEMPTS = 8


class Solution(NamedTuple):
    """The optimum, and how well it is reached."""

    weights: Doubles  # (d,)
    intercept: float
    duals: Doubles  # (n,): alpha - alpha*, zero for rows inside the tube
    objective: float
    gap: float  # primal minus dual objective, an upper bound of what is left to gain
    steps: int  # of the last search


@one_blas_thread()
def solve(x: Any, y: Any, epsilon: float, penalty: float, tolerance: float, most_steps: int) -> Solution:
    """Find the optimal weights and intercept.

    Parameters
    ----------
    x : array (n, d)
    y : array (n,)
    epsilon : float
        Error that costs nothing.
    penalty : float
        Price of an error beyond epsilon, C.
    tolerance : float
        Stop when the duality gap is at most this part of the objective.
    most_steps : int
        Stop each search after this many steps anyway; 20 to 50 are usual.
    """
    x = np.asarray(x, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    undecided, side = np.ones(len(x), dtype=bool), np.zeros(len(x))
    if len(x) > FEW:
        # The same sample every time: the result is a function of the rows.
        sample = np.sort(np.random.default_rng(0).permutation(len(x))[: len(x) // SAMPLE])
        price = penalty * len(x) / len(sample)
        guess = solve(x[sample], y[sample], epsilon, price, max(ROUGH, tolerance), most_steps)
        undecided, side = _decide(y - x @ guess.weights - guess.intercept, epsilon)
    for attempt in range(ATTEMPTS + 1):
        undecided |= attempt == ATTEMPTS
        side[undecided] = 0.0
        pull = Pull(
            penalty * (side @ x), penalty * side.sum(), penalty * (side @ y - epsilon * (side @ side))
        )
        found = minimise(x[undecided], y[undecided], epsilon, penalty, tolerance, most_steps, pull)
        errors = y - x @ found.weights - found.intercept
        beyond = np.maximum(np.abs(errors) - epsilon, 0.0)
        # What a decided row costs more than its force says: nothing, if it was decided rightly.
        wrong = np.where(undecided, 0.0, beyond - (side * errors - np.abs(side) * epsilon))
        objective = 0.5 * float(found.weights @ found.weights) + penalty * float(beyond.sum())
        gap = found.gap + penalty * float(wrong.sum())
        if gap <= tolerance * objective or not wrong.any():
            break
        undecided |= wrong > 0
    duals = penalty * side
    duals[undecided] = found.duals
    return Solution(found.weights, found.intercept, duals, objective, gap, found.steps)


def _decide(errors: Doubles, epsilon: float) -> tuple[NDArray[np.bool_], Doubles]:
    """Tell which rows are too near to the edge of the tube, and on which side (1, 0, -1) every row lies."""
    side = np.sign(errors) * (np.abs(errors) > epsilon)
    nearest = np.argsort(np.abs(np.abs(errors) - epsilon), kind="stable")
    count = max(FEW, len(side) // UNDECIDED)
    # All forces sum to zero: the undecided rows must be able to hold the others, with half their strength.
    while abs(side[nearest[count:]].sum()) > count / 2:
        count *= 2
    undecided = np.zeros(len(side), dtype=bool)
    undecided[nearest[:count]] = True
    return undecided, side
