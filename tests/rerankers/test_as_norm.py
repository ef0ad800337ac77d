"""Adaptive s-norm worked by hand; only the spread counts, not the scale."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.rerankers.as_norm import AsNorm
from tests.rerankers.worked import ask, both_ways, random_table, symmetric

# A-B .6, A-C .2, B-C .4; query: A .9, B .5, C .3.
TABLE = symmetric([0.6, 0.2, 0.9], [0.4, 0.5], [0.3])


@both_ways
def test_three_sets(inside: bool) -> None:
    # Cohorts of two, mean and standard deviation:
    #        of the query without the target        of the target without the query
    #   A    .5, .3: .4, .1   (.9 - .4) / .1 = 5    .6, .2: .4, .2   (.9 - .4) / .2 = 2.5
    #   B    .9, .3: .6, .3   (.5 - .6) / .3        .6, .4: .5, .1   (.5 - .5) / .1 = 0
    #   C    .9, .5: .7, .2   (.3 - .7) / .2 = -2   .4, .2: .3, .1   (.3 - .3) / .1 = 0
    found = ask(AsNorm(cohort=2), TABLE, inside)
    np.testing.assert_allclose(found, [3.75, -1 / 6, -1.0], atol=1e-9)


@both_ways
def test_a_cohort_without_spread_gives_plain_differences(inside: bool) -> None:
    # Cohorts of one:  A    query B .5: .4     A's B .6: .3
    #                  B    query A .9: -.4    B's A .6: -.1
    #                  C    query A .9: -.6    C's B .4: -.1
    found = ask(AsNorm(cohort=1), TABLE, inside)
    np.testing.assert_allclose(found, [0.35, -0.25, -0.35], atol=1e-12)


@both_ways
def test_scale_and_shift_of_all_similarities_change_nothing(inside: bool) -> None:
    table = random_table(9)
    part = AsNorm(cohort=4)
    np.testing.assert_allclose(ask(part, 0.3 * table + 0.6, inside), ask(part, table, inside), atol=1e-9)


@pytest.mark.parametrize("cohort", [0, 1001, 2.5, True, None])
def test_a_cohort_out_of_range_is_refused(cohort: object) -> None:
    with pytest.raises(BadInput, match="cohort must be a whole number from 1 to 1000, got"):
        AsNorm(cohort=cohort).check()
