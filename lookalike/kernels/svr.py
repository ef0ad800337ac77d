"""Support vector regression: the kernel exp(-gamma |x - x'|²), its low-rank form, and Newton steps.

Minimise |w|²/2 + C sum_i max(0, |y_i - w.x_i - b| - epsilon) - v.w - c b, to optimality, whatever C is. Each
step solves one symmetric system of the size of w, so a million rows cost no more than forming it. v and c are
the pull of rows that are known to lie outside the tube, which `lookalike.kernels.epsilon_svr` leaves out.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled
from lookalike.kernels.threads import blocks, in_order, one_blas_thread, scipy_linalg

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
        linalg = scipy_linalg()
        for ridge in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
            try:
                self.factor = linalg.cho_factor(scaled + ridge * np.eye(size + 1))
                return
            except linalg.LinAlgError:
                continue
        self.factor = linalg.cho_factor(scaled + 1e-6 * np.eye(size + 1))

    def solve(self, right_w: NDArray[np.float64], right_b: float) -> tuple[NDArray[np.float64], float]:
        right = np.append(right_w, right_b) * self.scale
        found = scipy_linalg().cho_solve(self.factor, right) * self.scale
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


Floats = NDArray[np.floating[Any]]

# Rows of one piece of work: with a hundred centres they stay in the cache.


def rbf(x: Floats, y: Floats, gamma: float) -> NDArray[np.float64]:
    """Kernel of all rows of x with all rows of y; (n_x, n_y)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    squares = np.zeros((len(x), len(y)))
    step = np.empty_like(squares)
    # One coordinate at a time: no cancellation as in |x|² + |y|² - 2 x.y, and the same bits for any block.
    for column in range(x.shape[1]):
        np.subtract(x[:, column, None], y[None, :, column], out=step)
        squares += np.square(step, out=step)
    squares *= -gamma
    return np.exp(squares, out=squares)


@one_blas_thread()
def landmarks(x: Floats, gamma: float, tolerance: float, most: int) -> NDArray[np.int64]:
    """Rows of x that span its kernel matrix to within a tolerance: pivoted Cholesky decomposition.

    At each step the row that the chosen ones explain least is added [1]_; on [0, 1]^5 with a smooth kernel
    about a hundred rows are enough, however many there are.

    Parameters
    ----------
    x : array (n, d)
    gamma : float
    tolerance : float
        Largest part of any diagonal entry (which are all 1) left unexplained.
    most : int
        Most rows to choose.

    References
    ----------
    .. [1] S. Fine, K. Scheinberg, "Efficient SVM training using low-rank kernel representations",
       JMLR 2, 2001.
    """
    x = np.asarray(x, dtype=np.float64)
    left = np.ones(len(x))
    factor = np.empty((min(most, len(x)), len(x)))
    chosen: list[int] = []
    while len(chosen) < len(factor):
        pivot = int(left.argmax())
        if left[pivot] <= tolerance:
            break
        step = len(chosen)
        row = rbf(x[pivot : pivot + 1], x, gamma)[0]
        row -= factor[:step, pivot] @ factor[:step]
        factor[step] = row / np.sqrt(left[pivot])
        left -= factor[step] ** 2
        left[pivot] = 0.0
        chosen.append(pivot)
    return np.array(chosen, dtype=np.int64)


@one_blas_thread()
def feature_map(centres: Floats, gamma: float) -> NDArray[np.float64]:
    """Upper triangular U with rbf(x, centres) @ U whose inner products are the low-rank kernel."""
    linalg = scipy_linalg()
    factor = linalg.cholesky(rbf(centres, centres, gamma) + 1e-14 * np.eye(len(centres)))
    inverse: NDArray[np.float64] = linalg.solve_triangular(factor, np.eye(len(centres)))
    return inverse


def features(x: Floats, centres: Floats, gamma: float, transform: Floats) -> NDArray[np.float64]:
    """Coordinates of every row in the space that the centres span; (n, r)."""
    doubles = np.ascontiguousarray(x, dtype=np.float64)
    columns = np.ascontiguousarray(np.asarray(centres, dtype=np.float64).T)
    result = np.empty((len(x), len(centres)))

    def fill(rows: slice) -> None:
        kernel = _exponents(doubles[rows], columns, gamma)
        np.matmul(np.exp(kernel, out=kernel), transform, out=result[rows])

    for _ in in_order(fill, blocks(len(x), BLOCK)):
        pass
    return result


@compiled
def _exponents(x: NDArray[np.float64], columns: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """-gamma |x - x'|² for rows (n, d) and centres as columns (d, r), (n, r); the quick twin of `rbf`."""
    result = np.empty((len(x), columns.shape[1]))
    for row in range(len(x)):
        squares = result[row]
        squares[:] = 0.0
        for number in range(len(columns)):
            value = x[row, number]
            for centre in range(len(squares)):
                step = value - columns[number, centre]
                squares[centre] += step * step
        for centre in range(len(squares)):
            squares[centre] *= -gamma
    return result


def readable_expansion(x: Floats, centres: Floats, weights: Floats, gamma: float) -> NDArray[np.float64]:
    """Sum over centres of weight times kernel, for every row; (n,).

    Double precision and one centre after the other: the weights cancel, so the order of the sum shows in the
    result, and here it is the same for one row and for millions.
    """
    x = np.asarray(x, dtype=np.float64)
    result = np.zeros(len(x))

    def add_up(rows: slice) -> None:
        columns = np.ascontiguousarray(x[rows].T)
        total = np.zeros(columns.shape[1])
        squares, step = np.empty_like(total), np.empty_like(total)
        for centre, weight in zip(centres, weights, strict=True):
            squares[:] = 0.0
            for column, value in zip(columns, centre, strict=True):
                np.subtract(column, value, out=step)
                np.multiply(step, step, out=step)
                squares += step
            np.multiply(squares, -gamma, out=squares)
            np.exp(squares, out=squares)
            np.multiply(squares, weight, out=squares)
            total += squares
        result[rows] = total

    for _ in in_order(add_up, blocks(len(x), BLOCK)):
        pass
    return result


# Expansion: a sum of Gaussian kernels over many rows of five numbers, as fast as multiplications allow.
#
# Measured from the middle of the centres, exp(-γ |x - c|²) = exp(-γ |x|²) exp(-γ |c|²) exp(2 γ x·c): the
# first two are taken once for each row and each centre, so the inner loop needs the exponential of a small
# number only. That is a polynomial of degree 9: multiplications that the processor does for several rows at
# once. For rows far from the middle it is taken of a 32nd, to the 32nd power.


# For |2 γ x·c| up to this the polynomial is as precise as a double; far rows may reach 32 times as far, which
# is as far as five numbers between -1 and 1 do.
REACH: Final = 0.1
# Rows that are worked on side by side, and rows of one piece of work.
SIDE: Final = 64
ROWS_OF_ONE_PIECE: Final = 8192


def expansion(x: Floats, centres: Floats, weights: Floats, gamma: float) -> Doubles:
    """Sum over centres of weight times exp(-γ |x - c|²), for every row; (n,).

    What is added up, and in which order, depends on the row alone: one row gives the same bits as millions.
    Rows that reach too far, or do not have five numbers, are left to the readable twin,
    `lookalike.kernels.svr.expansion`.
    """
    x = np.asarray(x, dtype=np.float64)
    centres, weights = np.asarray(centres, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if x.shape[1] != 5 or not len(centres):
        return readable_expansion(x, centres, weights, gamma)
    middle = (centres.min(axis=0) + centres.max(axis=0)) / 2
    scaled = np.ascontiguousarray(2 * gamma * (centres - middle).T)
    longest = np.abs(scaled).max(axis=1)
    damped = weights * np.exp(-gamma * np.square(centres - middle).sum(axis=1))
    result = np.empty(len(x))

    def add_up(rows: slice) -> None:
        part, sums = x[rows] - middle, result[rows]
        reach = _reach(part, longest)
        near, far = reach <= REACH, reach <= 32 * REACH
        _add_up(part, np.flatnonzero(near), scaled, damped, gamma, False, sums)
        _add_up(part, np.flatnonzero(far & ~near), scaled, damped, gamma, True, sums)
        if not far.all():  # NaN is not far, but further
            sums[~far] = readable_expansion(x[rows][~far], centres, weights, gamma)

    for _ in in_order(add_up, blocks(len(x), ROWS_OF_ONE_PIECE)):
        pass
    return result


@compiled
def _reach(x: Doubles, longest: Doubles) -> Doubles:
    """At least the largest product of each row with a centre; (rows,)."""
    result = np.zeros(len(x))
    for row in range(len(x)):
        for number in range(5):
            result[row] += abs(x[row, number]) * longest[number]
    return result


@compiled
def _series(t: float) -> float:
    """The series of exp(t) to t^9 / 9!; in pairs, so that sums run side by side."""
    t2 = t * t
    t4 = t2 * t2
    low = (1.0 + t) + (1.0 / 2 + 1.0 / 6 * t) * t2
    middle = (1.0 / 24 + 1.0 / 120 * t) + (1.0 / 720 + 1.0 / 5040 * t) * t2
    return low + t4 * (middle + t4 * (1.0 / 40320 + 1.0 / 362880 * t))


@compiled
def _add_up(
    x: Doubles,
    chosen: NDArray[np.int64],
    scaled: Doubles,
    weights: Doubles,
    gamma: float,
    is_far: bool,
    result: Doubles,
) -> None:
    """Chosen rows of x (rows, 5) and scaled centres (5, centres), from the middle; into result (rows,)."""
    here = np.zeros((5, SIDE))
    total = np.empty(SIDE)
    for start in range(0, len(chosen), SIDE):
        count = min(SIDE, len(chosen) - start)
        for side in range(count):
            for number in range(5):
                here[number, side] = x[chosen[start + side], number]
        total[:] = 0.0
        for centre in range(len(weights)):
            weight, c0, c1, c2 = weights[centre], scaled[0, centre], scaled[1, centre], scaled[2, centre]
            c3, c4 = scaled[3, centre], scaled[4, centre]
            if is_far:
                for side in range(SIDE):
                    t = c0 * here[0, side] + c1 * here[1, side] + c2 * here[2, side]
                    p = _series((t + (c3 * here[3, side] + c4 * here[4, side])) / 32)
                    p = p * p
                    p = p * p
                    p = p * p
                    p = p * p
                    total[side] += weight * (p * p)
            else:
                for side in range(SIDE):
                    t = c0 * here[0, side] + c1 * here[1, side] + c2 * here[2, side]
                    total[side] += weight * _series(t + (c3 * here[3, side] + c4 * here[4, side]))
        for side in range(count):
            square = 0.0
            for number in range(5):
                square += here[number, side] * here[number, side]
            result[chosen[start + side]] = total[side] * np.exp(-gamma * square)
