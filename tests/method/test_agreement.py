"""Agreement: by hand, against all pairs in one square, from outside, from parts of a row, and on threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.method import agreement
from lookalike.method.agreement import (
    BY_CHANCE,
    CLEARLY,
    HARDLY,
    LEAST,
    LENGTHS,
    LEVEL,
    SLOPE,
    Agreed,
    Agreement,
    Reach,
    closure,
    closures,
    counted,
    lengths_for,
    reach_of,
    trust,
)
from lookalike.method.kin import LOOSE
from lookalike.method.neighbours import Known
from lookalike.method.tables import PartialRow, Row
from tests.method.dense import Agreeing, closed, lists_of, mutual, order_of, row_of, square


def made(scores: np.ndarray, width: int | None = None) -> Agreement:
    known = Known.of(lists_of(scores, width or len(scores) - 1), np.arange(len(scores)), scores)
    return Agreement.of(known, known.scores())


def outside(values: np.ndarray) -> Row:
    return Row(values, np.empty(0), np.empty(0), None)


def grouped(total: int, people: int, seed: int = 0, noise: float = 0.8) -> np.ndarray:
    """Similarities of sets of a few people who have many each."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(people, 24))[np.arange(total) % people] + noise * rng.normal(size=(total, 24))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def test_whole_groups_agree_and_nobody_else() -> None:
    """Four people with 5 sets who are at right angles but for a trifle: lists of 2 and 4 stay inside."""
    rng = np.random.default_rng(0)
    scores = np.kron(np.eye(4), np.ones((5, 5))) + 1e-3 * rng.random((20, 20))
    scores = (scores + scores.T) / 2
    found = made(scores)
    # Lists of 4 are whole groups: closed, (1 - 4/20) / (1 - 4/20).
    np.testing.assert_allclose(found.closures[:, 1], 1)
    agreed = found.with_query(row_of(scores, 0))
    assert agreed.values[0] == pytest.approx(1)
    assert agreed.values[1:5].min() > 0.5
    assert agreed.values[5:].max() < agreed.values[1:5].min() / 2
    assert agreed.trust == pytest.approx(1, abs=1e-3)


@settings(deadline=None, max_examples=25)
@given(st.integers(20, 100), st.integers(0, 10**6))
def test_a_member_is_as_in_the_square_of_all_pairs(total: int, seed: int) -> None:
    """Up to 128 sets no vector is capped; weights are kept in four bytes."""
    scores = square(total, seed)
    found, twin = made(scores), Agreeing(scores, lengths_for(total).tolist())
    np.testing.assert_allclose(found.closures, twin.alone, atol=1e-12)
    np.testing.assert_allclose(found.trusts, twin.trusts, atol=1e-12)
    for query in (0, total // 2, total - 1):
        agreed = found.with_query(row_of(scores, query))
        np.testing.assert_allclose(agreed.values, twin.member(query), atol=1e-6)
        assert agreed.trust == pytest.approx(trust(twin.trusts[query]))


@settings(deadline=None, max_examples=25)
@given(st.integers(21, 100), st.integers(0, 10**6))
def test_a_query_from_outside_is_as_in_the_square_of_all_pairs(total: int, seed: int) -> None:
    scores = square(total, seed)
    inside, row = scores[:-1, :-1], scores[-1, :-1]
    expected, trusts = Agreeing(inside, lengths_for(total - 1).tolist()).outside(row)
    agreed = made(inside).with_query(outside(row))
    np.testing.assert_allclose(agreed.values, expected, atol=1e-6)
    assert agreed.trust == pytest.approx(trust(trusts))


def test_more_sets_than_a_vector_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the cap it is the square's; with it nearly."""
    scores = grouped(300, 4, noise=1.0)
    twin = Agreeing(scores, lengths_for(300).tolist())
    capped = made(scores)
    assert np.diff(capped.starts).max() == agreement.MOST
    monkeypatch.setattr(agreement, "MOST", 300)
    whole = made(scores)
    assert np.diff(whole.starts).max() > 128
    for query in (0, 150):
        expected, row = twin.member(query), row_of(scores, query)
        np.testing.assert_allclose(whole.with_query(row).values, expected, atol=1e-6)
        np.testing.assert_allclose(capped.with_query(row).values, expected, atol=0.05)
    row = outside(grouped(301, 4, noise=1.0)[-1, :-1])
    np.testing.assert_allclose(whole.with_query(row).values, twin.outside(row.scores)[0], atol=1e-6)


@pytest.mark.parametrize(("total", "people", "noise"), [(60, 20, 0.8), (120, 30, 0.8), (200, 4, 0.8)])
def test_from_outside_a_set_gets_nearly_what_it_gets_as_a_member(
    total: int, people: int, noise: float
) -> None:
    """Not the same: who drops out of a list for the query, and how it closes lists of others, is left out."""
    scores = grouped(total, people, 1, noise)
    whole = made(scores)
    first, common = [], []
    for member in range(0, total, 7):
        others = np.delete(np.arange(total), member)
        found = whole.with_query(row_of(scores, member)).values[others]
        asked = made(scores[np.ix_(others, others)]).with_query(outside(scores[member, others])).values
        places = [np.argsort(np.argsort(-each)) for each in (found, asked)]
        assert np.corrcoef(*places)[0, 1] > 0.97
        first.append(places[1][found.argmax()] < 2)
        common.append(np.count_nonzero((places[0] < 5) & (places[1] < 5)))
    assert np.mean(first) > 0.9
    assert np.mean(common) >= 4


def test_a_part_of_a_row_that_holds_the_nearest_is_enough() -> None:
    scores = grouped(201, 10)
    inside = scores[:-1, :-1]
    found = made(inside)
    nearest = np.argsort(-scores[-1, :-1])[: found.lists.shape[1]]
    sets = np.union1d(nearest, np.arange(0, 200, 7))
    for member, row in ((None, scores[-1, :-1]), (3, inside[3])):
        # A member's vector is kept: whoever is asked about.
        some = sets if member is None else np.array([5, 13, 14])
        whole = found.with_query(Row(row, np.empty(0), np.empty(0), member))
        part = found.with_query(PartialRow(some, row[some], member))
        np.testing.assert_array_equal(part.values, whole.values[some])
        assert part.trust == whole.trust
        np.testing.assert_array_equal(part.columns, whole.columns)


def test_where_less_is_known_of_a_query_than_a_list_takes_shorter_lists_do() -> None:
    """Of 20 sets, lists of 2, 4 and 8 of a gallery that has lists of 16 too."""
    scores = square(61, 3)
    inside, row = scores[:-1, :-1], scores[-1, :-1]
    sets = np.sort(np.argsort(-row)[:10])
    twin = Agreeing(inside, lengths_for(60).tolist())
    # Vectors of the gallery have all lengths; the query's has those up to 8.
    short = Agreeing(inside, [2, 4, 8])
    short.vectors, short.trusts = twin.vectors, twin.trusts
    agreed = made(inside).with_query(PartialRow(sets, row[sets], None))
    expected, trusts = short.outside(row)
    np.testing.assert_allclose(agreed.values, expected[sets], atol=1e-6)
    assert agreed.trust == pytest.approx(trust(trusts))


@pytest.mark.parametrize("count", [0, 1])
def test_of_one_set_no_list_can_be_made(count: int) -> None:
    scores = square(31, 3)
    sets = np.arange(count)
    agreed = made(scores[:-1, :-1]).with_query(PartialRow(sets, scores[-1, sets], None))
    assert (agreed.values.tolist(), agreed.trust, len(agreed.columns)) == ([0.0] * count, 0.0, 0)


def test_where_few_pairs_are_known_lists_are_shorter() -> None:
    """Lists of 20, as those of few sets: of 16 sets, not of 64 of which most would be made up."""
    scores = square(120, 1)
    found = made(scores, 20)
    assert found.lists.shape == (120, 16)
    assert found.floors.shape == found.trusts.shape == (120, 4)
    np.testing.assert_array_equal(found.lists, order_of(scores)[:, :16])
    twin = Agreeing(scores, [2, 4, 8, 16])
    np.testing.assert_allclose(found.with_query(row_of(scores, 7)).values, twin.member(7), atol=1e-6)
    row = square(121, 1)[-1, :-1]
    np.testing.assert_allclose(found.with_query(outside(row)).values, twin.outside(row)[0], atol=1e-6)


def test_a_gallery_of_20_sets() -> None:
    scores = square(20, 5)
    found = made(scores)
    assert found.lists.shape == (20, 8)
    for row in (row_of(scores, 4), outside(square(21, 5)[-1, :-1])):
        agreed = found.with_query(row)
        assert agreed.values.shape == (20,)
        assert agreed.values.min() >= 0
        assert agreed.values.max() <= 1 + 1e-6


def test_vectors_sum_to_1_and_hold_the_set_itself() -> None:
    found = made(grouped(300, 4))
    sums = np.add.reduceat(found.weights, found.starts[:-1])
    np.testing.assert_allclose(sums, 1, rtol=1e-5)
    for one in (0, 299):
        assert one in found.columns[found.starts[one] : found.starts[one + 1]]


def test_entries_are_those_of_the_vector() -> None:
    """The columns and entries of a query are evidence: what its vector and a target's have."""
    scores = square(40, 2)
    found, twin = made(scores), Agreeing(scores, lengths_for(40).tolist())
    for target in (0, 39):
        np.testing.assert_allclose(
            found.entries_of(target, np.arange(40)), twin.vectors[target], rtol=1e-6, atol=1e-12
        )
    assert found.entries_of(3, np.array([], dtype=int)).shape == (0,)
    agreed = found.with_query(row_of(scores, 7))
    np.testing.assert_allclose(agreed.entries, twin.vectors[7, agreed.columns], rtol=1e-6)
    shared = np.minimum(agreed.entries, found.entries_of(9, agreed.columns)).sum()
    assert agreed.values[9] == pytest.approx(shared / (2 - shared))


def test_arrays_keep_every_bit() -> None:
    scores = square(61, 2)
    found = made(scores[:-1, :-1])
    again = Agreement.from_arrays(found.to_arrays())
    for row in (row_of(scores[:-1, :-1], 4), outside(scores[-1, :-1])):
        one, other = found.with_query(row), again.with_query(row)
        for each, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(each, same)


def test_threads_and_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = grouped(300, 30)
    found = []
    for threads, block in (("1", 256), ("3", 256), ("3", 17)):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        monkeypatch.setattr(agreement, "BLOCK", block)
        found.append(made(scores).to_arrays())
    for name, array in found[0].items():
        for other in found[1:]:
            assert array.tobytes() == other[name].tobytes()


def test_copies_of_one_set_do_no_harm() -> None:
    scores = np.ones((60, 60))
    found = made(scores)
    for row in (row_of(scores, 3), outside(scores[0])):
        agreed = found.with_query(row)
        assert np.isfinite(agreed.values).all()
        assert 0 <= agreed.trust <= 1


def test_a_few_copies_agree_with_each_other() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(60, 24))
    vectors[1:6] = vectors[0]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = np.round(vectors @ vectors.T, 12)
    agreed = made(scores).with_query(row_of(scores, 2)).values
    assert set(np.argsort(-agreed)[:6].tolist()) == set(range(6))


def test_a_set_more_or_less_changes_little() -> None:
    scores = grouped(121, 12, 3, noise=1.0)
    whole, less = made(scores), made(scores[:-1, :-1])
    query = 5  # not of the same person as the last
    before = less.with_query(row_of(scores[:-1, :-1], query)).values
    after = whole.with_query(row_of(scores, query)).values[:-1]
    assert np.abs(after - before).max() < 0.1
    assert np.abs(after - before).mean() < 0.01


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6), st.floats(0, 1))
def test_trust_grows_with_what_is_closed_most(closed: list[float], more: float) -> None:
    """0 as long as no more than chance is closed, 1 if everything is."""
    found = trust(np.array(closed))
    assert 0 <= found <= 1
    assert (found == 0) == (max(closed) <= BY_CHANCE)
    assert trust(np.array([*closed, more])) >= found
    assert trust(np.array([*closed, 1.0])) == 1


def test_trust_by_hand() -> None:
    """The root of the share beyond chance: a quarter of it gives a half."""
    assert trust(np.array([0.0, BY_CHANCE + 0.25 * (1 - BY_CHANCE), -0.3])) == pytest.approx(0.5)


# Odds, and who is there.


def agreed_by(values: list[float], closed: list[float], length: float = 0.0) -> Agreed:
    found, nobody = np.array(values), np.empty(0, dtype=np.int64)
    alone = np.ones(len(found)), np.zeros(len(found))
    return Agreed(found, np.array(closed), length, nobody, np.empty(0), 1.0, *alone)


def test_odds_by_hand() -> None:
    assert (SLOPE, LEVEL) == (2.7, -1.5)
    found = agreed_by([0.5, 0.8, 1.0, 0.0], [0.6], 2.4).odds
    even = 2.7 * 2.4 - 1.5 - np.log(4)  # of four sets
    edge = 2.7 * np.log(199)  # nothing is surer than 0.995 and 0.005
    assert found == pytest.approx([even, even + 2.7 * np.log(4), even + edge, even - edge])


def test_odds_where_nothing_is_closed_are_finite_and_small() -> None:
    assert agreed_by([0.5], [0.0, 0.0]).odds == pytest.approx([LEVEL])


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9), st.floats(0, 5), st.floats(0.01, 1))
def test_who_agrees_more_has_the_better_odds(values: list[float], length: float, more: float) -> None:
    found = agreed_by(sorted(values), [0.5], length).odds
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0).all()
    # The same agreement says more where longer lists are closed.
    assert (agreed_by(sorted(values), [0.5], length + more).odds > found).all()


def mean_length(agreed: np.ndarray, trusts: np.ndarray) -> float:
    """Doublings of lists, on average over what is closed around whoever agrees."""
    closed = agreed @ trusts
    return float(np.average(np.log2([2, 4, 8, 16, 32, 64])[: len(closed)], weights=closed))


@pytest.mark.parametrize("total", [40, 100])
def test_the_length_of_lists_is_that_of_all_who_agree(total: int) -> None:
    scores = square(total + 1, 7)
    inside, row = scores[:-1, :-1], scores[-1, :-1]
    found, twin = made(inside), Agreeing(inside, lengths_for(total).tolist())
    for query in (0, total - 1):
        length = found.with_query(row_of(inside, query)).length
        assert length == pytest.approx(mean_length(twin.member(query), twin.trusts), abs=1e-5)
    # A query from outside agrees with itself.
    agreed, trusts = twin.outside(row)
    expected = mean_length(np.append(agreed, 1.0), np.vstack([twin.trusts, trusts]))
    assert found.with_query(outside(row)).length == pytest.approx(expected, abs=1e-5)


def test_the_length_of_lists_is_steadier_than_that_of_one_set() -> None:
    """A tenth of the sets left out: it changes less than by what is closed around the set alone."""
    scores = grouped(120, 10, noise=1.5)
    stay = np.sort(np.random.default_rng(0).permutation(120)[:108])
    rest = scores[np.ix_(stay, stay)]
    whole, less = made(scores), made(rest)
    alone, together = [], []
    for place, number in enumerate(stay.tolist()):
        one, other = np.zeros(120), np.zeros(108)
        one[number] = other[place] = 1
        alone.append(mean_length(one, whole.trusts) - mean_length(other, less.trusts))
        before, after = whole.with_query(row_of(scores, number)), less.with_query(row_of(rest, place))
        together.append(before.length - after.length)
    assert np.std(together) < 0.8 * np.std(alone)


def test_a_part_of_a_row_has_the_length_of_all() -> None:
    scores = grouped(200, 10)
    found, some = made(scores), np.array([5, 13, 14])
    part = found.with_query(PartialRow(some, scores[3, some], 3))
    assert part.length == found.with_query(row_of(scores, 3)).length


@pytest.mark.parametrize(
    ("closed", "clearly"),
    [([0.0, 0.1], 0.0), ([0.3], 0.0), ([0.4, 0.2], 0.5), ([0.1, 0.5], 1.0), ([1.0], 1.0)],
)
def test_how_clear_odds_are_by_hand(closed: list[float], clearly: float) -> None:
    assert (HARDLY, CLEARLY) == (0.3, 0.5)
    assert agreed_by([0.5], closed).clearly == pytest.approx(clearly)


def at_right_angles(people: int, sets: int) -> np.ndarray:
    """Similarities of sets of people of whom no two are more alike than others."""
    rng = np.random.default_rng(0)
    vectors = np.tile(np.eye(people, 40), (sets, 1)) + 0.1 * rng.normal(size=(people * sets, 40))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


@pytest.mark.parametrize(("people", "sets"), [(3, 30), (8, 12), (30, 5)])
def test_people_with_many_sets_are_counted(people: int, sets: int) -> None:
    total = people * sets
    found = made(at_right_angles(people, sets))
    share, count = found.people(np.arange(total))
    assert share > 0.95
    assert count == pytest.approx(people, rel=0.15)
    # From some of the sets, evenly spread, it is nearly the same.
    some = found.people(np.arange(0, total, 3))
    assert some == pytest.approx((share, count), rel=0.15)


def test_where_nobody_has_several_sets_nobody_is_counted() -> None:
    share, count = made(grouped(150, 150)).people(np.arange(150))
    assert share < 0.05
    assert count < 5


def test_mean_trust_is_that_of_the_sets() -> None:
    found = made(square(40, 2))
    assert found.mean_trust == pytest.approx(np.mean([trust(one) for one in found.trusts]))
    # Lists of eight hold the whole person.
    assert made(at_right_angles(8, 9)).mean_trust > 0.99


# Closure: by hand, at chance, of whole groups; and its reach, by which light is told from people.


def of_groups(people: int, sets: int, width: int) -> np.ndarray:
    """Lists in which the others of a group come first, and after these whoever comes next."""
    total = people * sets
    numbers = np.arange(total)
    own = numbers[:, None] // sets == numbers // sets
    return np.argsort(~own * 1.0 + 9 * np.eye(total), axis=1, kind="stable")[:, :width]


def at_random(total: int, width: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.argsort(rng.random((total, total)) + 9 * np.eye(total), axis=1)[:, :width]


def alike(points: np.ndarray) -> np.ndarray:
    """Similarities of points: minus their distances."""
    found: np.ndarray = -np.linalg.norm(points[:, None] - points, axis=2)
    return found


def test_by_hand() -> None:
    lists = np.array([[1, 2, 3], [0, 2, 4], [0, 1, 4], [0, 1, 4], [0, 1, 2]])
    # 0-1-2 and 1-2-4 are closed; at 0, 1 and 2 three pairs meet, at 4 one, at 3 none. Chance is 3 in 5.
    share = np.array([1 / 3, 2 / 3, 2 / 3, 0, 1])
    np.testing.assert_allclose(closures(lists), (share - 0.6) / 0.4)
    assert closure(lists) == pytest.approx((share.mean() - 0.6) / 0.4)


@pytest.mark.parametrize(("people", "sets"), [(10, 3), (6, 9), (3, 17)])
def test_lists_of_whole_groups_are_closed(people: int, sets: int) -> None:
    np.testing.assert_allclose(closures(of_groups(people, sets, sets - 1)), 1)


@pytest.mark.parametrize("k", [2, 8, 64])
def test_lists_at_random_are_not(k: int) -> None:
    """No more than chance, which is counted for lists that are all mutual: these are not."""
    found = closure(at_random(600, k))
    assert -1.2 * k / 600 < found < 0.01


@pytest.mark.parametrize("k", [4, 8, 16])
def test_of_graphs_at_random_nothing_is_left_beyond_chance(k: int) -> None:
    """Pairs in which both are friends by chance k in n: lists are filled up with those who do not answer."""
    rng = np.random.default_rng(1)
    total, found = 120, []
    for _ in range(30):
        friends = np.triu(rng.random((total, total)) < k / total, 1)
        friends = friends | friends.T
        one = [closed(np.flatnonzero(friends[n]), friends, k) for n in range(total)]
        counts = friends.sum(axis=1)
        found.append(np.average(one, weights=counts * (counts - 1)))
    assert np.mean(found) == pytest.approx(0, abs=0.01)


@settings(deadline=None, max_examples=40)
@given(st.integers(5, 40), st.integers(2, 8), st.integers(0, 10**6))
def test_equal_to_the_definition_in_a_square(total: int, k: int, seed: int) -> None:
    k = min(k, total - 2)
    scores = alike(np.random.default_rng(seed).normal(size=(total, 3)))
    graph = mutual(scores, k)
    expected = [closed(np.flatnonzero(graph[one]), graph, k) for one in range(total)]
    np.testing.assert_allclose(closures(lists_of(scores, k).sets), expected, atol=1e-12)


def test_lists_that_are_too_long_for_groups_are_less_closed() -> None:
    """People with 9 sets: the closure peaks at lists of 8."""
    rng = np.random.default_rng(0)
    points = np.repeat(rng.normal(size=(30, 20)), 9, axis=0) + 0.1 * rng.normal(size=(270, 20))
    lists = lists_of(alike(points), 64).sets
    found = {k: closure(lists[:, :k]) for k in LENGTHS}
    assert max(found, key=lambda k: found[k]) == 8
    assert found[8] == pytest.approx(1)
    assert found[64] < 0.5


def test_lengths_by_hand() -> None:
    assert lengths_for(1000).tolist() == list(LENGTHS)
    # 0.8 of 80 are 64, which is not less.
    assert lengths_for(80).tolist() == [2, 4, 8, 16, 32]
    assert lengths_for(81).tolist() == [2, 4, 8, 16, 32, 64]
    assert lengths_for(20).tolist() == [2, 4, 8]
    # Lists that hold all others but one say nothing of who is near.
    assert lengths_for(4).tolist() == [2]
    assert lengths_for(3).tolist() == []


def test_lists_count_less_the_nearer_they_come_to_everybody() -> None:
    """Lists of 16, 32 and 64 of 80 sets: a fifth counts in full, .4 still does, .8 not at all; .5 of 64."""
    np.testing.assert_allclose(counted(np.array([16, 32, 64]), 80), [1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(counted(np.array([32]), 64), [0.75])


def reach(points: np.ndarray, some: int = 100) -> Reach:
    scores = alike(points)
    chosen = np.linspace(0, len(points) - 1, some).astype(int)
    return reach_of(lists_of(scores, 64).sets, scores[np.ix_(chosen, chosen)])


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_what_varies_without_a_break_reaches_across_the_gallery(noise: float) -> None:
    """Light from every side: points on a circle, all at the same distance from what is opposite."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, 240)
    points = np.column_stack([np.cos(angles), np.sin(angles)]) + noise * rng.normal(size=(240, 2))
    assert reach(points).across > 0.6


def test_people_end_somewhere() -> None:
    rng = np.random.default_rng(0)
    for sets in (4, 12, 24):
        people = rng.normal(size=(240 // sets, 40))
        points = np.repeat(people, sets, axis=0) + 0.5 * rng.normal(size=(240, 40))
        assert reach(points).across < 0.35


def test_few_people_are_lumps_and_many_are_not() -> None:
    """Lists of a sixteenth of the gallery hold a person whole, or many people."""
    rng = np.random.default_rng(0)
    found = []
    for people in (2, 3, 6, 60):
        points = np.repeat(rng.normal(size=(people, 40)), 240 // people, axis=0)
        found.append(reach(points + 0.5 * rng.normal(size=(240, 40))).lumps)
    assert min(found[:3]) > 0.9
    assert found[-1] < LOOSE


def test_reach_by_hand() -> None:
    """Two halves of a gallery: what is closed within either is all there is."""
    square = np.kron(np.eye(2), np.ones((5, 5)))
    lists = lists_of(square, 9).sets
    # Lists of 5 of ten: four of the own half and one of the other, the first. Lists of 2 and 4 are the peak.
    half = closure(lists[:, :5])
    peak = max(closure(lists[:, :2]), closure(lists[:, :4]))
    assert peak == 1
    found = reach_of(lists, square)
    assert found.across == pytest.approx(max(0.0, half))
    # Of shares of ten sets, which are two or more: 2, 2, 2, 2, 3 and 5.
    assert found.lumps == max(closure(lists[:, :k]) for k in (2, 3, 5))


def test_where_short_lists_are_not_closed_long_ones_may_be() -> None:
    """What is closed is compared with the most closed of all lists, of whatever length."""
    square = np.kron(np.eye(2), np.ones((20, 20)))
    found = reach_of(at_random(200, 64), square)
    long = [max(2, int(share * 40)) for share in (1 / 16, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2)]
    each = [closure(lists_of(square, 39).sets[:, :k]) for k in long]
    assert found == pytest.approx((max(0.0, each[-1]) / max(each), max(each)))


def test_where_nothing_is_closed_reach_is_small_and_finite() -> None:
    lists = at_random(200, 64)
    square = np.random.default_rng(3).random((100, 100))
    found = reach_of(lists, square)
    assert 0 <= found.across < 0.5
    assert found.lumps < LEAST
    assert closure(lists[:, :8]) < LEAST


def test_a_square_is_left_as_it_was() -> None:
    square = alike(np.random.default_rng(0).normal(size=(30, 2)))
    kept = square.copy()
    reach_of(lists_of(square, 20).sets, square)
    np.testing.assert_array_equal(square, kept)
