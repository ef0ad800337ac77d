"""The smooth kernel and its low-rank form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels import svr as module
from lookalike.kernels.svr import feature_map, features, landmarks, rbf, readable_expansion

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
