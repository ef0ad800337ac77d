"""Screening gives the bits of its readable twin, and its bound holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.exact import cosines, unit_rows
from lookalike.kernels.screening import Screen, best_pairs, error_bound, exact_product, largest_of_sets


def some(sizes: list[int], dimension: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    faces = unit_rows(rng.normal(size=(sum(sizes), dimension)) + 0.5)
    # Copies of faces make ties, which must go to the lowest position.
    faces[rng.integers(0, len(faces), len(faces) // 3)] = faces[0]
    return faces, np.cumsum([0, *sizes])


def everything(screen: Screen) -> list[np.ndarray]:
    pairs = np.indices(screen.scores.shape).reshape(2, -1)
    return [array.reshape(screen.scores.shape) for array in screen.finish(*pairs)]


def test_by_hand() -> None:
    # The set of a has (1, 0) and (0.6, 0.8). With (0, 1) face 1 makes 0.8, with (1, 0) face 0 makes 1.
    a = unit_rows(np.array([[1.0, 0.0], [0.6, 0.8]]))
    b = unit_rows(np.array([[0.0, 1.0], [1.0, 0.0]]))
    scores, faces_a, faces_b = everything(Screen(a, np.array([0, 2]), b, np.array([0, 1, 2])))
    np.testing.assert_allclose(scores, [[0.8, 1.0]], atol=1e-7)
    assert faces_a.tolist() == [[1, 0]]
    assert faces_b.tolist() == [[0, 0]]


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=9),
    st.lists(st.integers(1, 7), min_size=1, max_size=9),
    st.integers(2, 200),
    st.integers(0, 99),
)
def test_the_bits_of_the_readable_twin(one: list[int], two: list[int], dimension: int, seed: int) -> None:
    a, b = some(one, dimension, seed), some(two, dimension, seed + 1)
    for found, expected in zip(everything(Screen(*a, *b)), best_pairs(*a, *b), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dimension", [2, 128, 1770])
def test_the_error_bound_holds(dimension: int) -> None:
    faces, starts = some([1] * 300, dimension, 5)
    screen = Screen(faces, starts, faces, starts)
    assert np.abs(screen.scores - cosines(faces, faces)).max() < screen.error == error_bound(dimension)


def test_a_chosen_few_are_finished_alone() -> None:
    a, b = some([3, 2, 5], 20, 0), some([4, 1], 20, 1)
    screen = Screen(*a, *b)
    whole = everything(screen)
    sets_a, sets_b = np.array([2, 0]), np.array([0, 1])
    for found, expected in zip(screen.finish(sets_a, sets_b), whole, strict=True):
        np.testing.assert_array_equal(found, expected[sets_a, sets_b])
    assert all(len(array) == 0 for array in screen.finish(sets_a[:0], sets_b[:0]))


def test_a_memory_map_is_as_good(tmp_path) -> None:  # type: ignore[no-untyped-def]
    faces, starts = some([3, 4], 30, 2)
    np.save(tmp_path / "faces.npy", faces)
    mapped = np.load(tmp_path / "faces.npy", mmap_mode="r")
    expected = best_pairs(faces, starts, faces, starts)
    for found, same in zip(everything(Screen(mapped, starts, mapped, starts)), expected, strict=True):
        np.testing.assert_array_equal(found, same)


def test_the_interpreter_agrees_with_the_compiler() -> None:
    """The same lines, not compiled: numba keeps them as ``py_func``."""
    (a, starts_a), (b, starts_b) = some([2, 3], 9, 3), some([1, 4], 9, 4)
    products = a @ b.T
    fast, slow = (np.empty((2, 2), dtype=np.float32) for _ in range(2))
    largest_of_sets(products, starts_a, starts_b, fast)
    largest_of_sets.py_func(products, starts_a, starts_b, slow)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(fast, slow)
    assert exact_product(a[0], b[0]) == exact_product.py_func(a[0], b[0])  # type: ignore[attr-defined]
