from __future__ import annotations

import numpy as np

from lookalike import index, train
from lookalike.evaluation.learning import Met, area_under_roc, features_met
from lookalike.method.regression import TrainingSet, draw_examples, draw_near_examples
from tests.small_world import small_world


def test_area_under_roc_by_hand() -> None:
    # Pairs: 3 > 1, 3 > 2, 2 > 1, 2 = 2 (half): 3.5 of 4.
    assert area_under_roc(np.array([3.0, 2.0]), np.array([1.0, 2.0])) == 3.5 / 4
    assert area_under_roc(np.array([1.0]), np.array([5.0])) == 0.0


def test_training_rows_are_those_of_the_fit_and_rows_are_by_person() -> None:
    sets, labels = small_world(people=6, sets=3)
    tables = index(sets)
    met = features_met(tables, train(tables, "learnt", seed=4), labels, seed=4)
    assert met is not None
    expected = draw_examples(tables, np.random.default_rng(4))
    np.testing.assert_array_equal(met.training.x, expected.x)
    # 18 queries with 2 matches and 15 others, 10 proxies each.
    assert met.matches.shape == (18 * 2 * 10, 5)
    assert met.others.shape == (18 * 15 * 10, 5)
    # Sets of one person are more alike than others.
    assert met.matches[:, 1].mean() > met.others[:, 1].mean() + 0.05
    apart = met.told_apart()
    assert apart["training"] > 0.9
    assert apart["baseline"] == area_under_roc(met.matches[:, 1], met.others[:, 1]) > 0.6
    assert set(met.outside()) == {"matches", "others"}


def test_options_are_asked_as_they_were_trained() -> None:
    sets, labels = small_world(people=6, sets=3)
    tables = index(sets)
    fitted = train(tables, "learnt:examples=near,standardised=true", seed=4)
    met = features_met(tables, fitted, labels, seed=4)
    assert met is not None
    expected = draw_near_examples(tables, np.random.default_rng(4))
    np.testing.assert_array_equal(met.training.x, expected.x)
    # The regressor gets its numbers in units of their spread, as at retrieval.
    rows = met.others[:7]
    np.testing.assert_array_equal(met.predict(rows), fitted.regressor_.predict(fitted.scaling_(rows)))


def test_what_has_no_regressor_meets_nothing() -> None:
    sets, labels = small_world(people=3)
    tables = index(sets)
    for name in ("baseline", "arithmetic_mean"):
        assert features_met(tables, train(tables, name), labels, 0) is None


def test_told_apart_asks_the_regressor() -> None:
    training = TrainingSet(np.array([[1.0] * 5, [0.0] * 5]), np.array([1.0, 0.0]))
    met = Met(training, np.zeros((2, 5)), np.ones((2, 5)), lambda rows: rows[:, 0])
    assert met.told_apart() == {"training": 1.0, "retrieval": 0.0, "baseline": 0.0}
