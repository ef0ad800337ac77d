"""Alpha query expansion worked by hand, and as a sum of vectors."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.rerankers.query_expansion import QueryExpansion
from tests.method.samples import row_of, tables_of
from tests.rerankers.worked import ask, both_ways, symmetric


@both_ways
def test_three_sets(inside: bool) -> None:
    # A-B .6, A-C .2, B-C .9; query: A .5, B .4, C -.1. A and B ask too, by .5² = .25 and .4² = .16:
    #   A: .5 + .25 * 1 + .16 * .6 = .846    B: .4 + .25 * .6 + .16 * 1 = .71    C: -.1 + .25 * .2 + .16 * .9
    table = symmetric([0.6, 0.2, 0.5], [0.9, 0.4], [-0.1])
    expected = np.array([0.846, 0.71, 0.094]) / 1.41
    np.testing.assert_allclose(ask(QueryExpansion(2, alpha=2), table, inside), expected, atol=1e-12)
    # C is unlike the query: its voice has the weight 0.
    np.testing.assert_allclose(ask(QueryExpansion(3, alpha=2), table, inside), expected, atol=1e-12)


def test_with_vectors_it_is_the_sum_of_the_publication() -> None:
    rng = np.random.default_rng(7)
    faces = rng.normal(size=(9, 6)) + 0.7
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    tables = tables_of([face[None] for face in faces[:8]])
    row = row_of(tables, faces[8:])
    cosines = faces[:8] @ faces[8]
    nearest = np.argsort(-cosines)[:4]
    weights = np.maximum(cosines[nearest], 0.0) ** 3
    expanded = (faces[8] + weights @ faces[nearest]) / (1 + weights.sum())
    found = QueryExpansion(4).fit(tables, rng).score(row, tables).scores
    np.testing.assert_allclose(found, faces[:8] @ expanded, atol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"neighbours": 0}, "neighbours must be a whole number from 1 to 1000, got 0"),
        ({"alpha": 0}, "alpha must be a number greater than 0, got 0"),
        ({"alpha": float("nan")}, "alpha must be a number greater than 0, got nan"),
    ],
)
def test_options_out_of_range_are_refused(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        QueryExpansion(**wrong).check()
