"""Groups: the score by hand, and what holds whatever the gallery."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import FaceSet, index, train
from lookalike.method.agreement import Agreement
from lookalike.method.groups import Bonds, Groups, agreement_of_few, mean_directions, propose, strangers_of
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


def test_the_score_of_two_sets_by_hand() -> None:
    # Three sets: two of one person who name each other, and somebody else.
    vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    agreement = Agreement(
        lists=np.array([[1], [0], [1]]),
        floors=np.zeros((3, 1)),
        closures=np.zeros((3, 1)),
        trusts=np.array([[0.81], [0.64], [0.25]]),
        starts=np.array([0, 2, 4, 5]),
        columns=np.array([0, 1, 0, 1, 2], dtype=np.int32),
        weights=np.array([0.5, 0.5, 0.5, 0.5, 1.0], dtype=np.float32),
    )
    strangers = strangers_of(vectors)
    found = propose(agreement, vectors, Bonds.none(3))
    # Their vectors are the same, but no agreement is surer than 0.99; trust is the root of the lower closure.
    cosine = (0.8 - strangers) / (1 - strangers)
    score = 8.3 * cosine + 4.6 * 0.8 + 1.8 * math.log(0.99 / 0.01) - 11.1
    assert found.owners.tolist() == [0, 0, 2]
    assert found.weakest[0] == pytest.approx(score)
    assert found.probability(0) == pytest.approx(1 / (1 + math.exp(-(0.6 * score + 2.4))))


def test_strangers_are_told_without_kin() -> None:
    rng = np.random.default_rng(3)
    people = rng.normal(size=(40, 32)) + 0.5
    vectors = np.repeat(people, 5, axis=0) + 0.1 * rng.normal(size=(200, 32))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    table = vectors @ vectors.T
    person = np.repeat(np.arange(40), 5)
    assert strangers_of(vectors) == pytest.approx(np.median(table[person[:, None] != person]), abs=0.02)


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
        scores=np.array([-1.5, -0.5, -0.2, -1.5, -0.1]),
    )
    # The single set goes to the group that it fits best.
    assert groups.unsure() == {5: (2, -0.2)}
    # 4 pairs of sets at 1.6 * -0.1 + 2.2, against 6 at 1.6 * -1.5 + 2.2; ties by number.
    assert [(one, other) for one, other, _ in groups.questions()] == [(0, 6), (0, 2), (2, 6)]
    assert groups.questions()[0][2] == pytest.approx(1 / (1 + math.exp(-2.04)))
