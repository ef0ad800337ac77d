"""Singular pairs by rotations, held against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.similarities._subspaces import largest_at_most, singular_pairs_of_all


def pairs(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    left, right, values = np.empty_like(matrices), np.empty_like(matrices), np.empty(matrices.shape[:2])
    singular_pairs_of_all(matrices, left, values, right)
    return left, values, right


def check(matrices: np.ndarray) -> None:
    left, values, right = pairs(matrices)
    size = matrices.shape[1]
    rebuilt = np.einsum("mik,mk,mjk->mij", left, values, right)
    scale = np.abs(matrices).max(initial=1.0)
    np.testing.assert_allclose(rebuilt, matrices, atol=1e-13 * scale)
    for vectors in (left, right):
        eye = np.broadcast_to(np.eye(size), matrices.shape)
        np.testing.assert_allclose(np.einsum("mik,mil->mkl", vectors, vectors), eye, atol=1e-13)
    np.testing.assert_allclose(values, np.linalg.svd(matrices, compute_uv=False), atol=1e-13 * scale)
    assert (np.diff(values, axis=1) <= 0).all()


def test_by_hand() -> None:
    # Columns (3, 4) and (4, -3) are orthogonal already, both of length 5.
    left, values, right = pairs(np.array([[[3.0, 4.0], [4.0, -3.0]]]))
    np.testing.assert_allclose(values, [[5.0, 5.0]])
    np.testing.assert_allclose(left[0], [[0.6, 0.8], [0.8, -0.6]])
    np.testing.assert_allclose(right[0], np.eye(2))


@pytest.mark.parametrize("size", [1, 2, 6, 13, 50])
def test_agrees_with_lapack(size: int) -> None:
    check(np.random.default_rng(size).normal(size=(20, size, size)))


def test_matrices_without_full_rank() -> None:
    rng = np.random.default_rng(0)
    thin = rng.normal(size=(9, 6, 2)) @ rng.normal(size=(9, 2, 6))
    padded = rng.normal(size=(9, 6, 6))
    padded[:, 4:], padded[:, :, 3:] = 0.0, 0.0
    check(np.concatenate([thin, padded, np.zeros((1, 6, 6)), np.ones((1, 6, 6)), np.eye(6)[None]]))


def test_a_padded_column_keeps_its_own_coordinate() -> None:
    matrix = np.zeros((1, 4, 4))
    matrix[0, :2, :2] = [[0.5, 0.2], [0.1, 0.7]]
    left, values, right = pairs(matrix)
    assert (left[0, 2:, :2] == 0).all()
    assert (right[0, 2:, :2] == 0).all()
    assert (values[0, 2:] == 0).all()


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.integers(1, 8), st.floats(-8, 8))
def test_any_scale(seed: int, size: int, exponent: float) -> None:
    check(10.0**exponent * np.random.default_rng(seed).normal(size=(3, size, size)))


def test_one_and_many_give_the_same_bits() -> None:
    matrices = np.random.default_rng(3).normal(size=(30, 6, 6))
    whole = pairs(matrices)
    for number in range(30):
        for found, expected in zip(pairs(matrices[number : number + 1]), whole, strict=True):
            np.testing.assert_array_equal(found[0], expected[number])


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.integers(1, 7))
def test_the_bound_is_above_and_near(seed: int, size: int) -> None:
    products = np.random.default_rng(seed).normal(size=(4, size, 5, size)) / size
    found = np.empty((4, 5))
    largest_at_most(products, found)
    largest = np.linalg.svd(products.swapaxes(1, 2), compute_uv=False)[..., 0]
    assert (found >= largest).all()
    assert (found <= largest * size**0.125 * (1 + 1e-9)).all()
