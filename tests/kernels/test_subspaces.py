"""Subspaces: planes and angles worked by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from lookalike.similarities._subspaces import principal_directions, symmetric_singular_pairs

X, Y, Z = np.eye(3)


def same_lines(a: np.ndarray, b: np.ndarray, atol: float = 1e-9) -> None:
    """Rows are equal up to the sign of each."""
    assert a.shape == b.shape
    np.testing.assert_allclose(np.abs((a * b).sum(axis=1)), 1.0, atol=atol)


def test_strongest_direction_comes_first() -> None:
    # Three faces along x and one along y: strengths sqrt(3) and 1.
    same_lines(principal_directions(np.array([Y, X, X, X]), 6), np.array([X, Y]))
    same_lines(principal_directions(np.array([Y, X, X, X]), 1), np.array([X]))


def test_two_planes_that_share_a_line() -> None:
    # The plane xy, and the plane of x and (0, cos 60°, sin 60°): principal angles 0° and 60°.
    one = np.array([X, Y])
    other = np.array([X, [0.0, 0.5, np.sqrt(3) / 2]])
    left, values, right = symmetric_singular_pairs(one @ other.T)
    np.testing.assert_allclose(values, [1.0, 0.5], atol=1e-12)
    # They meet in x, the first direction of both; the second pair is y and the tilted line.
    np.testing.assert_allclose(np.abs(left), np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.abs(right), np.eye(2), atol=1e-12)


def test_repeated_faces_span_a_line() -> None:
    face = np.array([0.48, 0.6, 0.64])
    same_lines(principal_directions(np.tile(face, (5, 1)), 6), face[None])
    noisy = np.tile(face, (5, 1)) + 1e-8 * np.random.default_rng(0).normal(size=(5, 3))
    assert len(principal_directions(noisy, 6)) == 1  # what float32 cannot tell apart is no direction
    assert len(principal_directions(noisy, 6, centre=True)) == 0
    assert len(principal_directions(np.tile(face, (9, 1)), 6, centre=True)) == 0  # more rows than numbers


def test_centre_takes_the_mean_away() -> None:
    # (1,0,0) and (1,1,0) lie on a line along y that does not pass through the origin.
    rows = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    same_lines(principal_directions(rows, 6, centre=True), np.array([Y]))
    assert len(principal_directions(rows, 6)) == 2


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(2, 12), st.integers(1, 6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_many_rows_take_another_path_to_the_same_directions(
    seed: int, count: int, width: int, dimension: int, centre: bool
) -> None:
    rows = np.random.default_rng(seed).normal(size=(count, width)) * np.linspace(1, 3, width)
    found = principal_directions(rows, dimension, centre)
    assert found.shape == (min(dimension, count - centre, width), width)
    np.testing.assert_allclose(found @ found.T, np.eye(len(found)), atol=1e-12)
    # Zero columns make the table wide, so that no row is surplus: the same directions, padded.
    padded = principal_directions(np.pad(rows, ((0, 0), (0, count))), dimension, centre)
    np.testing.assert_allclose(padded[:, width:], 0.0, atol=1e-9)
    strengths = np.linalg.svd(rows - rows.mean(axis=0) if centre else rows, compute_uv=False)
    for place in range(len(found)):  # a direction is certain only if its strength stands apart
        gaps = np.abs(np.delete(strengths, place) - strengths[place])
        if gaps.min(initial=1.0) > 1e-3:
            same_lines(found[place : place + 1], padded[place : place + 1, :width], atol=1e-6)


def test_a_stack_has_the_same_bits_as_its_members() -> None:
    stack = np.random.default_rng(5).normal(size=(4, 3, 6, 6))
    left, values, right = symmetric_singular_pairs(stack)
    for i, j in np.ndindex(4, 3):
        for one, many in zip(
            symmetric_singular_pairs(stack[i, j]), (left[i, j], values[i, j], right[i, j]), strict=True
        ):
            np.testing.assert_array_equal(one, many)
        np.testing.assert_allclose((left[i, j] * values[i, j]) @ right[i, j].T, stack[i, j], atol=1e-12)
        assert (np.diff(values[i, j]) <= 0).all()


def test_linear_algebra_threads_do_not_show_in_directions() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 800))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(principal_directions(rows, 6))
    np.testing.assert_array_equal(*found)
