"""Evidence: what each kin and each stranger did, told by leaving it out."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.transitivity.evidence import kin_moved, strangers_moved
from lookalike.transitivity.kin import Kin
from lookalike.transitivity.known import Known
from lookalike.transitivity.strangers import Strangers
from lookalike.transitivity.strengths import choose
from lookalike.transitivity.tables import Row
from tests.transitivity.dense import filled, lists_of, order_of, row_of, spread, square

TOTAL = 60


@pytest.fixture(scope="module")
def scores() -> np.ndarray:
    return square(TOTAL, 8)


def kin_of(scores: np.ndarray) -> Kin:
    known = Known.of(lists_of(scores, 30), np.arange(TOTAL), scores)
    return Kin.of(known, known.scores(), 3)


def pooled(kin: Kin, values: np.ndarray, target: int, skipped: int, side: str) -> float:
    """The pooled score of a target for query 0, without one kin of either."""
    whole = spread(kin.known, kin.values)
    near, chances = kin.of_row(Row(values, np.empty(0), np.empty(0), 0))
    ours = {-1: 1.0} | {r: c for r, c in zip(near, chances, strict=True) if r != target}
    theirs = {target: 1.0} | {
        p: c for p, c in zip(kin.sets[target], kin.chances[target], strict=True) if p != 0
    }
    (ours if side == "query" else theirs).pop(skipped, None)
    value = {(r, p): values[p] if r == -1 else whole[r, p] for r in ours for p in theirs}
    top = sum(ours[r] * theirs[p] * value[r, p] for r, p in value)
    return top / sum(ours[r] * theirs[p] for r, p in value)


def test_kin_are_told_by_leaving_each_out(scores: np.ndarray) -> None:
    kin = kin_of(scores)
    values = scores[0]
    for target in (1, 2, 40):
        score = kin.pool(row_of(scores, 0))[target]
        ours, theirs = kin_moved(kin, row_of(scores, 0), target)
        assert target not in ours.sets
        assert 0 not in theirs.sets
        for group, side in ((ours, "query"), (theirs, "target")):
            assert len(group.sets) == len(group.chances) == len(group.moved)
            for number, moved in zip(group.sets, group.moved, strict=True):
                expected = score - pooled(kin, values, target, int(number), side)
                assert moved == pytest.approx(expected, abs=1e-12)


def test_strangers_add_up_to_what_they_did_beyond_their_level(scores: np.ndarray) -> None:
    """All strangers together move a score by what the three means have beyond their levels."""
    known = Known.of(lists_of(scores, 30), np.arange(TOTAL), scores)
    strangers = Strangers(known, order_of(scores)[:, :10].copy(), 1)
    means = strangers.around_known()
    strengths, _ = choose(strangers, means, [row_of(scores, n) for n in range(TOTAL)], 3)
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
    strengths, _ = choose(strangers, strangers.around_known(), [row_of(inside, n) for n in range(59)], 3)
    row = Row(scores[59, :59], np.empty(0), np.empty(0), None)
    ours, theirs = strangers_moved(strangers, strengths, row, 4)
    assert ours.sets.tolist() == [n for n in np.argsort(-row.scores, kind="stable") if n != 4][1:9]
    assert theirs.sets.tolist() == order_of(inside)[4, 1:9].tolist()
