"""Diffusion on a chain solved by hand, and against a direct solution."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.rerankers.diffusion import Diffusion
from tests.rerankers.worked import ask, both_ways, random_table, symmetric, world


@both_ways
def test_a_chain_and_a_stranger(inside: bool) -> None:
    # A-B .8, B-C .8; A-C and everything with D negative. The query enters at A alone, by .6.
    table = symmetric([0.8, -0.3, -0.1, 0.6], [0.8, -0.1, 0.1], [-0.1, -0.2], [0.3])
    # Degrees .8, 1.6, .8, so S(A, B) = S(B, C) = .8 / sqrt(.8 * 1.6) = 1 / sqrt 2. With alpha 1/2 and
    # c = 1 / (2 sqrt 2), c² = 1/8:   a = .6 + c b    b = c (a + c')    c' = c b
    #   b = .6 c + 2 c² b = .6 c + b / 4, so b = .8 c;   a = .6 + .8 / 8 = .7;   c' = .8 / 8 = .1
    found = ask(Diffusion(neighbours=3, query_neighbours=1, alpha=0.5, power=1), table, inside)
    np.testing.assert_allclose(found, [0.7, 0.8 / (2 * np.sqrt(2)), 0.1, 0.0], atol=1e-12)
    # The end of the chain comes before the stranger, to whom the query is more alike by itself.
    assert found[2] > found[3] == 0.0
    assert table[4, 2] < table[4, 3]


@both_ways
def test_neighbours_must_be_mutual(inside: bool) -> None:
    # A's nearest is B, but B's is C: with one neighbour each nothing leads from A to B.
    table = symmetric([0.5, 0.1, 0.9], [0.8, 0.2], [0.1])
    part = Diffusion(neighbours=1, query_neighbours=1, alpha=0.9, power=2)
    np.testing.assert_allclose(ask(part, table, inside), [0.81, 0.0, 0.0], atol=1e-12)


@both_ways
def test_the_solution_is_that_of_a_direct_solver(inside: bool) -> None:
    table, near = random_table(15, seed=5), 6
    gallery = np.maximum(table[:14, :14], 0.0) ** 3
    np.fill_diagonal(gallery, 0.0)
    listed = gallery >= -np.sort(-gallery, axis=1)[:, near - 1 : near]
    affinity = gallery * (listed & listed.T)
    root = np.sqrt(affinity.sum(axis=1))
    start = np.zeros(14)
    entries = np.argsort(-table[14, :14])[:4]
    start[entries] = np.maximum(table[14, entries], 0.0) ** 3
    expected = np.linalg.solve(np.eye(14) - 0.99 * affinity / np.outer(root, root), start)
    found = ask(Diffusion(near, 4, 0.99, 3), table, inside)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@both_ways
def test_the_lists_stay_as_they_are(inside: bool) -> None:
    # Sparse matrices sort what they are given: they must be given copies.
    tables, row = world(random_table(12, seed=9), inside)
    part = Diffusion(5, 3).fit(tables, np.random.default_rng(0))
    before = [array.copy() for array in part.lists_]
    part.score(row, tables)
    for array, old in zip(part.lists_, before, strict=True):
        np.testing.assert_array_equal(array, old)


@both_ways
def test_a_query_that_is_like_nobody_keeps_the_baseline_s_order(inside: bool) -> None:
    table = symmetric([0.5, 0.1, -0.9], [0.8, -0.2], [-0.1])
    assert ask(Diffusion(), table, inside).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"neighbours": 0}, "neighbours must be a whole number from 1 to 1000, got 0"),
        ({"query_neighbours": 2.5}, "query_neighbours must be a whole number from 1 to 1000, got 2.5"),
        ({"alpha": 1.0}, "alpha must be greater than 0 and at most 0.999, got 1.0"),
        ({"alpha": "much"}, "alpha must be greater than 0 and at most 0.999, got 'much'"),
        ({"power": 0}, "power must be a number greater than 0, got 0"),
    ],
)
def test_options_out_of_range_are_refused(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        Diffusion(**wrong).check()
