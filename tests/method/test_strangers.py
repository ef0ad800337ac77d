"""Strangers: means with cohorts against a loop over all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.method.kin import Strangers
from lookalike.method.neighbours import Known
from lookalike.method.tables import Row
from tests.method.dense import filled, lists_of, order_of, row_of, square


def strangers_of(scores: np.ndarray, width: int, skip: int, known: int) -> Strangers:
    lists = lists_of(scores, known)
    return Strangers(
        Known.of(lists, np.arange(len(scores)), scores), lists.sets[:, : skip + width + 1].copy(), skip
    )


def naive(strangers: Strangers, own: list[int], row: np.ndarray, target: int, member: int) -> list[float]:
    """The three means, one number after the other; ``own`` are the query's neighbours, nearest first."""
    skip, width, whole = strangers.skip, strangers.width, filled(strangers.known)
    theirs = [p for p in strangers.lists[target] if p != member][skip : skip + width]
    ours = [r for r in own if r != target][skip : skip + width]
    between = [whole[r, p] for r in ours for p in theirs]
    return [np.mean(row[theirs]), np.mean(whole[ours, target]), np.mean(between)]


@settings(deadline=None)  # the first call compiles
@given(st.integers(14, 30), st.integers(1, 5), st.integers(0, 4), st.integers(0, 99))
def test_a_member_against_a_loop(total: int, width: int, skip: int, seed: int) -> None:
    scores = square(total, seed)
    strangers = strangers_of(scores, width, skip, 12)
    order = order_of(scores)
    for query in (0, total // 2):
        found = strangers.around(row_of(scores, query))
        for target in set(range(total)) - {query}:
            expected = naive(strangers, order[query].tolist(), scores[query], target, query)
            np.testing.assert_allclose(found[:, target], expected, atol=1e-12)


@settings(deadline=None)  # the first call compiles
@given(
    st.integers(14, 30),
    st.integers(1, 5),
    st.integers(0, 4),
    st.sampled_from([None, 0, 7]),
    st.integers(0, 99),
)
def test_numpy_has_the_bits_of_the_compiled_loop(
    total: int, width: int, skip: int, member: int | None, seed: int
) -> None:
    scores = square(total, seed)
    strangers = strangers_of(scores, width, skip, 12)
    row = row_of(scores, 0)._replace(member=member)
    targets = np.flatnonzero(np.random.default_rng(seed).random(total) < 0.7)
    fast, slow = strangers.around(row, targets), None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lookalike.method.kin.is_worthwhile", lambda products: False)
        slow = strangers.around(row, targets)
    np.testing.assert_array_equal(slow, fast)


def test_a_query_from_outside_against_a_loop() -> None:
    scores = square(31, 5)
    inside = scores[:30, :30]
    strangers = strangers_of(inside, 6, 2, 10)
    row = scores[30, :30]
    found = strangers.around(Row(row, np.empty(0), np.empty(0), None))
    own = np.argsort(-row, kind="stable").tolist()
    for target in range(30):
        np.testing.assert_allclose(found[:, target], naive(strangers, own, row, target, -1), atol=1e-12)


@pytest.mark.parametrize("skip", [0, 1, 4])
def test_known_pairs_against_a_loop(skip: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = square(40, 3)
    strangers = strangers_of(scores, 5, skip, 10)
    monkeypatch.setattr("lookalike.method.kin.BLOCK", 7)
    found, known = strangers.around_known(), strangers.known
    whole, order = filled(known), order_of(scores)
    for place, (query, target) in enumerate(zip(known.owners, known.sets, strict=True)):
        if query != target:
            expected = naive(strangers, order[query].tolist(), whole[query], target, query)
            np.testing.assert_allclose(found[:, place], expected, atol=1e-12)


def test_where_sets_bring_their_level_only_strangers_explain_everything() -> None:
    brought = np.linspace(0, 1, 24)
    scores = brought[:, None] + brought
    strangers = strangers_of(scores, 5, 1, 8)
    found = strangers.around(row_of(scores, 3))
    weighed = scores[3] - found[0] - found[1] + found[2]
    # Cohorts with each other are known, but for a set with itself, which has what an ordinary pair has.
    assert np.std(np.delete(weighed, 3)) < 0.02 * np.std(scores[3])
