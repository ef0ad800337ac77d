"""Parts of a gallery as galleries of their own: pairs of sets are compared once, then looked up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import registry
from lookalike.errors import BadInput
from lookalike.evaluation.labels import Labels
from lookalike.faceset import Faces
from lookalike.indexing.build import NEIGHBOURS_KEPT
from lookalike.method.proxies import find_neighbours
from lookalike.method.tables import Tables, compare
from lookalike.rerankers.contract import Reranker
from lookalike.similarities.contract import (
    Examples,
    Match,
    Matches,
    Mode,
    Prepared,
    PreparedSets,
    SetSimilarity,
)

Numbers = NDArray[np.int64]


def fit_part(tables: Tables, name: str) -> Reranker:
    """A re-ranker fitted to a part of a gallery.

    `train` would look for the name of `LookedUp` among all installed packages, which takes longer than
    fitting a few sets.
    """
    part: Reranker = registry.build("rerankers", name)
    return part.fit(tables, np.random.default_rng(0))


class LookedUp(SetSimilarity):
    """Scores of sets that were all compared before; it knows nothing of their faces."""

    def __init__(self, scores: NDArray[np.float64]) -> None:
        self.scores = scores

    def prepare(self, faces: Faces) -> Prepared:
        """Faces were compared before."""
        raise BadInput("only sets that were compared before can be looked up")

    def match(self, a: Prepared, b: Prepared) -> Match:
        """Look up one pair."""
        return self.match_as_batch(a, b)

    def match_many(self, a: PreparedSets, b: PreparedSets) -> Matches:
        """Look up all pairs."""
        scores = self.scores[np.ix_(a.arrays["number"], b.arrays["number"])]
        nothing = np.zeros(scores.shape, dtype=self.mode_type)
        return Matches(scores, nothing, nothing)

    def agreement(self, a: Prepared, mode: Mode, other: Mode) -> float:
        """All modes are the same."""
        return 1.0

    def exemplar(self, a: Prepared, mode: Mode) -> int:
        """The first face."""
        return 0

    def examples(self, reference: Prepared, proxy: Prepared) -> Examples:
        """None: there are no faces."""
        return Examples(np.empty((0, 5)), np.empty((0, 5)))


class Pool:
    """The sets of a gallery, from which smaller galleries are made.

    Parameters
    ----------
    tables : Tables
    labels : mapping of set id to person
        To choose whole people, and to count.
    """

    def __init__(self, tables: Tables, labels: Labels) -> None:
        self.ids = tables.ids
        self.labels = labels
        self.persons = np.array([labels[id] for id in tables.ids])
        assert isinstance(tables.sets, PreparedSets)
        scores = compare(tables.similarity, tables.sets, tables.sets).scores
        self.similarity = LookedUp(scores)
        self.sets = PreparedSets.join([{"number": np.array([place])} for place in range(len(tables))])

    def tables(self, numbers: Sequence[int] | NDArray[Any]) -> Tables:
        """Some of the sets, indexed as if there were no others."""
        chosen = np.sort(np.asarray(numbers, dtype=np.int64))
        sets = PreparedSets.join([self.sets[number] for number in chosen.tolist()])
        near = find_neighbours(self.similarity, sets, NEIGHBOURS_KEPT)
        return Tables(tuple(self.ids[number] for number in chosen.tolist()), 1, self.similarity, sets, near)

    def labels_of(self, tables: Tables) -> dict[str, str]:
        """Who is on each set of a smaller gallery."""
        return {id: self.labels[id] for id in tables.ids}

    def queries(self) -> Numbers:
        """Sets whose person is there twice."""
        _, who, counts = np.unique(self.persons, return_inverse=True, return_counts=True)
        return np.flatnonzero(counts[who] > 1)

    def half(self, rng: np.random.Generator) -> Numbers:
        """All sets of a random half of the people."""
        people = np.unique(self.persons)
        return np.flatnonzero(np.isin(self.persons, rng.choice(people, len(people) // 2, replace=False)))

    def few(self, size: int, rng: np.random.Generator) -> Numbers:
        """So many sets of random people, one whole person after the other; the last may lose some."""
        people = rng.permutation(np.unique(self.persons))
        sets = np.concatenate([np.flatnonzero(self.persons == one) for one in people[:size]])
        return sets[:size]
