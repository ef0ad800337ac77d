"""The three means on the chain worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.rerankers.arithmetic_mean import ArithmeticMean
from lookalike.rerankers.geometric_mean import GeometricMean
from lookalike.rerankers.quadratic_mean import QuadraticMean
from tests.method.samples import A, B, C, row_of, tables_of

# Query A; B given C: s1 = 0.28, s3 = 0.96; C given B: s1 = 0.8, s3 = 0.96. What is said of B, and of C:
#   (s1 + s3) / 2           (0.28 + 0.96) / 2                           (0.8 + 0.96) / 2
#   sqrt(s1 s3)             sqrt(0.28 * 0.96) = 0.5185                  sqrt(0.8 * 0.96) = 0.8764
#   sqrt((s1² + s3²) / 2)   sqrt((0.0784 + 0.9216) / 2) = 0.7071        sqrt((0.64 + 0.9216) / 2) = 0.8836
MEANS = [
    (ArithmeticMean, [0.62, 0.88]),
    (GeometricMean, [np.sqrt(0.2688), np.sqrt(0.768)]),
    (QuadraticMean, [np.sqrt(0.5), np.sqrt(0.7808)]),
]
each_mean = pytest.mark.parametrize(
    ("mean", "expected"), MEANS, ids=lambda given: getattr(given, "__name__", "")
)
Mean = type[ArithmeticMean | GeometricMean | QuadraticMean]


@each_mean
@pytest.mark.parametrize(("sets", "query"), [([B, C], A), ([A, B, C], 0)])
def test_without_the_baseline(
    mean: Mean, expected: list[float], sets: list[np.ndarray], query: np.ndarray | int
) -> None:
    # The paper's comparison, with a query from outside and with a member of the gallery.
    tables = tables_of(sets)
    scored = mean().fit(tables, np.random.default_rng(0)).score(row_of(tables, query), tables)
    np.testing.assert_allclose(scored.scores[-2:], expected, atol=1e-6)
    first = len(sets) - 2
    assert scored.through[-2:].tolist() == [first + 1, first]  # B through C, C through B


@each_mean
def test_with_the_baseline(mean: Mean, expected: list[float]) -> None:
    # sim(A, B) = 0.8 beats what C says about B; sim(A, C) = 0.28 does not beat what B says about C.
    tables = tables_of([B, C])
    part = mean(with_baseline=True).fit(tables, np.random.default_rng(0))
    scored = part.score(row_of(tables, A), tables)
    np.testing.assert_allclose(scored.scores, [0.8, expected[1]], atol=1e-6)
    assert scored.through.tolist() == [-1, 0]


@each_mean
def test_the_best_proxy_wins(mean: Mean, expected: list[float]) -> None:
    # A copy of B beside the chain: C has two proxies, B twice; B has its copy (s1 = 0.8, s3 = 1) and C.
    tables = tables_of([B, C, B])
    scored = mean().fit(tables, np.random.default_rng(0)).score(row_of(tables, A), tables)
    through_the_copy = mean().mean(np.array([0.8]), np.array([1.0]))[0]
    np.testing.assert_allclose(scored.scores, [through_the_copy, expected[1], through_the_copy], atol=1e-6)
    assert scored.through.tolist() == [2, 0, 0]  # equals go to the lower number
    # With one proxy each, nearest first, nothing changes here: the nearest is the best.
    few = mean(proxies=1).fit(tables, np.random.default_rng(0)).score(row_of(tables, A), tables)
    np.testing.assert_array_equal(few.scores, scored.scores)


def test_negative_cosines() -> None:
    assert ArithmeticMean().mean(np.array([-0.5]), np.array([0.9])) == pytest.approx(0.2)
    # The root of a product of two negatives would call opposites alike.
    found = GeometricMean().mean(np.array([-0.5, -0.5, 0.25]), np.array([0.9, -0.9, 0.64]))
    np.testing.assert_allclose(found, [0.0, 0.0, 0.4])
    # So would a square: sqrt(0.8² / 2) is left of (-0.5, 0.8).
    found = QuadraticMean().mean(np.array([-0.5, -0.5]), np.array([0.8, -0.9]))
    np.testing.assert_allclose(found, [0.8 / np.sqrt(2), 0.0])
