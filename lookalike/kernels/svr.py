"""Linear epsilon-insensitive regression of very many rows, by Newton steps of an interior point method.

Minimise |w|²/2 + C sum_i max(0, |y_i - w.x_i - b| - epsilon) - v.w - c b, to optimality, whatever C is. Each
step solves one symmetric system of the size of w, so a million rows cost no more than forming it. v and c are
the pull of rows that are known to lie outside the tube, which `lookalike.kernels.epsilon_svr` leaves out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lookalike.kernels.threads import blocks, in_order, one_blas_thread

Doubles = NDArray[np.float64]

# Rows of one piece of work.
BLOCK = 2048
# A step stops this far short of the boundary of the feasible region.
SHORT = 0.995


class Pull(NamedTuple):
    """What the rows outside the tube that are left out cost: ``cost - weights.w - intercept b``."""

    weights: Doubles  # (d,): v
    intercept: float  # c
    cost: float


class Minimum(NamedTuple):
    """The optimum, and how well it is reached."""

    weights: Doubles  # (d,)
    intercept: float
    duals: Doubles  # (n,): alpha - alpha*, zero for rows inside the tube
    gap: float  # primal minus dual objective, an upper bound of what is left to gain
    steps: int


def minimise(
    x: Doubles, y: Doubles, epsilon: float, penalty: float, tolerance: float, most_steps: int, pull: Pull
) -> Minimum:
    """Find the optimal weights and intercept of some rows under the pull of those left out, as `solve` does.

    Notes
    -----
    With errors r = y - f, slacks xi above and below the tube and their room s, the conditions of the optimum
    are s+ = epsilon + xi+ - r, s- = epsilon + xi- + r, w = v + sum (a+ - a-) x, c + sum (a+ - a-) = 0,
    eta = C - a and a s = eta xi = 0 on both sides. Newton steps on these with the zeros replaced by a
    shrinking mu (Mehrotra's predictor and corrector) keep every quantity positive. Arrays (2, n) hold both
    sides.
    """
    count, size = x.shape
    weights, intercept = np.zeros(size), float(np.median(y))
    sign = np.array([[1.0], [-1.0]])
    fit = np.full(count, intercept)
    a = np.full((2, count), penalty / 2)
    eta = penalty - a
    xi = np.maximum(np.abs(y - fit) - epsilon, 0.0) + np.full(
        (2, count), max(1.0, float(np.abs(y - fit).mean()))
    )
    s = epsilon + xi - sign * (y - fit)

    steps = 0
    while True:
        gap = float((a * s).sum() + (eta * xi).sum())
        objective = 0.5 * float(weights @ weights) + penalty * float(
            np.maximum(np.abs(y - fit) - epsilon, 0.0).sum()
        )
        objective += pull.cost - float(pull.weights @ weights) - pull.intercept * intercept
        if gap <= tolerance * max(objective, 1e-12 * penalty) or steps == most_steps:
            break
        # Each side contributes  da = (t -+ df) / d  with d = s/a + xi/eta.
        d = s / a + xi / eta
        system = _Normal(x, (1.0 / d).sum(axis=0))
        duals = a[0] - a[1]
        wrong_w, wrong_b = weights - pull.weights - x.T @ duals, duals.sum() + pull.intercept
        average = gap / (4 * count)

        def newton(room: NDArray[np.float64], slack: NDArray[np.float64]) -> tuple[Any, ...]:
            t = (room / a - s) - (slack / eta - xi)  # noqa: B023
            towards = (sign * t / d).sum(axis=0)  # noqa: B023
            dw, db = system.solve(x.T @ towards - wrong_w, towards.sum() + wrong_b)  # noqa: B023
            df = x @ dw + db
            da = (t - sign * df) / d  # noqa: B023
            ds = (room - s * da) / a - s  # noqa: B023
            dxi = (slack + xi * da) / eta - xi  # noqa: B023
            return dw, db, df, da, ds, dxi

        # Predictor: aim straight at the optimum, and see how far the boundary lets us go.
        zero = np.zeros_like(a)
        _, _, _, da, ds, dxi = newton(zero, zero)
        far = min(_room(a, da), _room(eta, -da), _room(s, ds), _room(xi, dxi))
        reached = float(((a + far * da) * (s + far * ds)).sum() + ((eta - far * da) * (xi + far * dxi)).sum())
        mu = average * (reached / gap) ** 3
        # Corrector: aim at mu, with the second-order terms the predictor showed.
        dw, db, df, da, ds, dxi = newton(mu - da * ds, mu + da * dxi)
        far = min(1.0, SHORT * min(_room(a, da), _room(eta, -da), _room(s, ds), _room(xi, dxi), 1 / SHORT))
        if far < 1e-10 or not np.isfinite(far):
            break  # the numbers allow no better point than this one
        weights, intercept, fit = weights + far * dw, intercept + far * db, fit + far * df
        a, eta, s, xi = a + far * da, eta - far * da, s + far * ds, xi + far * dxi
        steps += 1
    return Minimum(weights, intercept, a[0] - a[1], gap, steps)


class _Normal:
    """The system  [I + X'GX, X'G1; 1'GX, 1'G1], factored once for several right-hand sides."""

    def __init__(self, x: NDArray[np.float64], g: NDArray[np.float64]) -> None:
        size, root = x.shape[1], np.sqrt(g)

        def part(rows: slice) -> tuple[Any, Any]:
            # A matrix times itself: half of the multiplications.
            scaled = x[rows] * root[rows, None]
            return scaled.T @ scaled, root[rows] @ scaled

        matrix = np.zeros((size + 1, size + 1))
        # Blocks are summed in order: the same sum on any number of threads.
        for square, edge in in_order(part, blocks(len(x), BLOCK)):
            matrix[:size, :size] += square
            matrix[size, :size] += edge
        matrix[:size, size] = matrix[size, :size]
        matrix[size, size] = g.sum()
        matrix[np.arange(size), np.arange(size)] += 1.0
        self.scale = 1.0 / np.sqrt(matrix.diagonal())
        scaled = matrix * self.scale[:, None] * self.scale
        # Close to the optimum some g are huge: a trace of ridge keeps the factor positive definite.
        for ridge in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
            try:
                self.factor = scipy.linalg.cho_factor(scaled + ridge * np.eye(size + 1))
                return
            except scipy.linalg.LinAlgError:
                continue
        self.factor = scipy.linalg.cho_factor(scaled + 1e-6 * np.eye(size + 1))

    def solve(self, right_w: NDArray[np.float64], right_b: float) -> tuple[NDArray[np.float64], float]:
        right = np.append(right_w, right_b) * self.scale
        found = scipy.linalg.cho_solve(self.factor, right) * self.scale
        return found[:-1], float(found[-1])


def _room(value: NDArray[np.float64], change: NDArray[np.float64]) -> float:
    """How many times the change can be added before a value turns negative; at most 1."""
    falls = change < 0
    return float(min(1.0, (-value[falls] / change[falls]).min(initial=1.0)))


# Linear epsilon-insensitive regression of very many rows.
#
# Minimise |w|²/2 + C sum_i max(0, |y_i - w.x_i - b| - epsilon), to optimality, whatever C is. At the optimum
# a row inside the tube pulls with no force and a row outside with the whole of C; only rows on the edge have
# forces to be found, and they are no more than the unknowns. So a quarter of the rows, at four times the
# price, tells roughly where the tube lies; rows far from its edge are taken as decided, and the interior
# point method finds the optimum of the others. If some were decided wrongly, they join the others, and it is
# found again.
#
# Decomposition methods such as libsvm's reach the same optimum, but their time grows with the square of the
# rows and faster.


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
