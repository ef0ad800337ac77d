"""Geometric mean on the chain worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.rerankers.geometric_mean import GeometricMean
from tests.transitivity.samples import A, B, C, row_of, tables_of

# Query A; B given C: s1 = 0.28, s3 = 0.96; C given B: s1 = 0.8, s3 = 0.96.
# sqrt(s1 s3):  B: sqrt(0.28 * 0.96) = 0.5185    C: sqrt(0.8 * 0.96) = 0.8764
EXPECTED = [np.sqrt(0.2688), np.sqrt(0.768)]


@pytest.mark.parametrize(("sets", "query"), [([B, C], A), ([A, B, C], 0)])
def test_without_the_baseline(sets: list[np.ndarray], query: np.ndarray | int) -> None:
    # The paper's comparison, with a query from outside and with a member of the gallery.
    tables = tables_of(sets)
    part = GeometricMean().fit(tables, np.random.default_rng(0))
    scored = part.score(row_of(tables, query), tables)
    np.testing.assert_allclose(scored.scores[-2:], EXPECTED, atol=1e-6)
    first = len(sets) - 2
    assert scored.through[-2:].tolist() == [first + 1, first]  # B through C, C through B


def test_with_the_baseline() -> None:
    # sim(A, B) = 0.8 beats what C says about B; sim(A, C) = 0.28 does not beat what B says about C.
    tables = tables_of([B, C])
    scored = (
        GeometricMean(with_baseline=True)
        .fit(tables, np.random.default_rng(0))
        .score(row_of(tables, A), tables)
    )
    np.testing.assert_allclose(scored.scores, [0.8, EXPECTED[1]], atol=1e-6)
    assert scored.through.tolist() == [-1, 0]


def test_the_best_proxy_wins() -> None:
    # A copy of B beside the chain: C has two proxies, B twice; B has its copy (s1 = 0.8, s3 = 1) and C.
    tables = tables_of([B, C, B])
    scored = GeometricMean().fit(tables, np.random.default_rng(0)).score(row_of(tables, A), tables)
    through_the_copy = GeometricMean().mean(np.array([0.8]), np.array([1.0]))[0]
    np.testing.assert_allclose(scored.scores, [through_the_copy, EXPECTED[1], through_the_copy], atol=1e-6)
    assert scored.through.tolist() == [2, 0, 0]  # equals go to the lower number
    # With one proxy each, nearest first, nothing changes here: the nearest is the best.
    few = GeometricMean(proxies=1).fit(tables, np.random.default_rng(0)).score(row_of(tables, A), tables)
    np.testing.assert_array_equal(few.scores, scored.scores)


def test_negative_cosines_count_as_nothing() -> None:
    # The root of a product of two negatives would call opposites alike.
    found = GeometricMean().mean(np.array([-0.5, -0.5, 0.25]), np.array([0.9, -0.9, 0.64]))
    np.testing.assert_allclose(found, [0.0, 0.0, 0.4])
