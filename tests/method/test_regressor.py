"""The regressor: scikit-learn's rules for estimators, and libsvm's optimum."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from lookalike.errors import BadInput
from lookalike.kernels.svr import rbf
from lookalike.method.regression import draw_examples
from lookalike.parameters import EPSILON, GAMMA, PENALTY
from lookalike.search.estimator import QuasiTransitiveRegressor
from tests.method.samples import random_sets, tables_of


@parametrize_with_checks([QuasiTransitiveRegressor()])
def test_is_an_estimator_of_scikit_learn(estimator: QuasiTransitiveRegressor, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """1,500 rows as the method draws them from a small gallery."""
    tables = tables_of(random_sets(30, seed=2, people=8, smallest=4, largest=9), count=6)
    x, y = draw_examples(tables, np.random.default_rng(1), most=1500)
    assert len(x) == 1500
    return x, y


@pytest.fixture(scope="module")
def fitted(rows: tuple[np.ndarray, np.ndarray]) -> QuasiTransitiveRegressor:
    return QuasiTransitiveRegressor().fit(*rows)


def test_defaults_are_the_paper_s() -> None:
    given = QuasiTransitiveRegressor().get_params()
    assert (
        (given["epsilon"], given["penalty"], given["gamma"]) == (EPSILON, PENALTY, GAMMA) == (0.4, 1000, 0.2)
    )


def test_agrees_with_libsvm(fitted: QuasiTransitiveRegressor, rows: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = rows
    theirs = SVR(kernel="rbf", gamma=GAMMA, C=PENALTY, epsilon=EPSILON, cache_size=500).fit(x, y)
    duals, support = theirs.dual_coef_[0], theirs.support_vectors_
    beyond = np.maximum(np.abs(y - theirs.predict(x)) - EPSILON, 0)
    objective = 0.5 * duals @ rbf(support, support, GAMMA) @ duals + PENALTY * beyond.sum()
    assert fitted.objective_ == pytest.approx(objective, rel=0.005)
    assert fitted.gap_ <= 1e-6 * fitted.objective_
    np.testing.assert_allclose(fitted.predict(x), theirs.predict(x), atol=0.02)
    # Between the rows too: midpoints of neighbours in the list.
    between = (x[1:] + x[:-1]) / 2
    np.testing.assert_allclose(fitted.predict(between), theirs.predict(between), atol=0.02)


def test_objective_is_that_of_its_own_predictions(
    fitted: QuasiTransitiveRegressor, rows: tuple[np.ndarray, np.ndarray]
) -> None:
    x, y = rows
    centres, weights = fitted.landmarks_, fitted.weights_
    beyond = np.maximum(np.abs(y - fitted.predict(x)) - EPSILON, 0)
    own = 0.5 * weights @ rbf(centres, centres, GAMMA) @ weights + PENALTY * beyond.sum()
    assert fitted.objective_ == pytest.approx(own, rel=1e-4)


def test_believes_positives_more_than_negatives(
    fitted: QuasiTransitiveRegressor, rows: tuple[np.ndarray, np.ndarray]
) -> None:
    x, y = rows
    assert fitted.predict(x[y == 1]).mean() > fitted.predict(x[y == 0]).mean() + 0.1


def test_one_row_equals_many(fitted: QuasiTransitiveRegressor, rows: tuple[np.ndarray, np.ndarray]) -> None:
    x = rows[0][:40]
    alone = np.concatenate([fitted.predict(x[place : place + 1]) for place in range(40)])
    np.testing.assert_array_equal(fitted.predict(x), alone)


def test_arrays_keep_every_bit(fitted: QuasiTransitiveRegressor, rows: tuple[np.ndarray, np.ndarray]) -> None:
    arrays = fitted.to_arrays()
    assert all(isinstance(array, np.ndarray) and array.dtype == np.float64 for array in arrays.values())
    again = QuasiTransitiveRegressor.from_arrays(arrays)
    np.testing.assert_array_equal(again.predict(rows[0]), fitted.predict(rows[0]))
    assert set(again.to_arrays()) == set(arrays)
    for name, array in again.to_arrays().items():
        np.testing.assert_array_equal(array, arrays[name])


def test_threads_do_not_show(rows: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        part = QuasiTransitiveRegressor().fit(rows[0][:300], rows[1][:300])
        found.append(part.predict(rows[0]))
    np.testing.assert_array_equal(*found)


def test_few_landmarks_are_enough_for_some_answer(rows: tuple[np.ndarray, np.ndarray]) -> None:
    part = QuasiTransitiveRegressor(most_landmarks=5).fit(*rows)
    assert part.landmarks_.shape == (5, 5)
    assert part.objective_ >= QuasiTransitiveRegressor(most_landmarks=20).fit(*rows).objective_


def test_rows_the_search_left_out_are_explained_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from lookalike.method import regression

    monkeypatch.setattr(regression, "SEARCHED", 64)
    rng = np.random.default_rng(0)
    x = rng.random((400, 3)) * 0.1
    x[201] = 5.0  # far from everything; with 64 of 400 rows searched, this one is passed over
    y = rng.integers(0, 2, 400).astype(float)
    y[201] = 30.0
    part = QuasiTransitiveRegressor().fit(x, y)
    assert (part.landmarks_ == 5.0).all(axis=1).any()
    assert part.predict(x[201:202])[0] == pytest.approx(30.0, abs=0.41)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": -0.1},
        {"epsilon": np.nan},
        {"penalty": 0},
        {"penalty": -1},
        {"gamma": 0},
        {"gamma": np.nan},
        {"tolerance": 0},
        {"rank_tolerance": -1e-9},
        {"most_landmarks": 0},
    ],
    ids=str,
)
def test_impossible_parameters_are_refused(wrong: dict[str, float]) -> None:
    [name] = wrong
    with pytest.raises(ValueError, match=rf"{name} must be (greater than|at least) 0, got"):
        QuasiTransitiveRegressor(**wrong).fit([[0.0], [1.0]], [0, 1])


def test_constructor_only_stores() -> None:
    assert clone(QuasiTransitiveRegressor(gamma=-3)).gamma == -3


@pytest.mark.parametrize(
    "damage",
    [
        {"landmarks": None},
        {"weights": None},
        {"training": None},
        {"weights": np.ones(3)},
        {"weights": np.ones((2, 2))},
        {"landmarks": np.ones(5)},
        {"landmarks": np.ones((7, 5))},
        {"intercept": np.empty(0)},
        {"intercept": np.array([np.nan])},
        {"gamma": np.array(["wide"])},
        {"training": np.ones(2)},
    ],
    ids=str,
)
def test_bad_arrays_are_refused(
    fitted: QuasiTransitiveRegressor, damage: dict[str, np.ndarray | None]
) -> None:
    arrays = {name: array for name, array in {**fitted.to_arrays(), **damage}.items() if array is not None}
    with pytest.raises(BadInput, match="these arrays are not a stored regressor"):
        QuasiTransitiveRegressor.from_arrays(arrays)


@pytest.mark.parametrize(
    "damage",
    [
        {"training": np.array([1.0, 1.0, np.inf])},
        {"gamma": np.array([-0.2])},
        {"landmarks": "third axis"},
    ],
    ids=str,
)
def test_damaged_arrays(damage: dict) -> None:
    rng = np.random.default_rng(0)
    arrays = QuasiTransitiveRegressor().fit(rng.random((20, 5)), rng.integers(0, 2, 20)).to_arrays()
    if "landmarks" in damage:
        damage = {"landmarks": arrays["landmarks"][:, :, None]}
    with pytest.raises(BadInput, match="not a stored regressor"):
        QuasiTransitiveRegressor.from_arrays({**arrays, **damage})
