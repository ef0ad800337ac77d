"""Evidence: what each kin, stranger and neighbour added; together it is what the method did."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.method.agreement import Agreement, Reach
from lookalike.method.kin import (
    Kin,
    Strangers,
    added_by_pairs,
    choose,
    kin_moved,
    neighbours_shared,
    strangers_moved,
)
from lookalike.method.neighbours import Known
from lookalike.method.tables import Row
from tests.method.dense import filled, lists_of, order_of, row_of, square

TOTAL = 60
# Strangers are subtracted, whatever else is found.
LIGHT = Reach(3.0, 0.0)


@pytest.fixture(scope="module")
def scores() -> np.ndarray:
    return square(TOTAL, 8)


def kin_of(scores: np.ndarray) -> Kin:
    known = Known.of(lists_of(scores, 30), np.arange(len(scores)), scores)
    return Kin.of(known, known.scores())


def test_what_pairs_add_by_hand() -> None:
    """A query with one kin, half a chance, and a target with one, a quarter: weights 1, 1/4; 1/2, 1/8."""
    table = np.array([[4.0, 1.0], [2.0, 6.0]])
    ours, theirs = added_by_pairs(table, np.array([1.0, 0.5]), np.array([1.0, 0.25]))
    # Of 15/8: the kin of the query -2 * 1/2 with the target, half of 2 * 1/8 with the other kin.
    assert ours == pytest.approx([(-1 + 1 / 8) / (15 / 8)])
    assert theirs == pytest.approx([(-3 / 4 + 1 / 8) / (15 / 8)])
    assert 4 + ours[0] + theirs[0] == pytest.approx((4 + 1 / 4 + 2 / 2 + 6 / 8) / (15 / 8))


@pytest.mark.parametrize("member", [0, 17, None])
def test_kin_add_up_to_what_pooling_did(scores: np.ndarray, member: int | None) -> None:
    inside = scores[:59, :59]
    kin = kin_of(inside)
    row = Row(scores[59, :59], np.empty(0), np.empty(0), None) if member is None else row_of(inside, member)
    pooled, near = kin.pool(row), kin.of_row(row)[0]
    for target in {*near.tolist(), *range(1, 17), 40}:
        ours, theirs = kin_moved(kin, row, target)
        assert target not in ours.sets
        assert member not in theirs.sets
        for group in (ours, theirs):
            assert len(group.sets) == len(group.chances) == len(group.moved)
        moved = ours.moved.sum() + theirs.moved.sum()
        assert row.scores[target] + moved == pytest.approx(pooled[target], abs=1e-12)


@pytest.mark.parametrize("member", [0, 17, None])
def test_neighbours_have_what_both_lists_name(scores: np.ndarray, member: int | None) -> None:
    """The agreement is theirs, but for what query and target have as named around each other."""
    inside = scores[:59, :59]
    known = Known.of(lists_of(inside, 58), np.arange(59), inside)
    agreement = Agreement.of(known, known.scores())
    row = Row(scores[59, :59], np.empty(0), np.empty(0), None) if member is None else row_of(inside, member)
    agreed = agreement.with_query(row)
    ours = dict(zip(agreed.columns.tolist(), agreed.entries.tolist(), strict=True))
    alone, shrunk, own = 0, agreed.shrunk, agreed.own
    # A query from outside is named around the sets of the gallery too.
    assert own.any() == (member is None)
    for target in range(59):
        if target == member:
            continue
        found = neighbours_shared(agreement, agreed, row, target)
        whole = agreed.values[target]
        named = set(found.sets.tolist())
        assert not named & {target, member}
        assert (found.moved > 0).all()
        assert found.moved.sum() <= whole + 1e-12
        alone += found.moved.sum() < 0.9 * whole
        theirs = agreement.entries_of(target, np.arange(59)) / shrunk[target]
        lesser = {n: min(ours[n], theirs[n]) for n in ours if theirs[n] > 0}
        shared = 2 * whole / (1 + whole)
        assert shared == pytest.approx(sum(lesser.values()) + own[target])
        assert named == set(lesser) - {target, member}
        for number, moved in zip(found.sets.tolist(), found.moved.tolist(), strict=True):
            assert moved == pytest.approx(whole * lesser[number] / shared)
    assert alone


def test_strangers_add_up_to_what_they_did_beyond_their_level(scores: np.ndarray) -> None:
    """All strangers together move a score by what the three means have beyond their levels."""
    known = Known.of(lists_of(scores, 30), np.arange(TOTAL), scores)
    strangers = Strangers(known, order_of(scores)[:, :10].copy(), 1)
    means = strangers.around_known()
    strengths, _ = choose(strangers, means, [row_of(scores, n) for n in range(TOTAL)], LIGHT)
    row, target = row_of(scores, 0), 7
    ours, theirs = strangers_moved(strangers, strengths, row, target)
    assert len(ours.sets) == len(theirs.sets) == strangers.width
    found = strangers.around(row)[:, target]
    levels, level = known.levels, known.level
    own = np.median(row.scores - level - levels)
    expected = [
        level + own + levels[theirs.sets].mean(),
        level + levels[ours.sets].mean() + levels[target],
        level + levels[ours.sets].mean() + levels[theirs.sets].mean(),
    ]
    beyond = found - expected
    _, subtracted, given_back = strengths.gains @ strengths.factors
    moved = ours.moved.sum() + theirs.moved.sum()
    assert moved == pytest.approx(given_back * beyond[2] - subtracted * (beyond[0] + beyond[1]), abs=1e-12)
    whole = filled(known)
    assert found[1] == pytest.approx(whole[ours.sets, target].mean())


def test_a_query_from_outside(scores: np.ndarray) -> None:
    inside = scores[:59, :59]
    known = Known.of(lists_of(inside, 30), np.arange(59), inside)
    strangers = Strangers(known, order_of(inside)[:, :10].copy(), 1)
    strengths, _ = choose(strangers, strangers.around_known(), [row_of(inside, n) for n in range(59)], LIGHT)
    row = Row(scores[59, :59], np.empty(0), np.empty(0), None)
    ours, theirs = strangers_moved(strangers, strengths, row, 4)
    assert ours.sets.tolist() == [n for n in np.argsort(-row.scores, kind="stable") if n != 4][1:9]
    assert theirs.sets.tolist() == order_of(inside)[4, 1:9].tolist()
