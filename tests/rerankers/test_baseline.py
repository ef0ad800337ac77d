"""No re-ranker: the order of the baseline."""

from __future__ import annotations

import numpy as np

from lookalike.rerankers.baseline import Baseline
from tests.method.samples import A, B, C, row_of, tables_of


def test_worked_by_hand() -> None:
    # sim(A, B) = 0.8, sim(A, C) = 0.28
    tables = tables_of([B, C])
    scored = Baseline().fit(tables, np.random.default_rng(0)).score(row_of(tables, A), tables)
    np.testing.assert_allclose(scored.scores, [0.8, 0.28], atol=1e-6)
    assert scored.through.tolist() == [-1, -1]


def test_scores_are_a_copy_and_nobody_is_asked() -> None:
    tables = tables_of([B, C])
    row = row_of(tables, A)
    part = Baseline()
    assert not np.shares_memory(part.score(row, tables).scores, row.scores)
    assert part.beliefs(row, tables).proxies.shape == (2, 0)
    assert not part.is_learnt
    assert part.to_arrays() == {}
