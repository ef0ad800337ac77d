"""Learnt quasi-transitivity: a regressor of one landmark, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.method.regression import draw_examples
from lookalike.rerankers.learnt import Learnt
from lookalike.search.estimator import QuasiTransitiveRegressor
from tests.method.samples import A, B, C, random_sets, row_of, tables_of

# v(A, C | B) = [0.8, 0.28, 0.96, 0.8, 0], v(A, B | C) = [0.28, 0.8, 0.96, 0, 0.8]:
# squared distance 2 * 0.52² + 2 * 0.8² = 1.8208, kernel exp(-0.2 * 1.8208) = 0.694785
ABOUT_C = [0.8, 0.28, 0.96, 0.8, 0.0]
KERNEL = np.exp(-0.2 * 1.8208)


def regressor(weight: float, intercept: float) -> dict[str, np.ndarray]:
    """One landmark at v(A, C | B)."""
    return {
        "landmarks": np.array([ABOUT_C]),
        "weights": np.array([weight]),
        "intercept": np.array([intercept]),
        "gamma": np.array([0.2]),
        "training": np.array([0.0, 0.0, 1.0]),
    }


def test_worked_by_hand() -> None:
    tables = tables_of([B, C])
    part = Learnt().from_arrays(regressor(0.5, 0.2))
    row = row_of(tables, A)
    said = part.beliefs(row, tables)
    # C given B: 0.2 + 0.5 * 1; B given C: 0.2 + 0.5 * 0.694785
    np.testing.assert_allclose(said.beliefs, [[0.2 + 0.5 * KERNEL], [0.7]], atol=1e-6)
    assert said.proxies.tolist() == [[1], [0]]
    # 0.7 beats sim(A, C) = 0.28; 0.547 does not beat sim(A, B) = 0.8.
    scored = part.score(row, tables)
    np.testing.assert_allclose(scored.scores, [0.8, 0.7], atol=1e-6)
    assert scored.through.tolist() == [-1, 0]


def test_beliefs_are_clipped_and_regressions_are_not() -> None:
    tables = tables_of([B, C])
    row = row_of(tables, A)
    sure = Learnt().from_arrays(regressor(5.0, 0.2)).beliefs(row, tables)
    np.testing.assert_allclose(sure.regressions, [[0.2 + 5 * KERNEL], [5.2]], atol=1e-5)
    np.testing.assert_array_equal(sure.beliefs, [[1.0], [1.0]])
    doubtful = Learnt().from_arrays(regressor(-5.0, 0.2))
    np.testing.assert_array_equal(doubtful.beliefs(row, tables).beliefs, [[0.0], [0.0]])
    scored = doubtful.score(row, tables)
    np.testing.assert_array_equal(scored.scores, row.scores)  # never below the baseline
    assert scored.through.tolist() == [-1, -1]


def test_learns_from_the_examples_of_the_gallery() -> None:
    tables = tables_of(random_sets(10, seed=6, smallest=3), count=6)
    part = Learnt(proxies=3, references=4, epsilon=0.3, penalty=50.0, gamma=0.5)
    part.fit(tables, np.random.default_rng(3))
    x, y = draw_examples(tables, np.random.default_rng(3), references=4, proxies=3)
    alone = QuasiTransitiveRegressor(epsilon=0.3, penalty=50.0, gamma=0.5).fit(x, y)
    for name, array in alone.to_arrays().items():
        np.testing.assert_array_equal(part.to_arrays()[name], array)


def test_another_seed_may_learn_something_else() -> None:
    tables = tables_of(random_sets(10, seed=6, smallest=3), count=6)
    one, other = (
        Learnt(references=3).fit(tables, np.random.default_rng(seed)).to_arrays() for seed in (1, 2)
    )
    assert one["weights"].shape != other["weights"].shape or (one["weights"] != other["weights"]).any()


def test_sets_of_one_face_teach_nothing() -> None:
    # Exemplars need pairs of faces: the baseline is left alone, and so it is after a round trip.
    tables = tables_of(random_sets(6, seed=3, largest=1))
    part = Learnt().fit(tables, np.random.default_rng(0))
    row = row_of(tables, random_sets(1, seed=4)[0])
    assert part.to_arrays() == {}
    for same in (part, Learnt().from_arrays({})):
        scored = same.score(row, tables)
        np.testing.assert_array_equal(scored.scores, row.scores)
        assert (scored.through == -1).all()
        assert same.beliefs(row, tables).beliefs.shape == (6, 0)


def test_one_kind_of_example_teaches_nothing() -> None:
    # B has pairs, its only proxy A has none: positives without negatives. A's examples of B are the reverse,
    # so only B is drawn as a reference.
    tables = tables_of([A, B])
    for seed in range(10):
        x, y = draw_examples(tables, np.random.default_rng(seed), references=1)
        part = Learnt(references=1).fit(tables, np.random.default_rng(seed))
        assert len(x)
        assert len(np.unique(y)) == 1
        assert part.to_arrays() == {}


@pytest.mark.parametrize("references", [0, -5, 2.5, "all"])
def test_impossible_references_are_refused(references: object) -> None:
    with pytest.raises(BadInput, match="references must be a whole number of at least 1, got"):
        Learnt(references=references).fit(tables_of([B, C]), np.random.default_rng(0))


@pytest.mark.parametrize(("name", "value"), [("epsilon", -1.0), ("penalty", 0.0), ("gamma", -0.2)])
def test_impossible_values_of_the_regressor_are_refused(name: str, value: float) -> None:
    with pytest.raises(BadInput, match=f"the regressor refuses its parameters: {name} must be"):
        Learnt(**{name: value}).fit(tables_of([B, C]), np.random.default_rng(0))


def test_damaged_arrays_are_refused() -> None:
    with pytest.raises(BadInput, match="not a stored regressor"):
        Learnt().from_arrays({"weights": np.ones(3)})


@pytest.mark.parametrize("name", ["epsilon", "penalty", "gamma"])
@pytest.mark.parametrize("value", ["much", None, np.inf])
def test_values_that_are_no_numbers_are_refused(name: str, value: object) -> None:
    with pytest.raises(BadInput, match=name):
        Learnt(**{name: value}).fit(tables_of([B, C]), np.random.default_rng(0))


def test_a_regressor_of_other_numbers_is_refused() -> None:
    rng = np.random.default_rng(0)
    arrays = QuasiTransitiveRegressor().fit(rng.random((20, 4)), rng.integers(0, 2, 20)).to_arrays()
    with pytest.raises(BadInput):
        Learnt().from_arrays(arrays)
