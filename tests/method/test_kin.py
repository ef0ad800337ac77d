"""Kin: tails by hand, chances, and pooling against sums over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.method import kin as module
from lookalike.method.agreement import LEAST, Reach, closure, reach_of
from lookalike.method.kin import (
    DOUBT,
    FROM,
    FULL,
    GONE,
    LEFT,
    LOOSE,
    LUMPED,
    MOST,
    MOST_STAYING,
    PACKED,
    REVEALED,
    SAME,
    SEEN,
    SHARES,
    STAYING,
    TO,
    UNSEEN,
    Findings,
    Kin,
    Strangers,
    Strengths,
    Tail,
    _findings,
    choose,
    shares_of_strangers,
    trust,
)
from lookalike.method.neighbours import Known
from lookalike.method.tables import PartialRow, Row
from tests.method.dense import filled, lists_of, order_of, row_of, spread, square


def test_a_tail_by_hand() -> None:
    # Three values reach 1.0; behind the first, the excess is 2 and 1 on average 1.5.
    tail = Tail.of(np.array([[9.0, 3.0, 2.0, 1.0]]), 1, 3)
    assert (tail.floor[0], tail.scale[0], tail.size, tail.told) == (1.0, 1.5, 3, 2)
    # At the floor three strangers are expected; one scale above it (1 + 1/2)^2 times fewer, since two values
    # told it; two scales above it (1 + 2/2)^2 times; and e times more one scale below it.
    found = tail.log_strangers(np.array([[1.0, 2.5, 4.0, -0.5]]))
    np.testing.assert_allclose(np.exp(found), [[3, 3 / 2.25, 3 / 4, 3 * np.e]])


def test_the_more_values_tell_a_tail_the_nearer_it_is_to_an_exponential() -> None:
    values = np.array([[4.0]])
    known = np.exp(-4.0)
    expected = [
        np.exp(Tail(np.zeros(1), np.ones(1), 1, told).log_strangers(values))[0, 0]
        for told in (1, 5, 35, 10**6)
    ]
    assert sorted(expected, reverse=True) == expected
    assert expected[0] == pytest.approx(1 / 5)
    assert expected[-1] == pytest.approx(known, rel=1e-4)


def test_a_tail_expects_as_many_as_there_are() -> None:
    """Of many draws from one exponential, those beyond a multiple of what a few others told as their mean."""
    rng = np.random.default_rng(0)
    draws = rng.exponential(size=(100_000, 6))
    best = np.column_stack([-np.sort(-draws[:, :5], axis=1), np.zeros(len(draws))])
    tail = Tail.of(best, 0, 5)
    expected = np.exp(tail.log_strangers(3 * tail.scale[:, None])) / 5
    np.testing.assert_allclose(expected, (1 + 3 / 5) ** -5)
    assert np.mean(draws[:, 5] > 3 * tail.scale) == pytest.approx(expected[0, 0], rel=0.03)


def kin_of(scores: np.ndarray, width: int | None = None) -> Kin:
    known = Known.of(lists_of(scores, width or len(scores) - 1), np.arange(len(scores)), scores)
    return Kin.of(known, known.scores())


def test_chances_by_hand() -> None:
    scores = square(60, 2)
    kin = kin_of(scores)
    order = order_of(scores)
    assert (kin.tail.size, kin.head) == (30, 5)  # no more than half of the others
    best = np.take_along_axis(scores, order, axis=1)
    np.testing.assert_array_equal(kin.sets, order[:, :5])
    floor, scale = best[:, 30], best[:, 5:30].mean(axis=1) - best[:, 30]
    a, b = 7, int(order[7, 0])
    strangers = [30 * (1 + (scores[a, b] - floor[x]) / scale[x] / 25) ** -25 for x in (a, b)]
    assert kin.chances[7, 0] == pytest.approx(1 / (1 + DOUBT * np.sqrt(np.prod(strangers))))


def naive_pool(kin: Kin, values: np.ndarray, query: int | None) -> np.ndarray:
    """Sum over all pairs of somebody with the query's name and somebody with the target's."""
    whole = spread(kin.known, kin.values)
    near, chances = kin.of_row(Row(values, np.empty(0), np.empty(0), query))
    ours = {-1: 1.0, **dict(zip(near.tolist(), chances.tolist(), strict=True))}
    found = np.zeros(len(values))
    for target in range(len(values)):
        theirs = {target: 1.0, **dict(zip(kin.sets[target].tolist(), kin.chances[target], strict=True))}
        top = bottom = 0.0
        for r, weight in ours.items():
            for p, other in theirs.items():
                if r == target or p == query:
                    continue
                value = values[p] if r == -1 else whole[r, p]
                top += weight * other * value
                bottom += weight * other
        found[target] = top / bottom if bottom else 0.0
    return found


@pytest.mark.parametrize("width", [20, None])
def test_pooling_against_all_pairs(width: int | None) -> None:
    scores = square(61, 6)
    inside = scores[:60, :60]
    kin = kin_of(inside, width)
    outside = Row(scores[60, :60], np.empty(0), np.empty(0), None)
    np.testing.assert_allclose(kin.pool(outside), naive_pool(kin, outside.scores, None))
    for query in (0, 31):
        found, expected = kin.pool(row_of(inside, query)), naive_pool(kin, inside[query], query)
        np.testing.assert_allclose(np.delete(found, query), np.delete(expected, query))


def test_known_pairs_are_pooled_as_rows_are_where_all_pairs_are_known() -> None:
    scores = square(60, 6)
    kin = kin_of(scores)
    pooled = spread(kin.known, kin.pooled())
    for query in range(60):
        expected = kin.pool(row_of(scores, query))
        np.testing.assert_allclose(np.delete(pooled[query], query), np.delete(expected, query))


def test_known_pairs_are_pooled_with_known_pairs_only() -> None:
    """What a query from the gallery has with kin of a target is 0 unless it is known."""
    scores = square(60, 6)
    kin = kin_of(scores, 16)
    is_known = spread(kin.known, np.ones(len(kin.values))) > 0
    pooled, whole = spread(kin.known, kin.pooled()), spread(kin.known, kin.values)
    differs = 0
    for query in (0, 31):
        near, chances = kin.of_row(row_of(scores, query))
        np.testing.assert_array_equal(near, kin.sets[query])
        np.testing.assert_allclose(chances, kin.chances[query])
        expected = naive_pool(kin, whole[query], query)
        targets = np.flatnonzero(is_known[query] & (np.arange(60) != query))
        assert len(targets) < 59
        np.testing.assert_allclose(pooled[query, targets], expected[targets])
        differs += not np.allclose(pooled[query, targets], kin.pool(row_of(scores, query))[targets])
    assert differs


def test_pooling_does_not_depend_on_threads_and_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    kin = kin_of(square(300, 1), 20)
    found = []
    for threads, block in (("1", 256), ("3", 256), ("3", 7)):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        monkeypatch.setattr(module, "BLOCK", block)
        found.append(kin.pooled().tobytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("total", "size", "head"),
    [
        (300, 40, 5),
        (60, 30, 5),
        (30, 15, 5),
        (20, 10, 5),
        (16, 8, 4),
    ],  # half of the others, a quarter, 3 of 4
)
def test_small_galleries_have_short_tails(total: int, size: int, head: int) -> None:
    kin = kin_of(square(total, 1))
    assert (kin.tail.size, kin.head, kin.sets.shape[1]) == (size, head, MOST)
    assert np.isfinite(kin.pooled()).all()


def test_where_lists_are_short_tails_are() -> None:
    """Of 12 neighbours of each the last is the floor of the tail."""
    kin = kin_of(square(120, 1), 12)
    assert (kin.tail.size, kin.head) == (11, 5)


def test_some_sets_are_pooled_as_among_all() -> None:
    scores = square(120, 6)
    kin = kin_of(scores, 20)
    for query in (0, 31):
        row = row_of(scores, query)
        near = order_of(scores)[query, : kin.tail.size + 1]  # from which the query's own kin are told
        targets = np.setdiff1d(np.union1d(near, np.arange(0, 120, 7)), [query])
        everybody = PartialRow(np.arange(120), scores[query], query)
        asked = kin.known_of(everybody, targets)
        assert set(asked.sets) == {*targets.tolist(), *kin.sets[targets].ravel().tolist()}
        np.testing.assert_array_equal(kin.pool(asked, targets), kin.pool(row)[targets])


def test_kin_that_are_not_in_a_row_are_taken_for_ordinary_sets() -> None:
    scores = square(120, 6)
    kin = kin_of(scores, 20)
    near = np.sort(order_of(scores)[0, :60])
    kept = near[near != 0]
    part = kin.known_of(PartialRow(kept, scores[0, kept], 0), np.arange(120))
    np.testing.assert_array_equal(part.sets, kept)
    values = np.zeros(120)
    values[kept] = scores[0, kept]
    ordinary = kin.pool(PartialRow(np.arange(120), values, 0), np.arange(120))
    np.testing.assert_array_equal(kin.pool(part, np.arange(120)), ordinary)


def test_a_query_is_no_kin_of_its_own_however_few_sets_there_are() -> None:
    scores = square(60, 2)
    kin = kin_of(scores)
    for count in (4, 10, 60):
        sets = np.arange(count)
        [near, chances] = kin.of_row(PartialRow(sets, scores[3, sets], 3))
        [expected, same] = kin.of_row(PartialRow(np.delete(sets, 3), np.delete(scores[3, sets], 3), 3))
        np.testing.assert_array_equal(near, expected)
        np.testing.assert_array_equal(chances, same)
        assert 3 not in near


def test_without_kin_nothing_is_pooled() -> None:
    scores = square(60, 2)
    kin = kin_of(scores)
    alone = kin._replace(chances=np.zeros_like(kin.chances), tail=kin.tail._replace(floor=np.full(60, 1e9)))
    np.testing.assert_allclose(alone.pool(row_of(scores, 3)), scores[3])
    np.testing.assert_allclose(alone.pooled(), kin.values)


def test_kin_stand_out_where_people_repeat_and_nobody_does_where_nobody_repeats() -> None:
    rng = np.random.default_rng(1)

    def chances(sets: int) -> np.ndarray:
        vectors = rng.normal(size=(240 // sets, 80))[np.arange(240) // sets]
        vectors += 0.3 * rng.normal(size=vectors.shape)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return kin_of(vectors @ vectors.T, 64).chances

    assert np.median(chances(3)[:, 1]) > 0.9
    assert np.median(chances(3)[:, 2]) < 0.1
    assert (chances(1) > 0.5).mean() < 0.02


def test_copies_of_one_set_do_no_harm() -> None:
    scores = np.ones((60, 60))
    kin = kin_of(scores)
    assert np.isfinite(kin.chances).all()
    assert np.isfinite(kin.pool(row_of(scores, 0))).all()
    assert np.isfinite(kin.pooled()).all()


# Strangers: means with cohorts against a loop over all of them.


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


# Strengths: by hand, against squares of all pairs, and what makes one trusted.

Fitted = tuple[Strangers, np.ndarray, Strengths, Findings]
# Reaches of light and of people, as far as it goes: strangers are subtracted whatever else, or not at all.
LIGHT, PEOPLE = Reach(9.0, 0.0), Reach(-9.0, 0.0)
# Of galleries in which two thirds of what is closed stay closed: some of both.
BETWEEN = Reach(0.7, 0.0)


def fitted(scores: np.ndarray, reach: Reach, width: int = 6, known: int | None = None) -> Fitted:
    total = len(scores)
    lists = lists_of(scores, known or total - 1)
    strangers = Strangers(Known.of(lists, np.arange(total), scores), lists.sets[:, : width + 2].copy(), 1)
    means = strangers.around_known()
    return strangers, means, *choose(strangers, means, [row_of(scores, n) for n in range(total)], reach)


def sets_of(people: int, sets: int, light: float, lights: int = 4, seed: int = 0) -> np.ndarray:
    """Similarities of sets of some people, each in one of a few lights."""
    rng = np.random.default_rng(seed)
    total = people * sets
    vectors = rng.normal(size=(people, 60))[np.arange(total) // sets] + 0.9 * rng.normal(size=(total, 60))
    vectors += light * rng.normal(size=(lights, 60))[np.arange(total) % lights]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def found_in(scores: np.ndarray) -> Fitted:
    """The same with the reach that it has."""
    return fitted(scores, reach_of(lists_of(scores, 64).sets, scores), width=30, known=64)


def test_trust_by_hand() -> None:
    # 15 triangles are 4 standard deviations' worth of halves below 24: exp(-9 / (0.5 * 5)).
    shares = trust(np.array([24.0, 15.0]))
    np.testing.assert_allclose(shares, np.array([1, np.exp(-3.6)]) / (1 + np.exp(-3.6)))
    np.testing.assert_allclose(trust(np.zeros(4)), 0.25)


def test_full_strength_is_the_product_without_the_local_mean() -> None:
    # <x - c, y - d> = <x, y> - <x, d> - <c, y> + <c, d>: the last of the factors.
    assert shares_of_strangers()[-1].tolist() == [1, 1, 1]
    assert shares_of_strangers()[0].tolist() == [1, 0, 0]
    assert shares_of_strangers()[2].tolist() == [1, 0.5, 0.25]


@pytest.mark.parametrize("reach", [LIGHT, BETWEEN, PEOPLE])
def test_a_row_and_known_pairs_agree_where_all_pairs_are_known(reach: Reach) -> None:
    scores = square(30, 4)
    strangers, means, strengths, _ = fitted(scores, reach)
    pairs = spread(strangers.known, strengths.of_known(strangers.known, means))
    for query in (0, 13):
        row = row_of(scores, query)
        found = strengths.of_row(row, strangers.around(row))
        others = np.arange(30) != query
        np.testing.assert_allclose(found[others], pairs[query, others], atol=1e-9)


@pytest.mark.parametrize("reach", [LIGHT, PEOPLE])
def test_a_part_of_a_row_that_holds_the_nearest_is_weighed_as_the_whole(reach: Reach) -> None:
    scores = square(60, 4)
    strangers, _, strengths, _ = fitted(scores, reach, known=20)
    whole = row_of(scores, 3)
    found = strengths.of_row(whole, strangers.around(whole))
    sets = np.setdiff1d(np.arange(60), [3, 7, order_of(scores)[3, -1]])
    part = PartialRow(sets, scores[3, sets], 3)
    np.testing.assert_array_equal(strengths.of_row(part, strangers.around(whole, sets)), found[sets])


def test_without_strangers_it_is_the_similarity_less_what_hubs_have() -> None:
    """Of 30 sets the six best tell; as far as lists are closed they are no hub's, and are left in."""
    scores = square(30, 4)
    _, _, strengths, findings = fitted(scores, PEOPLE)
    best = np.take_along_axis(scores, order_of(scores)[:, :6], axis=1).mean(axis=1)
    assert findings.closed == pytest.approx(closure(lists_of(scores - (best[:, None] + best) / 2, 8).sets))
    assert 0 < findings.closed < 1
    level = 1 - findings.closed
    assert strengths.factors.tolist() == [[1, 0, 0]]
    assert strengths.levelled == pytest.approx([level])
    np.testing.assert_allclose(strengths.hubs[0], level * best)
    assert not strengths.subtract
    row = row_of(scores, 5)
    found = strengths.of_row(row, np.zeros((3, 1)))
    expected = scores[5] - level * (best[5] + best) / 2
    np.testing.assert_allclose(
        np.delete(found, 5), np.delete(strengths.gains[0] * (expected - strengths.middles[0]), 5), atol=1e-12
    )


def test_with_strangers_hubs_are_levelled_fully() -> None:
    _, _, strengths, findings = fitted(square(40, 1), LIGHT)
    assert findings.subtracted == 1
    assert strengths.subtract
    np.testing.assert_array_equal(strengths.factors, shares_of_strangers())
    assert (strengths.levelled == 1).all()


def test_in_between_there_is_some_of_both() -> None:
    """The five strengths by their triangles, as far as is subtracted; the plain one as far as not."""
    scores = square(40, 1)
    _, _, strengths, findings = fitted(scores, BETWEEN)
    assert 0 < findings.subtracted < 1
    _, _, light, _ = fitted(scores, LIGHT)
    _, _, people, _ = fitted(scores, PEOPLE)
    share = findings.subtracted
    np.testing.assert_allclose(strengths.gains[:-1], share * light.gains)
    np.testing.assert_allclose(strengths.gains[-1:], (1 - share) * people.gains)
    np.testing.assert_array_equal(strengths.hubs, np.concatenate([light.hubs, people.hubs]))
    np.testing.assert_array_equal(strengths.middles, np.concatenate([light.middles, people.middles]))


@pytest.mark.parametrize("reach", [LIGHT, BETWEEN, PEOPLE])
def test_all_strengths_have_middle_0_and_spread_1(reach: Reach) -> None:
    scores = square(40, 1)
    strangers, _, strengths, findings = fitted(scores, reach, known=12)
    share = findings.subtracted
    trusts = np.append(share * trust(findings.triangles), 1 - share)
    trusts = trusts[trusts > 0]
    assert len(trusts) == len(strengths.gains)
    for place, each in enumerate(trusts):
        only = strengths._replace(
            gains=np.where(np.arange(len(trusts)) == place, strengths.gains / each, 0.0)
        )
        rows = [row_of(scores, n) for n in range(40)]
        values = np.concatenate([np.delete(only.of_row(r, strangers.around(r)), r.member) for r in rows])
        assert np.median(values) == pytest.approx(0, abs=1e-9)
        assert 1.4826 * np.median(np.abs(values)) == pytest.approx(1)


# What is found in a gallery.


def found_by(
    plain: tuple[float, float], without: tuple[float, float], across: float, lumps: float = 0.0
) -> Findings:
    return _findings(np.zeros(5), plain, without, Reach(across, lumps))


def test_findings_by_hand() -> None:
    """Closed by .4 and .2, of which .3 and .15 stay: three quarters. .2 are two thirds of the way to seen."""
    found = found_by((0.4, 0.2), (0.3, 0.15), 0.4, 0.3)
    assert (found.closed, found.reach, found.lumps) == (0.2, 0.4, 0.3)
    assert found.stays == pytest.approx(0.75)
    # 0.4 + 1.5 * (1 - 2/3 * 1/4) - 1.4, of 0.55.
    assert (UNSEEN, SEEN, STAYING, FROM, TO) == (0.1, 0.25, 1.5, 1.4, 1.95)
    assert found.subtracted == pytest.approx((0.4 + 1.5 * (1 - 2 / 3 / 4) - 1.4) / 0.55)


def test_few_people_who_fill_a_gallery_are_not_subtracted() -> None:
    """Closed by .5 in lists of large shares, two thirds of the way to people without doubt; .25 of it stays.

    That is a third of the way from gone to left, so two thirds of two thirds are held back.
    """
    assert (LOOSE, LUMPED, GONE, LEFT) == (0.4, 0.55, 0.2, 0.35)
    found = found_by((0.3, 0.3), (0.1, 0.125), 9.0, 0.5)
    assert found.subtracted == pytest.approx(1 - 2 / 3 * 2 / 3)
    # Nothing stays of people without doubt: nothing is subtracted, however far it reaches.
    assert found_by((0.3, 0.3), (0.1, 0.1), 9.0, LUMPED).subtracted == 0
    # As much as light leaves, or no lumps: all of it is.
    assert found_by((0.3, 0.3), (0.1, LEFT * PACKED), 9.0, PACKED).subtracted == 1
    assert found_by((0.3, 0.3), (0.0, 0.0), 9.0, LOOSE).subtracted == 1


def test_what_is_packed_closer_than_by_light_is_people_unless_subtracting_reveals_more() -> None:
    """Closed by .7 in lists of large shares, half of the way to people without doubt.

    Short lists of near copies stay closed all the same: that says nothing.
    """
    assert (PACKED, FULL, SAME, REVEALED) == (0.65, 0.75, 1.1, 1.3)
    assert found_by((0.3, 0.3), (0.3, 0.3), 9.0, 0.7).subtracted == pytest.approx(0.5)
    assert found_by((0.3, 0.3), (0.3, 0.3), 9.0, FULL).subtracted == 0
    # Half of the way from the same to revealed: 1.2 times as much is closed as before.
    assert found_by((0.3, 0.3), (0.36, 0.36), 9.0, FULL).subtracted == pytest.approx(0.5)
    assert found_by((0.3, 0.3), (0.4, 0.4), 9.0, FULL).subtracted == 1


def test_where_no_groups_show_reach_alone_decides() -> None:
    """What does not stay is nothing that subtracting could destroy."""
    found = []
    for across in np.linspace(-1, 2, 31):
        one, other = (found_by((0.1, UNSEEN), left, across) for left in ((0.0, 0.0), (0.1, 0.1)))
        assert one.stays < other.stays
        assert one.subtracted == other.subtracted
        found.append(one.subtracted)
    assert (found[0], found[-1]) == (0, 1)
    assert any(0 < each < 1 for each in found)


def test_next_to_nothing_closed_does_not_stay_many_times_over() -> None:
    found = found_by((0.0, -0.02), (0.02, 0.01), 0.0)
    assert found.stays == pytest.approx(0.03 / LEAST)
    most = [found_by((0.0, 0.0), (left, left), 0.0).stays for left in (0.1, 0.9)]
    assert most == [MOST_STAYING, MOST_STAYING]


@given(*[st.floats(-0.2, 1)] * 4, st.floats(0, 2), st.floats(-0.2, 1), st.floats(0, 0.5))
def test_more_reach_and_more_that_stays_subtract_more_and_lumps_less(
    short: float, long: float, short_left: float, long_left: float, across: float, lumps: float, more: float
) -> None:
    plain, without = (short, long), (short_left, long_left)
    found = found_by(plain, without, across, lumps).subtracted
    assert 0 <= found <= 1
    assert found_by(plain, without, across + more, lumps).subtracted >= found
    assert found_by(plain, (short_left + more, long_left), across, lumps).subtracted >= found
    assert found_by(plain, without, across, lumps + more).subtracted <= found


def test_triangles_and_closures_are_those_of_the_gallery() -> None:
    """Lists of 3, 4 and 8 with nothing and everything subtracted, by all pairs."""
    scores = square(50, 7)
    strangers, means, _, findings = fitted(scores, Reach(0.3, 0.2))
    ends = []
    for place, each in enumerate(shares_of_strangers()):
        weighed = each[0] * scores + spread(
            strangers.known, each[2] * means[2] - each[1] * (means[0] + means[1])
        )
        order = order_of(weighed)
        best = np.take_along_axis(weighed, order[:, :10], axis=1).mean(axis=1)
        lists = lists_of(weighed - (best[:, None] + best) / 2, 8).sets
        graph = np.zeros((50, 50))
        np.put_along_axis(graph, lists[:, :3], 1, axis=1)
        graph *= graph.T
        assert findings.triangles[place] == np.trace(graph @ graph @ graph) / 6
        ends.append((closure(lists[:, :4]), closure(lists)))
    expected = _findings(findings.triangles, ends[0], ends[-1], Reach(0.3, 0.2))
    np.testing.assert_allclose(findings[1:], expected[1:], atol=1e-12)
    assert len(findings.triangles) == len(SHARES)


@pytest.mark.parametrize(("people", "sets"), [(12, 20), (20, 12), (8, 30)])
def test_people_are_not_subtracted(people: int, sets: int) -> None:
    _, _, strengths, findings = found_in(sets_of(people, sets, 0.0))
    assert findings.subtracted == 0
    assert not strengths.subtract


@pytest.mark.parametrize(
    ("people", "sets", "light", "lights"), [(40, 4, 2.5, 4), (30, 8, 1.5, 8), (20, 12, 1.5, 6)]
)
def test_light_is_subtracted(people: int, sets: int, light: float, lights: int) -> None:
    _, _, strengths, findings = found_in(sets_of(people, sets, light, lights))
    assert findings.subtracted == 1
    assert len(strengths.gains) == len(SHARES)


def test_strangers_are_subtracted_where_they_explain_much() -> None:
    """Only where light is strong, taking it away closes triangles."""
    for light, strong in ((0.0, False), (2.5, True)):
        _, _, _, findings = found_in(sets_of(40, 4, light))
        assert (findings.triangles[-1] > 1.5 * findings.triangles[0]) == strong


@pytest.mark.parametrize("reach", [LIGHT, Reach(0.0, 0.0)])
def test_copies_of_one_set_have_no_spread_and_do_no_harm(reach: Reach) -> None:
    scores = np.ones((30, 30))
    strangers, means, strengths, _ = fitted(scores, reach)
    row = row_of(scores, 3)
    assert np.isfinite(strengths.of_row(row, strangers.around(row))).all()
    assert np.isfinite(strengths.of_known(strangers.known, means)).all()
