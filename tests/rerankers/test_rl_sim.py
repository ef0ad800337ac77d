"""RL-Sim: overlaps of lists counted by hand, and by walking through the depths."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.rerankers.rl_sim import RlSim
from tests.rerankers.worked import FIVE, ask, both_ways, random_table


@both_ways
def test_five_sets(inside: bool) -> None:
    # query: query, A, B    A: A, query, B    B: B, A, C    C: C, D, B    D: D, C, B
    #          depth 1   depth 2         depth 3
    #   A      0         2 / 2           3 / 3      mean 2 / 3
    #   B      0         1 / 2 (A)       2 / 3      mean 7 / 18
    #   C, D   0         0               1 / 3 (B)  mean 1 / 9
    found = ask(RlSim(neighbours=3), FIVE, inside)
    np.testing.assert_allclose(found, [2 / 3, 7 / 18, 1 / 9, 1 / 9])


@both_ways
def test_it_is_the_mean_overlap_over_all_depths(inside: bool) -> None:
    table, depth = random_table(13, seed=4), 6
    lists = [[one, *(other for other in np.argsort(-table[one]) if other != one)] for one in range(13)]
    expected = [
        np.mean([len({*lists[one][:d]} & {*lists[12][:d]}) / d for d in range(1, depth + 1)])
        for one in range(12)
    ]
    np.testing.assert_allclose(ask(RlSim(depth), table, inside), expected)
    # There are 13 sets and no deeper lists.
    np.testing.assert_array_equal(ask(RlSim(13), table, inside), ask(RlSim(500), table, inside))


@pytest.mark.parametrize("neighbours", [0, 1001, 2.5, True, None])
def test_neighbours_out_of_range_are_refused(neighbours: object) -> None:
    with pytest.raises(BadInput, match="neighbours must be a whole number from 1 to 1000, got"):
        RlSim(neighbours=neighbours).check()
