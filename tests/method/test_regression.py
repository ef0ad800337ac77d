"""Training examples: how many, from whom, and always the same for a seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from lookalike.errors import BadInput
from lookalike.kernels.svr import rbf
from lookalike.method import regression
from lookalike.method.metafeatures import metafeatures
from lookalike.method.proxies import proxy_slots
from lookalike.method.regression import (
    QUERIES,
    TARGETS,
    draw_examples,
    draw_near_examples,
    far_from,
    features_about,
    features_asked,
    mutual_nearest,
)
from lookalike.method.tables import Tables
from lookalike.parameters import EPSILON, GAMMA, PENALTY
from lookalike.search.estimator import QuasiTransitiveRegressor
from tests.method.samples import A, B, C, random_sets, row_of, tables_of


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def gallery() -> Tables:
    return tables_of(random_sets(12, seed=3), count=5)


def pairs(tables: Tables, references: list[int], proxies: int) -> list[tuple[int, int]]:
    return [(r, int(p)) for r in references for p in tables.neighbours.sets[r, :proxies]]


def test_two_sets_by_hand() -> None:
    # B and C have two faces each, and are each other's proxy: two positives and two negatives for each.
    found = draw_examples(tables_of([B, C]), rng())
    assert found.y.tolist() == [1, 1, 0, 0, 1, 1, 0, 0]
    # Reference B, proxy C: s3 = 0.96 through B1, C0. Query B0, target's mode B1: B0.C0 = 0.6 at C0,
    # B0.B1 = 0.8, C0.C0 = 1, B1.B1 = 1; and the other way round, B1.C0 = 0.96, B1.B0 = 0.8, 1, B0.B1 = 0.8.
    np.testing.assert_allclose(found.x[:2], [[0.6, 0.8, 0.96, 1, 1], [0.96, 0.8, 0.96, 1, 0.8]], atol=1e-6)
    # Query C0, proxy's mode C1: C0.C1 = 0, C0.B1 = 0.96, C1.C0 = 0, B1.B1 = 1; and the other way round,
    # C1.C0 = 0, C1.B0 = 0.224, C0.C0 = 1, B0.B1 = 0.8.
    np.testing.assert_allclose(found.x[2:4], [[0, 0.96, 0.96, 0, 1], [0, 0.224, 0.96, 1, 0.8]], atol=1e-6)


def test_every_reference_and_each_of_its_proxies(gallery: Tables) -> None:
    found = draw_examples(gallery, rng(), references=12, proxies=3)
    faces = gallery.similarity.sizes(gallery.sets)
    expected = pairs(gallery, list(range(12)), 3)
    assert (found.y == 1).sum() == sum(faces[r] * (faces[r] - 1) for r, _ in expected)
    assert (found.y == 0).sum() == sum(faces[p] * (faces[p] - 1) for _, p in expected)
    whole = [gallery.similarity.examples(gallery.sets[r], gallery.sets[p]) for r, p in expected]
    np.testing.assert_array_equal(found.x, np.concatenate([rows for pair in whole for rows in pair]))


def test_subspaces_give_a_row_for_each_face() -> None:
    tables = tables_of(random_sets(8, seed=4), "max_correlation", count=3)
    found = draw_examples(tables, rng(), references=8, proxies=2)
    faces = np.diff(tables.sets.starts["faces"])
    assert (found.y == 1).sum() == 2 * faces.sum()
    assert (found.y == 0).sum() == sum(faces[p] for _, p in pairs(tables, list(range(8)), 2))


def test_few_references_are_chosen_at_random(gallery: Tables) -> None:
    def rows_of(reference: int) -> int:
        return sum(
            len(rows)
            for _, p in pairs(gallery, [reference], 2)
            for rows in gallery.similarity.examples(gallery.sets[reference], gallery.sets[p])
        )

    possible = {rows_of(reference) for reference in range(12)}
    counts = {len(draw_examples(gallery, rng(seed), references=1, proxies=2).x) for seed in range(20)}
    assert counts <= possible
    assert len(counts) > 2


def test_not_more_references_than_the_gallery_has(gallery: Tables) -> None:
    many, all_of_them = (draw_examples(gallery, rng(), references=count) for count in (200, 12))
    np.testing.assert_array_equal(many.x, all_of_them.x)


def test_seeded(gallery: Tables) -> None:
    for most in (400_000, 50):
        once, again = (draw_examples(gallery, rng(5), references=4, most=most) for _ in range(2))
        np.testing.assert_array_equal(once.x, again.x)
        np.testing.assert_array_equal(once.y, again.y)
        other = draw_examples(gallery, rng(6), references=4, most=most)
        assert other.x.shape != once.x.shape or (other.x != once.x).any()


def test_most_is_respected(gallery: Tables) -> None:
    whole = draw_examples(gallery, rng(), references=12)
    some = draw_examples(gallery, rng(), references=12, most=30)
    assert some.x.shape == (30, 5)
    assert some.y.shape == (30,)
    known = {(*row, y) for row, y in zip(whole.x.tolist(), whole.y, strict=True)}
    assert {(*row, y) for row, y in zip(some.x.tolist(), some.y, strict=True)} <= known
    assert 0 < some.y.sum() < 30


def test_threads_do_not_show(gallery: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        found.append(draw_examples(gallery, rng()).x)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("sets", [[B], [A, C[:1]]])
def test_nothing_to_draw_from(sets: list[np.ndarray]) -> None:
    # A set alone has no proxies; faces alone have no pairs.
    found = draw_examples(tables_of(sets), rng())
    assert found.x.shape == (0, 5)
    assert found.y.shape == (0,)


def test_progress_is_shown(gallery: Tables) -> None:
    seen = []

    def track(items, text, total):
        for item in items:
            seen.append((text, total))
            yield item

    draw_examples(gallery, rng(), references=3, proxies=2, track=track)
    assert seen == [("drawing examples", 6)] * 6


def test_near_each_other_is_near_from_both_sides() -> None:
    # Five sets: each has four others, of which three are its nearest.
    tables = tables_of(random_sets(12, seed=4))
    near = tables.neighbours.sets[:, :3]
    for one in range(12):
        for other in range(12):
            both = other in near[one] and one in near[other]
            assert (other in mutual_nearest(tables, one)) == both == (one in mutual_nearest(tables, other))


def test_near_examples_by_hand() -> None:
    # Three sets are all near each other: two targets of each reference, both kin, one proxy each.
    tables = tables_of([A, B, C])
    found = draw_near_examples(tables, rng())
    assert found.y.tolist() == [1.0] * 6
    np.testing.assert_allclose(found.x[1], [0.8, 0.28, 0.96, 0.8, 0.0], atol=1e-6)  # A asks about C through B


def test_near_examples_are_what_retrieval_meets() -> None:
    tables = tables_of(random_sets(40, seed=3))
    query = next(number for number in range(40) if mutual_nearest(tables, number))
    found = draw_near_examples(tables, rng(), proxies=4, chosen=np.array([query]))
    kin = np.array(mutual_nearest(tables, query))
    assert (found.y == 1).sum() == 4 * len(kin)
    assert (found.y == 0).sum() == 4 * 10
    expected = features_about(tables, query, np.sort(kin), 4).reshape(-1, 5)
    np.testing.assert_array_equal(found.x[found.y == 1], expected)
    others = np.array([number for number in range(40) if number not in (query, *kin)])
    possible = features_about(tables, query, others, 4).reshape(-1, 5)
    assert {tuple(row) for row in found.x[found.y == 0]} <= {tuple(row) for row in possible}


def test_near_examples_are_bounded_and_repeat() -> None:
    tables = tables_of(random_sets(30, seed=3))
    once, again = (draw_near_examples(tables, rng(5), references=9, most=50) for _ in range(2))
    np.testing.assert_array_equal(once.x, again.x)
    assert len(once.x) == len(once.y) == 50
    assert not np.array_equal(once.x, draw_near_examples(tables, rng(6), references=9, most=50).x)


def test_a_set_alone_has_no_near_examples() -> None:
    assert draw_near_examples(tables_of(random_sets(1)), rng()).x.shape == (0, 5)


# What retrieval asks of a regressor, and how much of it is unlike its training.


def test_each_number_common_and_the_pair_never_seen() -> None:
    rng = np.random.default_rng(0)
    line = rng.normal(size=1000)
    training = np.column_stack([line, line + 0.01 * rng.normal(size=1000)])
    inside, across = np.array([[0.5, 0.5]]), np.array([[0.5, -0.5]])
    assert far_from(training, inside) == 0.0
    assert far_from(training, across) == 1.0
    assert far_from(training, training) == pytest.approx(0.01, abs=0.001)


def test_nothing_to_compare() -> None:
    assert far_from(np.empty((0, 5)), np.ones((3, 5))) == 0.0
    assert far_from(np.ones((9, 5)), np.empty((0, 5))) == 0.0


def test_a_number_that_never_changes_in_training() -> None:
    rng = np.random.default_rng(0)
    training = np.column_stack([rng.normal(size=100), np.ones(100)])
    assert far_from(training, np.array([[0.0, 1.0]])) == 0.0
    assert far_from(training, np.array([[0.0, 0.9]])) == 1.0


def test_a_query_a_proxy_and_a_target_by_hand() -> None:
    # A asks about C through B: sim(A, B), sim(A, C), sim(B, C), B0.B1, C1.C0.
    found = features_about(tables_of([A, B, C]), 0, np.array([2]), 10)
    np.testing.assert_allclose(found, [[[0.8, 0.28, 0.96, 0.8, 0.0]]], atol=1e-6)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(2, 14), st.integers(0, 9), st.integers(1, 4), st.sampled_from(["max_max", "max_correlation"])
)
def test_some_targets_are_told_as_all_are(count: int, seed: int, proxies: int, similarity: str) -> None:
    tables = tables_of(random_sets(count, seed=seed, smallest=2), similarity, count=5)
    query = seed % count
    targets = np.array([number for number in range(count) if number != query and (number + seed) % 3])
    if not len(targets):
        return
    row = row_of(tables, query)
    whole = metafeatures(row, tables, proxy_slots(tables.neighbours, proxies, query))
    np.testing.assert_array_equal(features_about(tables, query, targets, proxies), whole[targets])


def test_the_sample_is_the_same_each_time() -> None:
    tables = tables_of(random_sets(30, seed=2))
    once, again = (features_asked(tables, 3) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    # Every set asks, about 20 of the others, three proxies each.
    assert min(30, QUERIES) == 30
    assert once.shape == (30 * TARGETS * 3, 5)


@pytest.mark.parametrize("count", [1, 2])
def test_nobody_to_ask(count: int) -> None:
    # A set alone has no target, two sets have no proxy between them.
    assert features_asked(tables_of(random_sets(count)), 3).shape == (0, 5)


# The regressor: scikit-learn's rules for estimators, and libsvm's optimum.


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


def test_threads_do_not_show_in_a_fit(
    rows: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
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
