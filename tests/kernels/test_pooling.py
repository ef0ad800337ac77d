"""Pooling of known pairs: worked by hand, against sums over all pairs, and block by block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.cohorts import pool_known


def table(square: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Known pairs of a square, row by row."""
    owners, sets = np.nonzero(known)
    return np.searchsorted(owners, np.arange(len(square) + 1)), sets, square[known]


def pooled(
    square: np.ndarray, known: np.ndarray, kin: np.ndarray, chances: np.ndarray, cut: int = 0
) -> np.ndarray:
    """Values of known pairs in a square, made in two blocks if there is a cut."""
    starts, sets, values = table(square, known)
    found = np.full(len(values), np.nan)
    for first, last in ((0, cut), (cut, len(square))):
        pool_known(starts, sets, values, kin, chances, first, last, found)
    whole = np.zeros_like(square)
    whole[known] = found
    return whole


def slow_pooled(
    square: np.ndarray, known: np.ndarray, kin: np.ndarray, chances: np.ndarray, i: int, t: int
) -> float:
    """The mean over both and their kin, in which neither is kin of the other; unknown pairs are 0."""
    ours = [(i, 1.0), *((r, c) for r, c in zip(kin[i], chances[i], strict=True) if r != t)]
    theirs = [(t, 1.0), *((p, c) for p, c in zip(kin[t], chances[t], strict=True) if p != i)]
    pairs = [(a * b, square[r, p] if known[r, p] else 0.0) for r, a in ours for p, b in theirs]
    weights, values = np.array(pairs).T
    return float(np.average(values, weights=weights))


def drawn(total: int, most: int, share: float, seed: int) -> tuple[np.ndarray, ...]:
    """Values, which pairs are known, and kin from among these; a set with itself is known."""
    rng = np.random.default_rng(seed)
    square = rng.normal(size=(total, total))
    square = square + square.T
    known = rng.random((total, total)) < share
    near = np.argsort(-square + 1e9 * np.eye(total), axis=1)[:, :most]
    np.put_along_axis(known, near, True, axis=1)
    known = known | known.T | np.eye(total, dtype=bool)
    chances = rng.random((total, most)) * (rng.random((total, most)) < 0.7)
    return square, known, near, chances


def test_by_hand() -> None:
    """0 and 1 are kin by a half, 2 and 3 too; only those pairs that are named are known."""
    square = np.array(
        [[8.0, 6.0, 2.0, 0.0], [6.0, 8.0, 4.0, 1.0], [2.0, 4.0, 9.0, 5.0], [0.0, 1.0, 5.0, 9.0]]
    )
    known = np.ones((4, 4), bool)
    known[0, 3] = known[3, 0] = False
    kin, chances = np.array([[1], [0], [3], [2]]), np.full((4, 1), 0.5)
    found = pooled(square, known, kin, chances)
    # 0 with 2: itself 2, through 1 half of 4, through 3 half of nothing, through both a quarter of 1.
    assert found[0, 2] == found[2, 0] == pytest.approx((2 + 4 / 2 + 0 + 1 / 4) / 1.5**2)
    # 1 with 2: 4, 0 with 2, 1 with 3, and 0 with 3, which is not known.
    assert found[1, 2] == pytest.approx((4 + 2 / 2 + 1 / 2 + 0) / 1.5**2)
    # 0 with 1: each is the other's only kin and does not speak.
    assert found[0, 1] == 6


def test_what_a_set_has_with_itself_counts_where_both_have_it_as_kin() -> None:
    square = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 7.0]])
    kin, chances = np.array([[2], [2], [0]]), np.array([[1.0], [1.0], [0.0]])
    found = pooled(square, np.ones((3, 3), bool), kin, chances)
    # 0 and 1, 0 and 2, 2 and 1, and 2 with itself.
    assert found[0, 1] == (1 + 2 + 3 + 7) / 4
    # 0 and 2: 2 is no kin of 0 here.
    assert found[0, 2] == 2


@settings(deadline=None, max_examples=50)  # the first call compiles
@given(st.integers(3, 16), st.integers(1, 5), st.sampled_from([0.0, 0.4, 1.0]), st.integers(0, 10**6))
def test_equal_to_sums_over_all_pairs(total: int, most: int, share: float, seed: int) -> None:
    given_ = drawn(total, min(most, total - 1), share, seed)
    found = pooled(*given_)
    for i, t in zip(*np.nonzero(given_[1]), strict=True):
        if i != t:
            assert found[i, t] == pytest.approx(slow_pooled(*given_, i, t), abs=1e-9)
    # Whoever asks, it is the same pair.
    np.fill_diagonal(found, 0)
    np.testing.assert_allclose(found, found.T, atol=1e-9)


@pytest.mark.parametrize("cut", [1, 13, 39])
def test_blocks_do_not_show(cut: int) -> None:
    """What one set leaves behind is not there for the next."""
    given_ = drawn(40, 5, 0.3, 2)
    np.testing.assert_array_equal(pooled(*given_), pooled(*given_, cut=cut))


def test_without_kin_every_pair_speaks_for_itself() -> None:
    square, known, kin, chances = drawn(20, 3, 0.5, 1)
    np.testing.assert_array_equal(pooled(square, known, kin, 0 * chances)[known], square[known])
