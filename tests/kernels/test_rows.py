"""The best entries of rows: the same as by sorting all of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.neighbours import best_of_rows


def by_sorting(
    starts: np.ndarray, columns: np.ndarray, values: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ranked = np.where(columns == owners, -np.inf, values)
    order = np.lexsort((columns, -ranked, owners))
    best = order[starts[:-1, None] + np.arange(count)]
    return columns[best], ranked[best]


def found_by(
    starts: np.ndarray, columns: np.ndarray, values: np.ndarray, count: int, cut: int
) -> tuple[np.ndarray, np.ndarray]:
    found = np.empty((len(starts) - 1, count), dtype=np.int64)
    best = np.empty((len(starts) - 1, count))
    for first, last in ((0, cut), (cut, len(found))):
        best_of_rows(starts, columns, values, first, last, found, best)
    return found, best


def test_two_rows_by_hand() -> None:
    starts, columns = np.array([0, 4, 7]), np.array([0, 1, 2, 5, 0, 1, 3])
    values = np.array([9.0, 0.5, 0.7, 0.5, 0.1, 8.0, 0.2])
    found, best = found_by(starts, columns, values, 2, 1)
    assert found.tolist() == [[2, 1], [3, 0]]
    assert best.tolist() == [[0.7, 0.5], [0.2, 0.1]]


@settings(max_examples=80, deadline=None)
@given(
    rows=st.integers(1, 12),
    kinds=st.sampled_from([1, 2, 50]),
    seed=st.integers(0, 10_000),
    data=st.data(),
)
def test_rows_are_as_sorted(rows: int, kinds: int, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    chosen = [np.sort(rng.choice(40, rng.integers(2, 30), replace=False)) for _ in range(rows)]
    columns = np.concatenate([np.union1d(one, [row]) for row, one in enumerate(chosen)])
    starts = np.concatenate([[0], np.cumsum([len(np.union1d(one, [row])) for row, one in enumerate(chosen)])])
    values = rng.choice(rng.normal(size=kinds), len(columns))
    count = data.draw(st.integers(1, int(np.diff(starts).min()) - 1))
    cut = data.draw(st.integers(0, rows))
    expected = by_sorting(starts, columns, values, count)
    for one, other in zip(found_by(starts, columns, values, count, cut), expected, strict=True):
        np.testing.assert_array_equal(one, other)
