"""The arithmetic of `adaptive` with all pairs in one square: the readable twin of what works on lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.method.neighbours import Known
from lookalike.method.tables import Lists, Row


def square(count: int, seed: int = 0, dimension: int = 8) -> np.ndarray:
    """Similarities of sets of a few people, in a few kinds of light."""
    rng = np.random.default_rng(seed)
    vectors = (
        rng.normal(size=(count // 3 + 1, dimension))[np.arange(count) // 3]
        + rng.normal(size=(4, dimension))[np.arange(count) % 4]
        + 0.5 * rng.normal(size=(count, dimension))
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def order_of(scores: np.ndarray) -> np.ndarray:
    """Every set's others, nearest first; (n, n - 1)."""
    ranked = scores.copy()
    np.fill_diagonal(ranked, -np.inf)
    return np.argsort(-ranked, axis=1, kind="stable")[:, :-1]


def lists_of(scores: np.ndarray, width: int) -> Lists:
    order = order_of(scores)[:, :width]
    return Lists(order, np.take_along_axis(scores, order, axis=1))


def row_of(scores: np.ndarray, query: int) -> Row:
    """A member's row; no faces exist here."""
    return Row(scores[query], np.empty(0), np.empty(0), query)


def filled(known: Known) -> np.ndarray:
    """Similarities of all pairs as `Known` has them; (n, n)."""
    whole = known.level + known.levels[:, None] + known.levels
    whole[known.owners, known.sets] += known.residuals
    return whole


def spread(known: Known, values: np.ndarray, empty: float = 0.0) -> np.ndarray:
    """Values of known pairs in a square."""
    whole = np.full((len(known.levels), len(known.levels)), empty)
    whole[known.owners, known.sets] = values
    return whole


# Agreement of lists, as its definition reads.


def mutual(scores: np.ndarray, k: int) -> np.ndarray:
    """Who have each other among their first k; (n, n)."""
    listed = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(listed, order_of(scores)[:, :k], True, axis=1)
    return listed & listed.T


def closed(friends: np.ndarray, graph: np.ndarray, k: int) -> float:
    """Of two of some sets, how often they are neighbours in a graph, beyond the chance of lists of k."""
    count, chance = len(friends), k / len(graph)
    pairs = graph[np.ix_(friends, friends)].sum() / (count * (count - 1)) if count > 1 else 0.0
    return float((pairs - chance) / (1 - chance))


def uniform(total: int, *groups: np.ndarray | list[int]) -> np.ndarray:
    """As much for everybody in some groups; (total,), the sum is 1."""
    found = np.zeros(total)
    found[np.concatenate([np.asarray(group, dtype=int) for group in groups])] = 1
    return found / found.sum()


@dataclass
class Agreeing:
    """The gallery's vectors, and those with a query from outside."""

    scores: np.ndarray
    lengths: list[int]
    smooth: int = 8
    least: float = 1e-6

    def __post_init__(self) -> None:
        self.order = order_of(self.scores)
        self.graphs = [mutual(self.scores, k) for k in self.lengths]
        everybody = range(len(self.scores))
        self.alone = np.array(
            [
                [
                    closed(np.flatnonzero(graph[one]), graph, k)
                    for graph, k in zip(self.graphs, self.lengths, strict=True)
                ]
                for one in everybody
            ]
        )
        around = [[one, *self.order[one, : self.smooth]] for one in everybody]
        # Lists of more than .4 of all sets count less, those of .8 nothing.
        self.counted = np.clip((0.8 - np.array(self.lengths) / len(self.scores)) / 0.4, 0, 1)
        smoothed = np.array([self.alone[each].mean(axis=0) for each in around])
        self.trusts = np.maximum(self.least, self.counted * smoothed)
        self.vectors = np.array([self._vector(one) for one in everybody])

    def _vector(self, one: int) -> np.ndarray:
        found = np.zeros(len(self.scores))
        for trust, graph, k in zip(self.trusts[one], self.graphs, self.lengths, strict=True):
            speak = [one, *self.order[one, : max(0, k // 2 - 1)]]
            codes = [uniform(len(self.scores), [each], np.flatnonzero(graph[each])) for each in speak]
            found += trust * np.mean(codes, axis=0)
        return found / found.sum()

    def member(self, one: int) -> np.ndarray:
        """Agreement of a set with all; (n,)."""
        return jaccard(self.vectors[one], self.vectors)

    def outside(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Agreement with a query of such similarities, which is one column more, and its trusts."""
        total = len(row)
        order = np.argsort(-row, kind="stable")
        trusts, own, added = [], np.zeros(total + 1), np.zeros(total)
        for place, (graph, k) in enumerate(zip(self.graphs, self.lengths, strict=True)):
            enters = np.sort(self.scores + np.diag(np.full(total, -np.inf)), axis=1)[:, -k]
            friends = [one for one in order[:k] if row[one] > enters[one]]
            alone = closed(np.array(friends, dtype=int), graph, k)
            near = self.alone[order[: self.smooth], place]
            trusts.append(max(self.least, self.counted[place] * np.mean([alone, *near])))
            codes = [uniform(total + 1, friends, [total])]
            for each in order[: max(0, k // 2 - 1)]:
                query = [total] if each in friends else []
                codes.append(uniform(total + 1, [each], np.flatnonzero(graph[each]), query))
            own += trusts[-1] * np.mean(codes, axis=0)
            share = np.zeros(total)
            share[friends] = [1 / (graph[each].sum() + 2) for each in friends]
            weights = self.trusts[:, place] / self.trusts.sum(axis=1)
            for one in range(total):
                added[one] += weights[one] * share[[one, *self.order[one, : max(0, k // 2 - 1)]]].mean()
        theirs = np.column_stack([self.vectors, added])
        return jaccard(own / own.sum(), theirs / theirs.sum(axis=1, keepdims=True)), np.array(trusts)


def jaccard(one: np.ndarray, others: np.ndarray) -> np.ndarray:
    """What two vectors share, of what either has; (n,)."""
    found: np.ndarray = np.minimum(one, others).sum(axis=1) / np.maximum(one, others).sum(axis=1)
    return found
