"""Pairs and chains: worked by hand, and as SciPy finds them, which nobody who looks for faces has to load."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from lookalike.ingest.seen import _chains, best_pairs


@pytest.mark.parametrize(
    ("worth", "pairs"),
    [
        # The best pair of all would leave the worst: 9 + 1 is less than 8 + 7.
        ([[9.0, 8.0], [7.0, 1.0]], [(0, 1), (1, 0)]),
        ([[1.0, 5.0, 2.0]], [(0, 1)]),
        ([[1.0], [5.0], [2.0]], [(1, 0)]),
        ([[-1.0, -5.0], [-2.0, -3.0]], [(0, 0), (1, 1)]),
        ([[3.0, 2.0, 0.0], [3.0, 0.0, 0.0], [2.0, 0.0, 1.0]], [(0, 1), (1, 0), (2, 2)]),
        (np.empty((0, 3)), []),
        (np.empty((3, 0)), []),
    ],
)
def test_pairs_worked_by_hand(worth: object, pairs: list[tuple[int, int]]) -> None:
    assert best_pairs(np.array(worth)) == pairs


@pytest.mark.parametrize(("share", "never"), [(1.1, 0.0), (0.6, 0.0), (0.6, -4.0)])
def test_pairs_are_those_of_scipy(share: float, never: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        worth = rng.normal(size=rng.integers(0, 9, 2))
        fits = rng.random(worth.shape) < share
        worth = np.where(fits, worth, never)
        wanted = zip(*(side.tolist() for side in linear_sum_assignment(worth, maximize=True)), strict=True)
        found = best_pairs(worth)
        assert len(found) == min(worth.shape)
        # What does not fit is all worth the same, so who gets it is chance.
        assert [pair for pair in found if fits[pair]] == [pair for pair in wanted if fits[pair]]


def test_chains_are_those_of_scipy() -> None:
    rng = np.random.default_rng(2)
    for size in (0, 1, 2, 5, 20, 60):
        for share in (0.0, 0.02, 0.1, 0.5):
            linked = rng.random((size, size)) < share
            linked |= linked.T | np.eye(size, dtype=bool)
            np.testing.assert_array_equal(_chains(linked), connected_components(linked, directed=False)[1])


@pytest.mark.parametrize(
    "who",
    ["lookalike.cli.app", "lookalike.ingest.add", "lookalike.ingest.tracks", "lookalike.ingest.worker"],
)
def test_neither_scipy_nor_numba_is_loaded(who: str) -> None:
    """They take 85 MB, and half a second of every command."""
    words = f"import sys, {who}; print([name for name in ('scipy', 'numba') if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
