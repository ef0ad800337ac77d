"""K-reciprocal encoding worked by hand, and against the publication's steps one by one."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.method.neighbours import nearest_lists
from lookalike.rerankers.k_reciprocal import KReciprocal, PairScores
from tests.rerankers.worked import FIVE, ask, both_ways, random_table, world


class Shortsighted(KReciprocal):
    """With lists that end where k1 does: similarities of further sets must be compared."""

    def reach(self) -> int:
        return max(self.k1, self.k2)


@both_ways
def test_five_sets(inside: bool) -> None:
    # Two nearest: query A, B;  A query, B;  B A, C;  C D, B;  D C, B.  Mutual among them, and the set itself:
    #   query: query, A    A: A, query, B    B: B, A, C    C: C, D, B    D: D, C
    # Half lists are single: {query, A}, {A, query}, {B}, {C, D}, {D, C}. Only A's {A, query}, half of which
    # is in B's, and {C, D} in B's, half too, would add anything: 1/2 < 2/3, so nothing is added.
    # Codes, exp(s - 1) over their sum: e = exp(-.1) of query-A, f = exp(-.2) of A-B, g = exp(-.4) of B-C
    e, f, g = np.exp([-0.1, -0.2, -0.4])
    #   query: (query 1, A e) / (1 + e)
    #   A: (A 1, query e, B f) / (1 + e + f)    B: (B 1, A f, C g) / (1 + f + g)
    # The smaller of the query's and A's: at the query e / (1 + e + f), at A 1 / (1 + e + f).
    # The smaller of the query's and B's: at A f / (1 + f + g).
    with_a, with_b = (1 + e) / (1 + e + f), f / (1 + f + g)
    assert (with_a, with_b) == pytest.approx((0.699391, 0.328933), abs=1e-6)
    # Jaccard: A 1 - .699391 / 1.300609 = .462261;  B 1 - .328933 / 1.671067 = .803160;  C, D 1
    # Distances over the largest: .1 / .9, .5 / .9, .8 / .9, 1
    #   A 1 - .7 * .462261 - .3 * .111111 = .643084    B 1 - .562212 - .166667 = .271121
    #   C 1 - .7 - .266667 = .033333                   D 1 - .7 - .3 = 0
    found = ask(KReciprocal(k1=2, k2=1, weight=0.3), FIVE, inside)
    np.testing.assert_allclose(found, [0.643084, 0.271121, 0.033333, 0.0], atol=1e-6)


def as_published(table: np.ndarray, k1: int, k2: int, weight: float) -> np.ndarray:
    """The steps of the publication with sets and loops; scores for the last of the table."""
    total = len(table)
    ranked = [[one, *(other for other in np.argsort(-table[one]) if other != one)] for one in range(total)]

    def mutual(x: int, k: int) -> set[int]:
        return {y for y in ranked[x][: k + 1] if x in ranked[y][: k + 1]}

    codes = np.zeros((total, total))
    grown, just = 0, 0
    for x in range(total):
        start = mutual(x, k1)
        expanded = set(start)
        for candidate in start:
            theirs = mutual(candidate, round(k1 / 2))
            if 3 * len(theirs & start) >= 2 * len(theirs):
                expanded |= theirs
                just += 3 * len(theirs & start) == 2 * len(theirs)
        grown += len(expanded) > len(start)
        for y in expanded:
            codes[x, y] = np.exp(table[x, y] - 1)
        codes[x] /= codes[x].sum()
    assert grown > 2, "the test must meet expansion"
    assert just > 2, "and overlaps of just two thirds"
    mean = np.array([codes[ranked[x][:k2]].mean(axis=0) for x in range(total)])
    low, high = (pick(mean[-1], mean).sum(axis=1)[:-1] for pick in (np.minimum, np.maximum))
    distance = 1 - table[-1, :-1]
    return 1 - (1 - weight) * (1 - low / high) - weight * distance / distance.max()


@both_ways
@pytest.mark.parametrize("part", [KReciprocal, Shortsighted])
def test_it_is_what_the_publication_describes(inside: bool, part: type[KReciprocal]) -> None:
    # A world of three groups, so that expansion has something to add.
    table = random_table(24, seed=0)
    group = np.arange(24) % 3
    table = np.where(group[:, None] == group, 0.5 + 0.5 * table, 0.6 * table)
    expected = as_published(table, 8, 3, 0.3)
    np.testing.assert_allclose(ask(part(8, 3, 0.3), table, inside), expected, atol=1e-12)


def test_the_lists_stay_as_they_are() -> None:
    tables, row = world(random_table(12, seed=9), inside=False)
    part = KReciprocal(4, 2).fit(tables, np.random.default_rng(0))
    before = [array.copy() for array in part.lists_]
    part.score(row, tables)
    for array, old in zip(part.lists_, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_refitted_it_forgets_the_old_gallery() -> None:
    part = KReciprocal(4, 2)
    ask(part, random_table(10, seed=1), True)
    other = random_table(10, seed=2)
    np.testing.assert_array_equal(ask(part, other, True), ask(KReciprocal(4, 2), other, True))


@both_ways
def test_all_weight_on_the_baseline_is_its_order(inside: bool) -> None:
    table = random_table(12, seed=8)
    found = ask(KReciprocal(weight=1.0), table, inside)
    np.testing.assert_array_equal(np.argsort(-found), np.argsort(-table[-1, :-1]))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"k1": 0}, "k1 must be a whole number from 1 to 1000, got 0"),
        ({"k2": "six"}, "k2 must be a whole number from 1 to 1000, got 'six'"),
        ({"weight": 1.5}, "weight must be a number from 0 to 1, got 1.5"),
        ({"weight": True}, "weight must be a number from 0 to 1, got True"),
        ({"weight": float("nan")}, "weight must be a number from 0 to 1, got nan"),
    ],
)
def test_options_out_of_range_are_refused(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        KReciprocal(**wrong).check()


# Similarities of chosen pairs, in lists or not.


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
