"""Triangles: counted by hand, and against products of the whole graph."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.neighbours import count_triangles


def test_by_hand() -> None:
    lists = np.array([[1, 2, 3], [0, 2, 4], [0, 1, 4], [0, 1, 4], [0, 1, 2]])
    # Who has each other: 0-1, 0-2, 0-3, 1-2, 1-4, 2-4. So 0-1-2 and 1-2-4 are closed, and of the edges three
    # meet at 0, at 1 and at 2, two at 4, one ends at 3.
    closed, met = count_triangles(lists)
    assert closed.tolist() == [1, 2, 2, 0, 1]
    assert met.tolist() == [3, 3, 3, 0, 1]


def test_one_sided_neighbours_are_no_edge() -> None:
    closed, met = count_triangles(np.array([[1], [2], [0]]))
    assert not closed.any()
    assert not met.any()


@settings(deadline=None)  # the first call compiles
@given(st.integers(3, 25), st.integers(1, 6), st.integers(0, 999))
def test_equal_to_products_of_the_graph(total: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    width = min(width, total - 1)
    order = rng.random((total, total))
    np.fill_diagonal(order, 2)
    lists = np.argsort(order, axis=1)[:, :width]
    listed = np.zeros((total, total), dtype=int)
    np.put_along_axis(listed, lists, 1, axis=1)
    graph = listed * listed.T
    degrees = graph.sum(axis=1)
    closed, met = count_triangles(lists)
    np.testing.assert_array_equal(closed, np.diagonal(graph @ graph @ graph) // 2)
    np.testing.assert_array_equal(met, degrees * (degrees - 1) // 2)
