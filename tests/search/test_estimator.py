"""The estimator keeps what scikit-learn asks of estimators, and finds what `find` finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from lookalike import SetNeighbors, find
from tests.small_world import small_world


@parametrize_with_checks([SetNeighbors(reranker="baseline")])
def test_what_scikit_learn_asks(estimator: Any, check: Any) -> None:
    check(estimator)


def grouped(people: int = 10) -> tuple[Any, np.ndarray, np.ndarray]:
    sets, _ = small_world(people=people, sets=3)
    sets = sorted(sets, key=lambda one: one.id)
    return sets, np.vstack([one.faces for one in sets]), np.repeat([one.id for one in sets], len(sets[0]))


@pytest.mark.parametrize("reranker", ["baseline", "auto"])
def test_neighbours_are_the_answers_of_find(reranker: str) -> None:
    sets, rows, groups = grouped()
    shuffled = np.random.default_rng(0).permutation(len(rows))
    made = clone(SetNeighbors(4, reranker=reranker)).fit(rows[shuffled], groups=groups[shuffled])
    assert made.groups_.tolist() == [one.id for one in sets]
    distances, indices = made.kneighbors()
    assert distances.shape == indices.shape == (30, 4)
    for one, near, far in zip(sets, indices, distances, strict=True):
        ranking = find(one.id, sets, reranker=reranker, top=4)
        assert made.groups_[near].tolist() == ranking.ids
        assert far == pytest.approx([1 - answer.score for answer in ranking], abs=1e-6)


def test_rows_alone_are_sets_and_queries_from_outside_may_be_groups() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(20, 8))
    made = SetNeighbors(2, reranker="baseline").fit(rows)
    indices = made.kneighbors(rows[:3] + 0.01, return_distance=False)
    assert indices[:, 0].tolist() == [0, 1, 2]
    # By hand: the distance of the baseline is that of cosines.
    distances, _ = made.kneighbors(rows[:1], 1)
    assert distances[0, 0] == pytest.approx(0.0, abs=1e-6)
    together = made.kneighbors(rows[:4] + 0.01, 4, False, groups=["b", "b", "a", "a"])
    assert [set(one[:2].tolist()) for one in together] == [{2, 3}, {0, 1}]


@pytest.mark.parametrize("wanted", [0, 20, 2.5, True])
def test_a_number_of_neighbours_that_makes_no_sense_is_refused(wanted: Any) -> None:
    made = SetNeighbors(reranker="baseline").fit(np.random.default_rng(1).normal(size=(20, 8)))
    with pytest.raises(ValueError, match="whole number from 1 to 19"):
        made.kneighbors(n_neighbors=wanted)


def test_groups_that_do_not_fit_are_refused() -> None:
    rows = np.random.default_rng(1).normal(size=(4, 8))
    with pytest.raises(ValueError, match=r"one for each of 4 rows, got shape \(3,\)"):
        SetNeighbors().fit(rows, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="among 2 or more sets, got 1"):
        SetNeighbors().fit(rows, groups=[1, 1, 1, 1])


def test_a_constant_vector_is_one_like_any_other_and_zero_is_a_stranger_to_all() -> None:
    rows = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.1], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    distances, indices = SetNeighbors(3, reranker="baseline").fit(rows).kneighbors()
    assert indices[0, 0] == 1
    assert distances[3] == pytest.approx(1.0)
