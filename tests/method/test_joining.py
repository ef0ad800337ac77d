"""Joining by a readable twin: the same groups, the same pairs in doubt, and agreement worked by hand."""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.method.groups import agreements, join_groups

Numbers = NDArray[np.int64]
WEIGHTS = (8.3, 4.6, 1.8, 1.6, -0.25)
SURE = 6.0


class Limits(NamedTuple):
    """What ends the joining, and what is added to all scores, so that there is something to join."""

    least: float
    share: float  # of the pairs that are joined, which may be wrong; below 1 it keeps some groups apart
    added: float
    some: float = 0.0  # pairs that may be wrong in any case
    alike: float = math.inf  # from there on groups of a score above 0 are surely the same


LIMITS = [
    Limits(0.0, 1.0, -11.1),
    Limits(1.0, 1.0, -9.1),
    Limits(-1.5, 0.1, -9.6),
    Limits(0.0, 0.05, -9.1),
    Limits(1.0, 0.025, -8.1),
    Limits(1.0, 0.025, -8.1, some=0.2),
    Limits(1.0, 0.01, -8.1, some=0.1, alike=0.8),
]


class Twin:
    """Groups as sets, joined best first as long as few enough pairs of sets are expected to be wrong."""

    def __init__(
        self,
        vectors: NDArray[np.float64],
        links: dict[tuple[int, int], float],
        trusts: NDArray[np.float64],
        apart: set[tuple[int, int]],
        strangers: float,
        limits: Limits,
    ) -> None:
        self.vectors, self.links, self.trusts, self.apart = vectors, links, trusts, apart
        self.strangers, self.limits = strangers, limits
        self.groups = [{one} for one in range(len(vectors))]
        self.wrong, self.joined = 0.0, 0
        # Groups that the budget kept from being joined: nobody asks again until one of the two has grown.
        self.passed: set[tuple[frozenset[int], frozenset[int]]] = set()

    def score(self, a: set[int], b: set[int]) -> float:
        one, other = self.vectors[sorted(a)].sum(axis=0), self.vectors[sorted(b)].sum(axis=0)
        own = [
            max(each @ each - self.strangers * size**2, 1e-6)
            for each, size in ((one, len(a)), (other, len(b)))
        ]
        cosine = (one @ other - self.strangers * len(a) * len(b)) / math.sqrt(own[0] * own[1])
        trust = min(self.trusts[sorted(group)].mean() for group in (a, b))
        shared = sum(self.links.get((min(i, j), max(i, j)), 0.0) for i in a for j in b)
        mean = min(max(shared / (len(a) * len(b)), 0.01), 0.99)
        larger, smaller = max(len(a), len(b)), min(len(a), len(b))
        terms = (
            min(cosine, 1.0),
            trust,
            math.log(mean / (1 - mean)),
            math.log(min(larger, 64)),
            math.log(smaller),
        )
        found = self.limits.added + sum(weight * term for weight, term in zip(WEIGHTS, terms, strict=True))
        mean = np.mean([self.vectors[i] @ self.vectors[j] for i in a for j in b])
        return found + SURE if found > 0 and mean >= self.limits.alike else found

    def are_linked(self, a: set[int], b: set[int]) -> bool:
        return any((min(i, j), max(i, j)) in self.links for i in a for j in b)

    def are_apart(self, a: set[int], b: set[int]) -> bool:
        return any((min(i, j), max(i, j)) in self.apart for i in a for j in b)

    def join(self) -> None:
        while True:
            best: list[tuple[float, int, int]] = []
            for i, a in enumerate(self.groups):
                for j in range(i + 1, len(self.groups)):
                    b = self.groups[j]
                    if (frozenset(a), frozenset(b)) in self.passed:
                        continue
                    if not self.are_linked(a, b) or self.are_apart(a, b):
                        continue
                    if self.score(a, b) > self.limits.least:
                        heapq.heappush(best, (-self.score(a, b), i, j))
            if not best:
                return
            lacking, i, j = best[0]
            a, b = self.groups[i], self.groups[j]
            # The score is the logarithm of the odds that the two are one person, and all these pairs right.
            joined = len(a) * len(b)
            wrong = joined / (1 + math.exp(-lacking))
            if self.wrong + wrong > max(self.limits.share * (self.joined + joined), self.limits.some):
                self.passed.add((frozenset(a), frozenset(b)))
                continue
            self.wrong, self.joined = self.wrong + wrong, self.joined + joined
            self.groups[i] = a | self.groups.pop(j)


def rows(pairs: dict[tuple[int, int], float], total: int) -> tuple[Numbers, Numbers, NDArray[np.float64]]:
    both = sorted(
        [(i, j, value) for (i, j), value in pairs.items()] + [(j, i, v) for (i, j), v in pairs.items()]
    )
    owners = np.array([one[0] for one in both], dtype=np.int64)
    starts = np.searchsorted(owners, np.arange(total + 1))
    return (
        starts,
        np.array([one[1] for one in both], dtype=np.int64),
        np.array([one[2] for one in both], float),
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("limits", LIMITS)
def test_groups_are_those_of_the_twin(limits: Limits, seed: int) -> None:
    rng = np.random.default_rng(seed)
    total, people = 24, 5
    person = rng.integers(people, size=total)
    vectors = rng.normal(size=(people, 8))[person] + 0.45 * rng.normal(size=(total, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    links, apart = {}, set()
    for i in range(total):
        for j in range(i + 1, total):
            if rng.random() < 0.7:
                links[i, j] = float(rng.uniform(0.2, 0.9) if person[i] == person[j] else rng.uniform(0, 0.3))
            if rng.random() < 0.05:
                apart.add((i, j))
    trusts = rng.uniform(0.5, 1.0, size=total)
    twin = Twin(vectors, links, trusts, apart, 0.05, limits)
    twin.join()
    # What is surely the same may leave room for all others.
    assert bool(twin.passed) == (limits.share < 1) or limits.alike < 1
    near = rows(links, total)
    held = rows(dict.fromkeys(apart, 0.0), total)[:2]
    nothing = np.zeros(total + 1, np.int64), np.empty(0, np.int64)
    owners, weakest, pairs, scores = join_groups(
        np.arange(total),
        np.full(total, -1),
        *near,
        *held,
        *nothing,
        vectors.copy(),
        0.05,
        trusts.copy(),
        np.array((*WEIGHTS, limits.added)),
        limits.alike,
        limits.least,
        (limits.share, limits.some),
        -2.0,
    )
    made = {frozenset(np.flatnonzero(owners == one).tolist()) for one in np.unique(owners)}
    assert made == {frozenset(group) for group in twin.groups}
    assert len(made) < total
    by_first = {min(group): group for group in twin.groups}
    assert all(np.isinf(weakest[first]) == (len(group) == 1) for first, group in by_first.items())
    expected = {
        (i, j): twin.score(a, b)
        for i, a in by_first.items()
        for j, b in by_first.items()
        if i < j and twin.are_linked(a, b) and not twin.are_apart(a, b) and twin.score(a, b) > -2
    }
    found = {(i, j): score for (i, j), score in zip(pairs.tolist(), scores.tolist(), strict=True)}
    assert found.keys() == expected.keys()
    assert all(found[pair] == pytest.approx(expected[pair]) for pair in found)


def test_the_budget_by_hand() -> None:
    # Odds of two groups are those of their agreement, times (larger / smaller) ** 7. At most a tenth of the
    # pairs joined may be wrong; what was decided, 0 with 1 and so on, does not count.
    links = {
        (4, 5): 0.96,  # 0.04 of 1 wrong: joined
        **dict.fromkeys([(0, 2), (0, 3), (1, 2), (1, 3)], 0.86),  # 0.04 + 4 x 0.14 = 0.60 of 5: not joined
        (6, 7): 0.85,  # 0.04 + 0.15 = 0.19 of 2: joined, though less likely
        # Joined with odds of 3 x 128: 0.19 + 2 / 385 = 0.195 of 4. Now 0 and 2 would be 0.76 of 8, but nobody
        # asks again, since neither has grown.
        **dict.fromkeys([(6, 8), (7, 8)], 0.75),
        # Joined with odds of 128 / 24 = 16 / 3: 0.195 + 2 x 3 / 19 = 0.51 of 6. Now 2 has grown, and is
        # joined with 0, with odds of 0.573 / 0.427 x 1.5 ** 7 = 23: 0.51 + 6 / 24 = 0.76 of 12.
        **dict.fromkeys([(2, 9), (3, 9)], 0.04),
        **dict.fromkeys([(10, 12), (10, 13), (11, 12), (11, 13)], 0.65),  # 0.76 + 1.4 of 16: not joined
        (14, 15): 0.6,  # no more than the least
    }
    nothing = np.zeros(17, np.int64), np.empty(0, np.int64)
    owners, weakest, pairs, scores = join_groups(
        np.array([0, 0, 2, 2, 4, 5, 6, 7, 8, 9, 10, 10, 12, 12, 14, 15]),
        np.full(16, -1),
        *rows(links, 16),
        *nothing,
        *nothing,
        np.zeros((16, 1)),
        0.0,
        np.ones(16),
        np.array([0.0, 0.0, 1.0, 7.0, -7.0, 0.0]),
        math.inf,
        math.log(0.61 / 0.39),
        (0.1, 0.0),
        0.0,
    )
    assert owners.tolist() == [0, 0, 0, 0, 4, 4, 6, 6, 6, 0, 10, 10, 12, 12, 14, 15]
    assert weakest[[0, 4, 6]] == pytest.approx(np.log([16 / 3, 24, 0.85 / 0.15]))
    assert np.isinf(weakest[[10, 12, 14, 15]]).all()
    told = dict(zip(map(tuple, pairs.tolist()), scores.tolist(), strict=True))
    assert told == pytest.approx({(10, 12): math.log(0.65 / 0.35), (14, 15): math.log(0.6 / 0.4)})


def by_agreement(
    links: dict[tuple[int, int], float], vectors: NDArray[np.float64], alike: float, share: float, some: float
) -> list[int]:
    """The groups of sets whose odds are those of their agreement; 0 and 1 were decided to be one person."""
    total = len(vectors)
    nothing = np.zeros(total + 1, np.int64), np.empty(0, np.int64)
    owners, _, _, _ = join_groups(
        np.array([0, 0, *range(2, total)]),
        np.full(total, -1),
        *rows(links, total),
        *nothing,
        *nothing,
        vectors,
        0.0,
        np.ones(total),
        np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
        alike,
        1.0,
        (share, some),
        0.0,
    )
    found: list[int] = owners.tolist()
    return found


@pytest.mark.parametrize(("some", "joined"), [(0.05, []), (0.06, [(2, 3)]), (0.16, [(2, 3), (4, 5)])])
def test_so_many_pairs_may_be_wrong_in_any_case(some: float, joined: list[tuple[int, int]]) -> None:
    # 0.055 of the surer pair are wrong, of both 0.055 + 0.1: more than 2.5 % of one pair or of two.
    owners = by_agreement({(2, 3): 0.945, (4, 5): 0.9}, np.zeros((6, 1)), math.inf, 0.025, some)
    assert [(one, other) for one, other in ((2, 3), (4, 5)) if owners[one] == owners[other]] == joined


@pytest.mark.parametrize(
    ("agreed", "alike", "joined"),
    [(0.6, math.inf, False), (0.6, 0.71, False), (0.6, 0.69, True), (0.45, 0.69, False)],
)
def test_groups_that_are_surely_alike_are_joined_by_hand(agreed: float, alike: float, joined: bool) -> None:
    # Odds of 0.6 / 0.4 are less than the least, e. The third set is 0.8 and 0.6 like the two of one person,
    # 0.7 on average: from there on the odds are 400 times as good, but not if they were below 1.
    vectors = np.array([[0.8, 0.6], [0.6, 0.8], [1.0, 0.0]])
    owners = by_agreement({(0, 2): agreed, (1, 2): agreed}, vectors, alike, 0.025, 0.0)
    assert (owners[2] == 0) is joined


def test_agreement_by_hand() -> None:
    # Two sets name the same sets by 0.3 + 0.2 of 1: 0.5 of the 1.5 that either names.
    starts = np.array([0, 2, 5])
    columns = np.array([0, 1, 0, 1, 7], dtype=np.int32)
    weights = np.array([0.8, 0.2, 0.3, 0.3, 0.4], dtype=np.float32)
    found = np.zeros((2, 1))
    agreements(np.array([[1], [0]]), starts, columns, weights, 0, 2, found)
    assert found == pytest.approx(np.full((2, 1), 0.5 / 1.5), abs=1e-6)
