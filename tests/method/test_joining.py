"""Joining by a readable twin: the same groups, the same pairs in doubt, and agreement worked by hand."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.method.groups import agreements, join_groups

Numbers = NDArray[np.int64]
WEIGHTS = (8.3, 4.6, 1.8, 1.6, -0.25, -11.1)


class Twin:
    """Groups as dictionaries, joined best first."""

    def __init__(
        self,
        vectors: NDArray[np.float64],
        links: dict[tuple[int, int], float],
        trusts: NDArray[np.float64],
        apart: set[tuple[int, int]],
        strangers: float,
    ) -> None:
        self.vectors, self.links, self.trusts, self.apart = vectors, links, trusts, apart
        self.strangers = strangers
        self.groups = [{one} for one in range(len(vectors))]

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
            1.0,
        )
        return sum(weight * term for weight, term in zip(WEIGHTS, terms, strict=True))

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
                    if self.are_linked(a, b) and not self.are_apart(a, b) and self.score(a, b) > 0:
                        heapq.heappush(best, (-self.score(a, b), i, j))
            if not best:
                return
            _, i, j = best[0]
            self.groups[i] = self.groups[i] | self.groups.pop(j)


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
def test_groups_are_those_of_the_twin(seed: int) -> None:
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
    twin = Twin(vectors, links, trusts, apart, 0.05)
    twin.join()
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
        np.array(WEIGHTS),
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


def test_agreement_by_hand() -> None:
    # Two sets name the same sets by 0.3 + 0.2 of 1: 0.5 of the 1.5 that either names.
    starts = np.array([0, 2, 5])
    columns = np.array([0, 1, 0, 1, 7], dtype=np.int32)
    weights = np.array([0.8, 0.2, 0.3, 0.3, 0.4], dtype=np.float32)
    found = np.zeros((2, 1))
    agreements(np.array([[1], [0]]), starts, columns, weights, 0, 2, found)
    assert found == pytest.approx(np.full((2, 1), 0.5 / 1.5), abs=1e-6)
