"""CPRR: votes counted by hand; they are the same both ways."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.rerankers.cprr import Cprr
from tests.rerankers.worked import FIVE, ask, both_ways, random_table


@both_ways
def test_five_sets(inside: bool) -> None:
    # Lists of three, with the weights 3, 2, 1:
    #   query: query, A, B    A: A, query, B    B: B, A, C    C: C, D, B    D: D, C, B
    # Who lists the query: itself (3) and A (2).
    #   query's list: A 3 * 2, B 3 * 1;  A's list: A 2 * 3, B 2 * 1  ->  A 12, B 5
    # Whom the query and the target list both, neither being it: the query lists A (2) and B (1).
    #   A lists B (1): 1;  B lists A (2): 4;  C lists B (1): 1;  D lists B (1): 1
    assert ask(Cprr(neighbours=3), FIVE, inside).tolist() == [13.0, 9.0, 1.0, 1.0]
    # Lists of two: only A lists the query; the query lists A (1), and so does B.
    #   query's list: A 2 * 1;  A's list: A 1 * 2  ->  A 4;  B 1 * 1;  C and D list each other: nothing
    assert ask(Cprr(neighbours=2), FIVE, inside).tolist() == [4.0, 1.0, 0.0, 0.0]


def test_symmetric() -> None:
    table = random_table(12, seed=3)
    votes = np.array([np.insert(ask(Cprr(4), table, True, query), query, 0.0) for query in range(12)])
    np.testing.assert_array_equal(votes, votes.T)
    assert (votes == 0).sum() > 12, "some pairs are not joined"


@pytest.mark.parametrize("neighbours", [1, 1001, 2.5, True, None])
def test_neighbours_out_of_range_are_refused(neighbours: object) -> None:
    with pytest.raises(BadInput, match="neighbours must be a whole number from 2 to 1000, got"):
        Cprr(neighbours=neighbours).check()
