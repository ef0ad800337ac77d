"""What retrieval asks of a regressor, and how much of it is unlike its training."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.method.metafeatures import metafeatures
from lookalike.method.proxies import proxy_slots
from lookalike.method.regression import QUERIES, TARGETS, far_from, features_about, features_asked
from tests.method.samples import A, B, C, random_sets, row_of, tables_of


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
