"""The smooth kernel and its low-rank form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from lookalike.kernels import svr
from lookalike.kernels import svr as module
from lookalike.kernels.svr import (
    Minimum,
    Pull,
    Solution,
    expansion,
    feature_map,
    features,
    landmarks,
    minimise,
    rbf,
    readable_expansion,
    solve,
)
from lookalike.kernels.svr import readable_expansion as readable

GAMMA = 0.2


def cube(seed: int, count: int, dimension: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).random((count, dimension))


def test_kernel_by_hand() -> None:
    # |(0,0) - (1,1)|² = 2 and |(0,0) - (3,4)|² = 25: exp(-0.4) = 0.670320, exp(-5) = 0.006738
    found = rbf(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 4.0]]), GAMMA)
    np.testing.assert_allclose(found, [[1.0, 0.670320, 0.006738]], atol=1e-6)


def test_landmarks_by_hand() -> None:
    # Every row explains nothing at first, so row 0 is taken; the farthest row is explained least and follows;
    # then the middle one. The copy of row 0 is explained wholly and never taken.
    x = np.array([[0.0], [0.0], [1.0], [3.0]])
    assert landmarks(x, GAMMA, 1e-8, 10).tolist() == [0, 3, 2]
    assert landmarks(x, GAMMA, 1e-8, 2).tolist() == [0, 3]
    # 1 - exp(-0.2)² = 0.33 of row 2 is left after row 0 alone: more than a tolerance of 0.3, less than 0.4.
    assert landmarks(x[:3], GAMMA, 0.3, 10).tolist() == [0, 2]
    assert landmarks(x[:3], GAMMA, 0.4, 10).tolist() == [0]


@given(st.integers(0, 2**32 - 1), st.integers(1, 120), st.sampled_from([0.05, 0.2, 1.0]))
@settings(max_examples=20, deadline=None)
def test_low_rank_form_reproduces_the_kernel(seed: int, count: int, gamma: float) -> None:
    x = cube(seed, count)
    chosen = landmarks(x, gamma, 1e-8, 1000)
    assert len(set(chosen.tolist())) == len(chosen)
    centres = x[chosen]
    known = features(x, centres, gamma, feature_map(centres, gamma))
    np.testing.assert_allclose(known @ known.T, rbf(x, x, gamma), atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(1, 50), st.integers(1, 30), st.integers(1, 7))
@settings(max_examples=20, deadline=None)
def test_quick_exponents_are_those_of_the_readable_kernel(
    seed: int, count: int, centres: int, dimension: int
) -> None:
    x, y = 3 * cube(seed, count, dimension), cube(seed + 1, centres, dimension)
    quick = np.exp(module._exponents(x, np.ascontiguousarray(y.T), GAMMA))
    np.testing.assert_allclose(quick, rbf(x, y, GAMMA), rtol=1e-14)


def test_a_smooth_kernel_needs_few_landmarks() -> None:
    x = cube(0, 2000)
    chosen = landmarks(x, GAMMA, 1e-5, 1000)
    assert len(chosen) < 200
    centres = x[chosen]
    known = features(x[:50], centres, GAMMA, feature_map(centres, GAMMA))
    np.testing.assert_allclose(known @ known.T, rbf(x[:50], x[:50], GAMMA), atol=2e-5)


def test_feature_map_is_upper_triangular() -> None:
    transform = feature_map(cube(1, 12), GAMMA)
    np.testing.assert_array_equal(transform, np.triu(transform))


def test_expansion_by_hand() -> None:
    # 2 exp(-0.2 * 0) - 3 exp(-0.2 * 4) at x = 0; 2 exp(-0.2) - 3 exp(-0.2) at x = 1
    found = readable_expansion(
        np.array([[0.0], [1.0]]), np.array([[0.0], [2.0]]), np.array([2.0, -3.0]), GAMMA
    )
    np.testing.assert_allclose(found, [2 - 3 * np.exp(-0.8), -np.exp(-0.2)], rtol=1e-14)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 40))
@settings(max_examples=20, deadline=None)
def test_expansion_equals_the_direct_sum_and_one_row_equals_many(seed: int, count: int, centres: int) -> None:
    x, middles = cube(seed, count), cube(seed + 1, centres)
    weights = 1000 * np.random.default_rng(seed).normal(size=centres)
    whole = readable_expansion(x, middles, weights, GAMMA)
    np.testing.assert_allclose(whole, rbf(x, middles, GAMMA) @ weights, atol=1e-9)
    alone = [readable_expansion(x[row : row + 1], middles, weights, GAMMA)[0] for row in range(count)]
    np.testing.assert_array_equal(whole, alone)
    np.testing.assert_array_equal(whole[::2], readable_expansion(x[::2], middles, weights, GAMMA))


def test_threads_and_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    x, centres = cube(2, 301), cube(3, 30)
    weights, transform = np.linspace(-900, 1000, 30), feature_map(centres, GAMMA)
    whole = readable_expansion(x, centres, weights, GAMMA)
    for block in (1000, 17):
        monkeypatch.setattr(module, "BLOCK", block)
        found = []
        for threads in ("1", "2"):
            monkeypatch.setenv("LOOKALIKE_THREADS", threads)
            np.testing.assert_array_equal(readable_expansion(x, centres, weights, GAMMA), whole)
            found.append(features(x, centres, GAMMA, transform))
        np.testing.assert_array_equal(*found)


def test_no_rows() -> None:
    assert readable_expansion(np.empty((0, 5)), cube(0, 3), np.ones(3), GAMMA).shape == (0,)
    assert features(np.empty((0, 5)), cube(0, 3), GAMMA, np.eye(3)).shape == (0, 3)


def test_inputs_are_untouched() -> None:
    x = cube(4, 20)
    before = x.copy()
    landmarks(x, GAMMA, 1e-8, 10)
    readable_expansion(x, x[:3], np.ones(3), GAMMA)
    np.testing.assert_array_equal(x, before)


# Epsilon-insensitive regression: optima known by hand, by optimality conditions and by libsvm.


@pytest.fixture(scope="module", autouse=True, params=[svr.FEW, 8], ids=["all at once", "undecided rows"])
def few(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test twice: as few rows are solved, and as very many are, of which most are decided at sight."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svr, "FEW", request.param)
        yield


def objective(weights: np.ndarray, errors: np.ndarray, epsilon: float, penalty: float) -> float:
    return 0.5 * weights @ weights + penalty * np.maximum(np.abs(errors) - epsilon, 0).sum()


def a_problem(seed: int, count: int, size: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, size))
    return x, x @ rng.normal(size=size) + 0.5 + noise * rng.standard_t(3, size=count)


def check_optimal(x: np.ndarray, y: np.ndarray, epsilon: float, penalty: float, found: Solution) -> None:
    """The conditions that hold at the optimum and nowhere else."""
    errors, small = y - x @ found.weights - found.intercept, 1e-4 * penalty
    assert np.abs(found.duals).max() <= penalty * (1 + 1e-9)
    assert abs(found.duals.sum()) <= 1e-6 * penalty
    np.testing.assert_allclose(x.T @ found.duals, found.weights, atol=1e-6 * penalty)
    # Complementary slackness: inside the tube no force, outside the whole force, towards the row.
    inside, outside = np.abs(errors) < epsilon - 1e-4, np.abs(errors) > epsilon + 1e-4
    assert np.abs(found.duals[inside]).max(initial=0) < small
    np.testing.assert_allclose(found.duals[outside], penalty * np.sign(errors[outside]), atol=small)
    between = (np.abs(found.duals) > small) & (np.abs(found.duals) < penalty - small)
    np.testing.assert_allclose(np.abs(errors[between]), epsilon, atol=1e-4)
    assert found.objective == pytest.approx(objective(found.weights, errors, epsilon, penalty), rel=1e-9)
    assert -1e-9 * penalty <= found.gap <= 1e-6 * max(found.objective, penalty)


def test_two_points_by_hand() -> None:
    # (0, 0) and (1, 1) with a tube of 0.1: the flattest line that touches both edges has slope 0.8 and
    # starts at 0.1; 0.8²/2 = 0.32. Its weight is the force of the second row: 0.8.
    found = solve([[0.0], [1.0]], [0.0, 1.0], 0.1, 1000.0, 1e-9, 200)
    assert found.weights == pytest.approx([0.8], abs=1e-6)
    assert found.intercept == pytest.approx(0.1, abs=1e-6)
    assert found.duals == pytest.approx([-0.8, 0.8], abs=1e-6)
    assert found.objective == pytest.approx(0.32, rel=1e-6)


def test_two_points_that_cost_little_by_hand() -> None:
    # With C = 0.5 no force exceeds 0.5, so the slope is 0.5. The two errors sum to 0.5, of which 0.2 are
    # free: 0.5²/2 + 0.5 * 0.3 = 0.275.
    found = solve([[0.0], [1.0]], [0.0, 1.0], 0.1, 0.5, 1e-9, 200)
    assert found.weights == pytest.approx([0.5], abs=1e-6)
    assert found.objective == pytest.approx(0.275, rel=1e-6)


@pytest.mark.parametrize(("seed", "penalty", "epsilon"), [(0, 1.0, 0.1), (1, 10.0, 0.4), (2, 0.05, 0.4)])
def test_agrees_with_libsvm_on_a_linear_problem(seed: int, penalty: float, epsilon: float) -> None:
    x, y = a_problem(seed, 250, 4, 0.5)
    found = solve(x, y, epsilon, penalty, 1e-8, 200)
    theirs = SVR(kernel="linear", C=penalty, epsilon=epsilon, tol=1e-6).fit(x, y)
    best = objective(theirs.coef_[0], y - theirs.predict(x), epsilon, penalty)
    assert found.objective == pytest.approx(best, rel=0.005)
    assert found.objective <= best * (1 + 1e-6)
    np.testing.assert_allclose(x @ found.weights + found.intercept, theirs.predict(x), atol=0.02)


def test_agrees_with_libsvm_on_kernel_features() -> None:
    rng = np.random.default_rng(3)
    x = rng.random((300, 3))
    y = (np.sin(5 * x[:, 0]) + rng.normal(size=300) * 0.3 > 0.3).astype(float)
    centres = x[landmarks(x, 1.0, 1e-9, 300)]
    known = features(x, centres, 1.0, feature_map(centres, 1.0))
    found = solve(known, y, 0.2, 10.0, 1e-8, 200)
    theirs = SVR(kernel="rbf", gamma=1.0, C=10.0, epsilon=0.2, tol=1e-5).fit(x, y)
    duals, support = theirs.dual_coef_[0], theirs.support_vectors_
    errors = np.abs(y - theirs.predict(x))
    best = 0.5 * duals @ rbf(support, support, 1.0) @ duals + 10.0 * np.maximum(errors - 0.2, 0).sum()
    assert found.objective == pytest.approx(best, rel=0.005)
    np.testing.assert_allclose(known @ found.weights + found.intercept, theirs.predict(x), atol=0.02)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 60),
    st.integers(1, 5),
    st.sampled_from([0.01, 1.0, 1000.0]),
    st.sampled_from([0.05, 0.4]),
)
@settings(max_examples=25, deadline=None)
def test_conditions_of_the_optimum(seed: int, count: int, size: int, penalty: float, epsilon: float) -> None:
    x, y = a_problem(seed, count, size, 0.5)
    check_optimal(x, y, epsilon, penalty, solve(x, y, epsilon, penalty, 1e-10, 200))


def test_everything_inside_the_tube_costs_nothing() -> None:
    x, _ = a_problem(0, 30, 3, 0.0)
    y = 0.3 + 0.2 * np.random.default_rng(0).random(30)
    found = solve(x, y, 0.4, 1000.0, 1e-7, 200)
    assert found.objective < 1e-6
    np.testing.assert_allclose(found.weights, 0.0, atol=1e-4)
    assert np.abs(y - found.intercept).max() <= 0.4 + 1e-6


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
@pytest.mark.parametrize("count", [1, 30])
def test_a_constant_target_is_met(count: int, epsilon: float) -> None:
    x, _ = a_problem(1, count, 2, 0.0)
    found = solve(x, np.full(count, 7.0), epsilon, 1000.0, 1e-7, 200)
    assert found.objective < 1e-6
    assert np.abs(x @ found.weights + found.intercept - 7.0).max() <= epsilon + 1e-6


def test_a_row_given_twice_counts_twice() -> None:
    x, y = a_problem(2, 40, 3, 0.5)
    twice = solve(np.repeat(x, 2, axis=0), np.repeat(y, 2), 0.1, 1.0, 1e-10, 200)
    dearer = solve(x, y, 0.1, 2.0, 1e-10, 200)
    assert twice.objective == pytest.approx(dearer.objective, rel=1e-7)
    np.testing.assert_allclose(twice.weights, dearer.weights, atol=1e-5)


def test_equal_rows_with_different_targets_share_one_answer() -> None:
    # Three rows at the same place with targets 0, 0, 1: the median 0, and a tube of 0.1 to lean on;
    # two errors within the tube and one of 0.9 or more beyond, less what leaning saves.
    found = solve(np.zeros((3, 1)), [0.0, 0.0, 1.0], 0.1, 10.0, 1e-9, 200)
    assert found.intercept == pytest.approx(0.1, abs=1e-6)
    assert found.objective == pytest.approx(10 * (1 - 0.1 - 0.1), rel=1e-6)


def test_stops_when_told_and_says_how_far_it_came() -> None:
    x, y = a_problem(4, 100, 3, 0.5)
    early, late = solve(x, y, 0.1, 10.0, 1e-9, 3), solve(x, y, 0.1, 10.0, 1e-9, 200)
    assert early.steps == 3
    assert late.steps < 100
    assert late.gap <= 1e-9 * late.objective
    assert early.gap > late.gap
    assert early.objective >= late.objective * (1 - 1e-9)


def test_threads_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svr, "BLOCK", 64)
    x, y = a_problem(5, 500, 6, 0.5)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        found.append(solve(x, y, 0.4, 1000.0, 1e-7, 200))
    np.testing.assert_array_equal(found[0].weights, found[1].weights)
    np.testing.assert_array_equal(found[0].duals, found[1].duals)
    assert found[0][1] == found[1][1]
    assert found[0][3:] == found[1][3:]


def test_inputs_of_epsilon_regression_are_untouched() -> None:
    x, y = a_problem(6, 20, 2, 0.5)
    before = x.copy(), y.copy()
    solve(x, y, 0.1, 1.0, 1e-6, 50)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])


def test_linear_algebra_threads_do_not_show() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 200))
    y = x[:, 0] + rng.normal(size=3000)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(solve(x, y, 0.4, 1.0, 1e-6, 200))
    np.testing.assert_array_equal(found[0].weights, found[1].weights)


# The quick sum of kernels, held against its readable twin.


def test_by_hand() -> None:
    # One centre at the row itself weighs 2, another at distance 1 weighs 3: 2 + 3 exp(-0.5).
    here, there = [0.0, 1.0, 0.5, 0.5, 0.5], [1.0, 1.0, 0.5, 0.5, 0.5]
    found = expansion(np.array([here]), np.array([here, there]), np.array([2.0, 3.0]), 0.5)
    assert found[0] == pytest.approx(2 + 3 * np.exp(-0.5), abs=1e-14)


@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, 10**6),
    st.integers(1, 200),
    st.integers(1, 60),
    st.floats(0.01, 0.25),
    st.sampled_from([-1.0, 0.0, 0.5, 0.9]),
)
def test_as_precise_as_the_twin(seed: int, rows: int, centres: int, gamma: float, lowest: float) -> None:
    rng = np.random.default_rng(seed)
    # From 0.5 on all rows are near, from 0 on some are far, from -1 on most.
    x, c = rng.uniform(lowest, 1, (rows, 5)), rng.uniform(lowest, 1, (centres, 5))
    weights = 1e6 * rng.normal(size=centres)
    error = np.abs(expansion(x, c, weights, gamma) - readable(x, c, weights, gamma)).max()
    # In units of the largest sum that could come out.
    assert error <= 1e-14 * np.abs(weights).sum()


def test_the_series_is_a_double_s_exponential() -> None:
    t = np.linspace(-svr.REACH, svr.REACH, 1001)
    found = np.array([svr._series(value) for value in t])
    np.testing.assert_allclose(found, np.exp(t), rtol=3e-16)


def test_one_row_and_many_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, c, weights = rng.random((300, 5)), rng.random((40, 5)), rng.normal(size=40)
    x[:100] = 0.5 + 0.1 * x[:100]
    x[7], x[8, 2] = 200.0, np.nan
    whole = expansion(x, c, weights, 0.2)
    alone = [expansion(x[n : n + 1], c, weights, 0.2)[0] for n in range(300)]
    np.testing.assert_array_equal(alone, whole)
    monkeypatch.setattr(svr, "BLOCK", 77)
    np.testing.assert_array_equal(expansion(x, c, weights, 0.2), whole)


@pytest.mark.parametrize("far", [100.0, 1e6])
def test_rows_that_reach_too_far_are_left_to_the_twin(far: float) -> None:
    rng = np.random.default_rng(2)
    x, c, weights = rng.random((9, 5)), rng.random((4, 5)), rng.normal(size=4)
    near = expansion(x, c, weights, 0.5)
    x[3, 1] = far
    found = expansion(x, c, weights, 0.5)
    assert found[3] == readable(x[3:4], c, weights, 0.5)[0]
    np.testing.assert_array_equal(np.delete(found, 3), np.delete(near, 3))


def test_other_than_five_numbers_are_left_to_the_twin() -> None:
    rng = np.random.default_rng(3)
    x, c, weights = rng.random((9, 3)), rng.random((4, 3)), rng.normal(size=4)
    np.testing.assert_array_equal(expansion(x, c, weights, 0.5), readable(x, c, weights, 0.5))


def test_nothing_to_sum() -> None:
    assert expansion(np.empty((0, 5)), np.zeros((3, 5)), np.ones(3), 0.2).shape == (0,)
    assert expansion(np.zeros((2, 5)), np.empty((0, 5)), np.empty(0), 0.2).tolist() == [0.0, 0.0]


# The interior point method by itself: what rows that are left out pull.

NOTHING = Pull(np.zeros(1), 0.0, 0.0)


def found(x: list[float], y: list[float], penalty: float, pull: Pull = NOTHING) -> Minimum:
    return minimise(np.array(x)[:, None], np.array(y), 0.1, penalty, 1e-9, 200, pull)


def test_two_points_by_the_interior_point_by_hand() -> None:
    # The flattest line within 0.1 of (0, 0) and (1, 1) starts at 0.1 and rises by 0.8: the force of each row.
    line = found([0.0, 1.0], [0.0, 1.0], 1000.0)
    assert line.weights == pytest.approx([0.8], abs=1e-6)
    assert line.intercept == pytest.approx(0.1, abs=1e-6)
    assert line.duals == pytest.approx([-0.8, 0.8], abs=1e-6)
    assert line.gap <= 1e-9 * 0.32


def test_a_row_outside_may_be_left_out_by_hand() -> None:
    # With C = 0.1 the row (1, 5) stays far above the line and pulls with 0.1 at 1, whatever the others do:
    # v = 0.1 * 1, c = 0.1, and it costs 0.1 * (5 - 0.1) less 0.1 (w + b).
    x, y, penalty = [0.0, 1.0, 1.0], [0.0, 1.0, 5.0], 0.1
    whole = found(x, y, penalty)
    assert whole.duals[2] == pytest.approx(penalty, abs=1e-6)
    part = found(x[:2], y[:2], penalty, Pull(np.array([0.1]), 0.1, 0.1 * 4.9))
    assert part.weights == pytest.approx(whole.weights, abs=1e-6)
    assert part.duals == pytest.approx(whole.duals[:2], abs=1e-6)


def test_rows_need_not_pull() -> None:
    line = found([0.0, 1.0, 2.0], [0.3, 0.3, 0.3], 1.0)
    assert line.weights == pytest.approx([0.0], abs=1e-6)
    assert line.duals == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
