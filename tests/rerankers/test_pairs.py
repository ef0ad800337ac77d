"""Similarities of chosen pairs, in lists or not."""

from __future__ import annotations

import numpy as np

from lookalike.method.neighbours import nearest_lists
from lookalike.rerankers.k_reciprocal import PairScores
from tests.rerankers.worked import random_table, world


def test_every_pair_has_its_similarity() -> None:
    table = random_table(9, seed=6)
    tables, row = world(table, inside=False)
    pairs = PairScores(nearest_lists(tables, 2), tables)
    a, b = (side.ravel() for side in np.indices((9, 9)))
    for _ in range(2):  # compared, then remembered
        np.testing.assert_array_equal(pairs.of(a, b, row), table.ravel())


def test_what_was_compared_is_not_compared_again() -> None:
    tables, row = world(random_table(9, seed=6), inside=False)
    pairs = PairScores(nearest_lists(tables, 2), tables)
    a, b = (side.ravel() for side in np.indices((8, 8)))
    once = pairs.of(a, b, row)
    tables.similarity.table = np.full((9, 9), np.nan)
    np.testing.assert_array_equal(pairs.of(a, b, row), once)
