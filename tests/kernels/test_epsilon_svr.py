"""Epsilon-insensitive regression: optima known by hand, by optimality conditions and by libsvm."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from lookalike.kernels import svr
from lookalike.kernels.svr import Solution, feature_map, features, landmarks, rbf, solve


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


def test_inputs_are_untouched() -> None:
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
