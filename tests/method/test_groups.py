"""Groups: the score by hand, and what holds whatever the gallery."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import FaceSet, index, train
from lookalike.method.agreement import Agreement
from lookalike.method.groups import (
    Bonds,
    Groups,
    agreement_of_few,
    mean_directions,
    propose,
    strangers_of,
    surely_alike,
)
from lookalike.method.tables import Tables
from tests.small_world import small_world


def proposed(tables: Tables, bonds: Bonds) -> Groups:
    agreement: Agreement | None = train(tables, "auto").agreement_  # type: ignore[attr-defined]
    assert agreement is not None
    return propose(agreement, mean_directions(*tables.similarity.faces(tables.sets)), bonds)  # type: ignore[arg-type]


def a_world(seed: int = 0) -> tuple[Tables, np.ndarray]:
    sets, labels = small_world(6, 6, seed=seed, dimension=24, spread=0.5)
    tables = index(sets)
    return tables, np.array([labels[one] for one in tables.ids])


# Two sets of one person at a cosine of 0.8, and somebody else.
THREE = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("closed", "same_person", "joined"), [(0.64, 1.0, True), (0.04, 1.0, False), (0.04, 0.7, True)]
)
def test_the_score_of_two_sets_by_hand(closed: float, same_person: float, joined: bool) -> None:
    # The two of one person name each other.
    agreement = Agreement(
        lists=np.array([[1], [0], [1]]),
        floors=np.zeros((3, 1)),
        closures=np.zeros((3, 1)),
        trusts=np.array([[0.81], [closed], [0.25]]),
        starts=np.array([0, 2, 4, 5]),
        columns=np.array([0, 1, 0, 1, 2], dtype=np.int32),
        weights=np.array([0.5, 0.5, 0.5, 0.5, 1.0], dtype=np.float32),
    )
    # Strangers are 0 and 0.6 alike: 0.6, the middle of 0, 0.6 and 0.8, each twice. Below it are zeros.
    assert strangers_of(THREE) == pytest.approx((0.6, 1.4826 * 0.6))
    found = propose(agreement, THREE, Bonds.none(3), same_person)
    # Their vectors are the same, but no agreement is surer than 0.99; trust is the root of the lower closure.
    by_spread = 0.64 * 0.4 / (1.4826 * 0.6)
    score = (8 + by_spread) * 0.5 + 3.6 * math.sqrt(closed) + 1.25 * math.log(0.99 / 0.01) - 9.3
    # A single pair is proposed if it is wrong once in five times at most; else it is asked about.
    assert (1 / (1 + math.exp(score)) <= 0.2) is (closed > 0.5)
    if same_person < 1:  # a tenth of one of the three pairs lies above 0.649: 1.834 spreads of 0.1 / 3.719
        score += 6
    if joined:
        assert found.owners.tolist() == [0, 0, 2]
        assert found.weakest[0] == pytest.approx(score)
        assert found.probability(0) == pytest.approx(1 / (1 + math.exp(-(score - 0.2))))
    else:
        assert found.owners.tolist() == [0, 1, 2]
        assert dict(zip(map(tuple, found.pairs.tolist()), found.scores, strict=True))[0, 1] == pytest.approx(
            score
        )


@pytest.mark.parametrize("total", [2, 16, 45, 571, 100_000])
def test_so_alike_that_hardly_a_pair_of_strangers_is(total: int) -> None:
    found = surely_alike(0.1, 0.5, total)
    # One pair in 10,000 lies above 0.5, 3.719 spreads from 0.1, and a tenth of one of all pairs above that.
    place = (found - 0.1) / (0.4 / 3.719016)
    expected = math.erfc(place / math.sqrt(2)) / 2 * total * (total - 1) / 2
    assert expected == pytest.approx(0.1, rel=1e-3)
    assert (found < 0.5) is (total <= 45)


def test_nothing_is_so_alike_where_no_level_is_known_or_strangers_reach_it() -> None:
    assert surely_alike(0.1, 1.0, 50) == surely_alike(0.49, 0.5, 50) == math.inf


def test_strangers_are_told_without_kin() -> None:
    rng = np.random.default_rng(3)
    people = rng.normal(size=(40, 32)) + 0.5
    vectors = np.repeat(people, 5, axis=0) + 0.1 * rng.normal(size=(200, 32))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    table = vectors @ vectors.T
    person = np.repeat(np.arange(40), 5)
    others = table[person[:, None] != person]
    middle = np.median(others)
    spread = 1.4826 * np.median(middle - others[others < middle])
    assert strangers_of(vectors) == pytest.approx((middle, spread), abs=0.02)


def test_people_are_found_and_nobody_is_mixed() -> None:
    tables, people = a_world()
    found = proposed(tables, Bonds.none(len(tables)))
    groups = [people[found.owners == one] for one in np.unique(found.owners)]
    assert all(len(set(group)) == 1 for group in groups)
    assert sum(len(group) > 1 for group in groups) >= 6


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_what_is_certain_is_never_contradicted(data: st.DataObject) -> None:
    tables, _ = a_world(data.draw(st.integers(0, 3)))
    total = len(tables)
    number = st.integers(0, total - 1)
    leaders, names = np.arange(total), np.full(total, -1)
    for group in data.draw(st.lists(st.sets(number, min_size=2, max_size=6), max_size=3)):
        alone = sorted(one for one in group if leaders[one] == one and (leaders == one).sum() == 1)
        if len(alone) > 1:
            leaders[alone] = alone[0]
    for one in data.draw(st.sets(number, max_size=4)):
        names[leaders == leaders[one]] = leaders[one]
    pairs = [
        (min(pair), max(pair))
        for pair in data.draw(st.lists(st.tuples(number, number), max_size=40))
        if leaders[pair[0]] != leaders[pair[1]]
    ]
    rejected = [(one, 7) for one in sorted(data.draw(st.sets(number, max_size=12)))]
    bonds = Bonds(
        leaders,
        names,
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        np.array(rejected, dtype=np.int64).reshape(-1, 2),
    )
    found = proposed(tables, bonds)
    owners = found.owners
    assert (owners == owners[leaders]).all()
    assert all(owners[one] != owners[other] for one, other in pairs)
    for group in np.unique(owners):
        assert len(set(names[(owners == group) & (names >= 0)].tolist())) <= 1
    for one, _ in rejected:
        for other, _ in rejected:
            assert owners[one] != owners[other] or leaders[one] == leaders[other]
    asked = {tuple(pair) for pair in found.pairs.tolist()}
    assert not asked & {(min(owners[list(pair)]), max(owners[list(pair)])) for pair in pairs}


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 5), shuffled=st.permutations(range(36)))
def test_the_order_of_sets_does_not_matter(seed: int, shuffled: list[int]) -> None:
    sets, _ = small_world(6, 6, seed=seed, dimension=24, spread=0.5)
    before, after = ([FaceSet(f"{place:03d}", one.faces) for place, one in enumerate(order)] for order in (
        sets, [sets[place] for place in shuffled]
    ))  # fmt: skip
    one, other = (proposed(tables, Bonds.none(36)).owners for tables in (index(before), index(after)))
    groups = {frozenset(np.flatnonzero(one == owner).tolist()) for owner in np.unique(one)}
    assert groups == {
        frozenset(shuffled[place] for place in np.flatnonzero(other == owner)) for owner in np.unique(other)
    }


def test_any_number_of_threads_proposes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    tables, _ = a_world(1)
    monkeypatch.setenv("LOOKALIKE_THREADS", "1")
    one = proposed(tables, Bonds.none(len(tables)))
    monkeypatch.setenv("LOOKALIKE_THREADS", "3")
    three = proposed(tables, Bonds.none(len(tables)))
    for name, array in one.to_arrays().items():
        assert (array == three.to_arrays()[name]).all(), name


def test_a_few_sets_are_grouped_by_themselves() -> None:
    sets, labels = small_world(3, 4, dimension=24, spread=0.3)
    tables = index(sets)
    agreement = agreement_of_few(tables)
    assert agreement is not None
    found = propose(agreement, mean_directions(*tables.similarity.faces(tables.sets)), Bonds.none(12))  # type: ignore[arg-type]
    people = np.array([labels[one] for one in tables.ids])
    groups = [people[found.owners == one] for one in np.unique(found.owners)]
    assert all(len(set(group)) == 1 for group in groups)
    assert agreement_of_few(index(sets[:4])) is None


def test_questions_and_unsure_sets() -> None:
    groups = Groups(
        owners=np.array([0, 0, 2, 2, 2, 5, 6, 6]),
        weakest=np.array([2.0, 0, 1.0, 0, 0, np.inf, 3.0, 0]),
        pairs=np.array([[0, 2], [0, 5], [2, 5], [2, 6], [0, 6]]),
        scores=np.array([0.3, 0.5, 0.8, 0.3, 0.9]),
    )
    # The single set goes to the group that it fits best.
    assert groups.unsure() == {5: (2, 0.8)}
    # 4 pairs of sets that are the same more likely than not, before 6 that are not; ties by number.
    assert [(one, other) for one, other, _ in groups.questions()] == [(0, 6), (0, 2), (2, 6)]
    assert groups.questions()[0][2] == pytest.approx(1 / (1 + math.exp(-(1.3 * 0.9 - 1))))
