"""CSLS worked by hand; hubs fall."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.rerankers.csls import Csls
from tests.rerankers.worked import ask, both_ways, symmetric


@both_ways
def test_three_sets(inside: bool) -> None:
    # A-B .9, A-C .2, B-C .4; query: A .6, B .7, C .5. Means over two:
    #   r(query) = (.7 + .6) / 2 = .65      r(A) = (.9 + .2) / 2 = .55
    #   r(B) = (.9 + .4) / 2 = .65          r(C) = (.4 + .2) / 2 = .3
    table = symmetric([0.9, 0.2, 0.6], [0.4, 0.7], [0.5])
    # A: 1.2 - .65 - .55 = 0    B: 1.4 - .65 - .65 = .1    C: 1 - .65 - .3 = .05
    np.testing.assert_allclose(ask(Csls(neighbours=2), table, inside), [0.0, 0.1, 0.05], atol=1e-12)
    # With one neighbour each: r(query) = .7, r(A) = r(B) = .9, r(C) = .4.
    np.testing.assert_allclose(ask(Csls(neighbours=1), table, inside), [-0.4, -0.2, -0.1], atol=1e-12)
    # There are no more than two others for a set, and three for the query: r(query) = 1.8 / 3 = .6.
    np.testing.assert_allclose(ask(Csls(neighbours=10), table, inside), [0.05, 0.15, 0.1], atol=1e-12)


@both_ways
def test_a_hub_falls_behind_kin(inside: bool) -> None:
    # The hub (first) is alike to everybody by .8, the query too; kin (second) is alike to the query only.
    table = symmetric([0.8, 0.8, 0.8, 0.8], [0.1, 0.1, 0.75], [0.1, 0.1], [0.1])
    hub, kin, *_ = ask(Csls(neighbours=3), table, inside)
    assert kin > hub
    # r(query) = (.8 + .75 + .1) / 3 = .55, r(hub) = .8, r(kin) = (.8 + .1 + .1) / 3 = 1 / 3
    np.testing.assert_allclose([hub, kin], [1.6 - 0.55 - 0.8, 1.5 - 0.55 - 1 / 3])


@pytest.mark.parametrize("neighbours", [0, 1001, 2.5, True, None])
def test_neighbours_out_of_range_are_refused(neighbours: object) -> None:
    with pytest.raises(BadInput, match="neighbours must be a whole number from 1 to 1000, got"):
        Csls(neighbours=neighbours).check()
