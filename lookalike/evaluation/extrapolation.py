"""Extrapolation: whether the regressor meets at retrieval what it was trained on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from lookalike.evaluation.labels import Labels
from lookalike.rerankers.contract import Reranker
from lookalike.transitivity.examples import TrainingSet
from lookalike.transitivity.extrapolation import far_from
from lookalike.transitivity.tables import Tables, rows

# So many queries, and so many others of each, tell the distribution well enough.
QUERIES = 100
TARGETS = 100


@runtime_checkable
class Trained(Protocol):
    """A second stage with a regressor that can say what it was trained on."""

    def training_rows(self, tables: Tables, rng: np.random.Generator) -> TrainingSet:
        """The rows that `fit` trained on, given a generator in the same state."""
        ...

    def regress(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the regressor makes of five numbers."""
        ...


class Met(NamedTuple):
    """Five numbers as training draws them, and as retrieval meets them."""

    training: TrainingSet
    matches: NDArray[np.float64]  # (rows, 5): query and target show the same person
    others: NDArray[np.float64]  # (rows, 5)
    predict: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # the regressor

    def outside(self) -> dict[str, float]:
        """Share of the matches, and of the others, that are unlike anything in training."""
        met = {"matches": self.matches, "others": self.others}
        return {name: far_from(self.training.x, rows) for name, rows in met.items()}

    def told_apart(self) -> dict[str, float]:
        """How well same and another person are told apart; 0.5 is chance.

        Share of pairs of one row of each in which the right one gets the higher value: of the regressor on
        its training rows, of the regressor at retrieval, and of the baseline similarity (s2) at retrieval.
        """
        x, y = self.training
        return {
            "training": area_under_roc(self.predict(x[y == 1]), self.predict(x[y == 0])),
            "retrieval": area_under_roc(self.predict(self.matches), self.predict(self.others)),
            "baseline": area_under_roc(self.matches[:, 1], self.others[:, 1]),
        }


def area_under_roc(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> float:
    """Share of pairs in which the right value is the higher one; ties count half."""
    ranks = rankdata(np.concatenate([right, wrong]))[: len(right)]
    return float((ranks.mean() - (len(right) + 1) / 2) / len(wrong))


def features_met(tables: Tables, reranker: Reranker, labels: Labels, seed: int) -> Met | None:
    """Draw the training rows again, and the five numbers of random queries with all matches and some others.

    Parameters
    ----------
    tables : Tables
    reranker : Reranker
        A fitted one that asks proxies.
    labels : mapping of set id to person
    seed : int
        The seed it was fitted with.

    Returns
    -------
    Met or None
        None if the second stage has no regressor or found nothing to train it on, or nobody is there twice.
    """
    if getattr(reranker, "regressor_", None) is None or not isinstance(reranker, Trained):
        return None
    training = reranker.training_rows(tables, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    persons = np.array([labels[id] for id in tables.ids])
    _, who, counts = np.unique(persons, return_inverse=True, return_counts=True)
    asked = rng.permutation(np.flatnonzero(counts[who] > 1))[:QUERIES]
    if not len(asked):
        return None
    prepared = tables.sets[asked]
    matches: list[NDArray[np.float64]] = [np.empty((0, 5))]
    others: list[NDArray[np.float64]] = [np.empty((0, 5))]
    for row in rows(tables, prepared, [int(number) for number in asked]):
        features = reranker.beliefs(row, tables).features
        same = persons == persons[row.member]
        same[row.member] = False
        different = np.flatnonzero(persons != persons[row.member])
        matches.append(features[same].reshape(-1, 5))
        others.append(features[rng.permutation(different)[:TARGETS]].reshape(-1, 5))
    return Met(training, np.concatenate(matches), np.concatenate(others), reranker.regress)
