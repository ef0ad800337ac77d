"""The contract of a re-ranker, run on every part that is found."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from lookalike import registry
from lookalike.errors import BadInput
from lookalike.method.tables import Row, Tables
from lookalike.rerankers.contract import Beliefs, Reranker, check_proxies
from tests.method.samples import random_sets, row_of, tables_of

NAMES = registry.names("rerankers")
QUERY = random_sets(1, seed=99)[0]


@pytest.fixture(scope="module", params=["max_max", "max_correlation"])
def gallery(request: pytest.FixtureRequest) -> Tables:
    return tables_of(random_sets(14, seed=1, smallest=2, largest=4), request.param)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def options(name: str) -> list[str]:
    return list(inspect.signature(registry.part_class("rerankers", name)).parameters)


def build(name: str, **wanted: object) -> Reranker:
    """The part, with those of the options that it has."""
    known = {key: value for key, value in wanted.items() if key in options(name)}
    return registry.part_class("rerankers", name)(**known)


def check_scored(part: Reranker, row: Row, tables: Tables) -> np.ndarray:
    scored = part.score(row, tables)
    assert scored.scores.shape == scored.through.shape == (len(tables),)
    assert scored.scores.dtype == np.float64
    assert scored.through.dtype.kind == "i"
    assert np.isfinite(scored.scores).all()
    for target, proxy in enumerate(scored.through):
        assert proxy == -1 or proxy in tables.neighbours.sets[target]
        assert proxy != target
        assert row.member is None or proxy != row.member
    if asks_proxies(part):
        # Where no proxy decided, the baseline did.
        decided = scored.through == -1
        np.testing.assert_array_equal(scored.scores[decided], row.scores[decided])
    else:
        assert (scored.through == -1).all()
    return scored.scores


def asks_proxies(part: Reranker) -> bool:
    """Whether the proxies speak one by one; other re-rankers score all sets at once."""
    return type(part).score is Reranker.score


def test_the_paper_s_rerankers_are_there() -> None:
    assert {"baseline", "learnt", "arithmetic_mean", "geometric_mean", "quadratic_mean"} <= set(NAMES)


@pytest.mark.parametrize("member", [None, 0, 7])
def test_scores_and_reasons(name: str, gallery: Tables, member: int | None) -> None:
    part = build(name, proxies=4)
    assert part.fit(gallery, rng()) is part
    row = row_of(gallery, QUERY if member is None else member)
    before = [np.copy(array) for array in row[:3]]
    check_scored(part, row, gallery)
    for array, old in zip(row[:3], before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_beliefs_explain_the_scores(name: str, gallery: Tables) -> None:
    part = build(name, proxies=4).fit(gallery, rng())
    for row in (row_of(gallery, QUERY), row_of(gallery, 3)):
        said = part.beliefs(row, gallery)
        count = said.proxies.shape[1]
        assert said.proxies.shape == said.slots.shape == said.beliefs.shape == (len(gallery), count)
        assert said.features.shape == (len(gallery), count, 5)
        assert said.regressions is None or said.regressions.shape == said.beliefs.shape
        np.testing.assert_array_equal(
            said.proxies, np.take_along_axis(gallery.neighbours.sets, said.slots, axis=1)
        )
        if not asks_proxies(part):
            assert count == 0, "explain would show proxies that did not make the score"
            continue
        again = part.decide(row, said.proxies, said.beliefs)
        np.testing.assert_array_equal(again.scores, part.score(row, gallery).scores)
        np.testing.assert_array_equal(again.through, part.score(row, gallery).through)


def test_deterministic_by_seed(name: str, gallery: Tables) -> None:
    row = row_of(gallery, QUERY)
    once, again = (
        build(name, proxies=3, references=5).fit(gallery, rng(8)).score(row, gallery) for _ in range(2)
    )
    np.testing.assert_array_equal(once.scores, again.scores)
    np.testing.assert_array_equal(once.through, again.through)


def test_arrays_keep_every_bit(name: str, gallery: Tables) -> None:
    part = build(name, proxies=3).fit(gallery, rng())
    arrays = part.to_arrays()
    assert bool(arrays) == part.is_learnt
    assert all(isinstance(array, np.ndarray) and not array.dtype.hasobject for array in arrays.values())
    stored = build(name, proxies=3)
    assert stored.from_arrays(arrays) is stored
    for row in (row_of(gallery, QUERY), row_of(gallery, 5)):
        fresh, kept = part.score(row, gallery), stored.score(row, gallery)
        np.testing.assert_array_equal(fresh.scores, kept.scores)
        np.testing.assert_array_equal(fresh.through, kept.through)


@pytest.mark.parametrize("total", [1, 2, 3])
@pytest.mark.parametrize("similarity", ["max_max", "max_correlation"])
def test_tiny_galleries(name: str, total: int, similarity: str) -> None:
    # Ten proxies of fewer than three sets: as many as there are, none for a set alone.
    tables = tables_of(random_sets(total, seed=2, smallest=2), similarity)
    part = build(name, proxies=10).fit(tables, rng())
    alone = check_scored(part, row_of(tables, QUERY), tables)
    for member in range(total):
        check_scored(part, row_of(tables, member), tables)
    if total == 1:  # nobody to ask
        np.testing.assert_array_equal(alone, row_of(tables, QUERY).scores)
    if total == 2:  # the only other set is the query itself
        row = row_of(tables, 0)
        np.testing.assert_array_equal(part.score(row, tables).scores, row.scores)


@pytest.mark.parametrize("similarity", ["max_max", "max_correlation"])
def test_sets_of_one_face(name: str, similarity: str) -> None:
    tables = tables_of(random_sets(6, seed=3, largest=1), similarity)
    part = build(name).fit(tables, rng())
    row = row_of(tables, QUERY)
    scores = check_scored(part, row, tables)
    stored = build(name).from_arrays(part.to_arrays())
    np.testing.assert_array_equal(stored.score(row, tables).scores, scores)


def test_proxies_out_of_range_are_refused(name: str, gallery: Tables) -> None:
    for proxies in (0, 11, -1, 2.5, True, "three", None):
        if "proxies" in options(name):
            with pytest.raises(BadInput, match="proxies must be a whole number from 1 to 10, got"):
                build(name, proxies=proxies).fit(gallery, rng())
        with pytest.raises(BadInput, match="proxies must be a whole number from 1 to 10, got"):
            check_proxies(proxies)


def test_unknown_option_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=f"'{name}' has no option 'colour=3': its options are "):
        registry.build("rerankers", f"{name}:colour=3")


class Contrary(Reranker):
    """Every proxy believes the opposite of the baseline."""

    def beliefs(self, row: Row, tables: Tables) -> Beliefs:
        near = tables.neighbours.sets[:, :1]
        return Beliefs(near, near * 0, np.zeros((*near.shape, 5)), 1 - row.scores[:, None], None)


def test_an_object_that_keeps_the_contract_is_welcome(gallery: Tables) -> None:
    own = Contrary()
    assert registry.build("rerankers", own) is own
    row = row_of(gallery, QUERY)
    np.testing.assert_array_equal(
        check_scored(own.fit(gallery, rng()), row, gallery), np.maximum(row.scores, 1 - row.scores)
    )
    assert own.to_arrays() == {}
    assert not own.is_learnt


def test_a_tie_goes_to_the_baseline_then_to_the_nearest_proxy() -> None:
    row = Row(np.array([0.5, 0.5, 0.5]), np.zeros(3), np.zeros(3), None)
    proxies = np.array([[1, 2], [2, 0], [0, 1]])
    beliefs = np.array([[0.5, 0.5], [0.7, 0.7], [0.1, 0.9]])
    scored = Contrary().decide(row, proxies, beliefs)
    assert scored.scores.tolist() == [0.5, 0.7, 0.9]
    assert scored.through.tolist() == [-1, 2, 1]


def test_a_member_is_asked_for_as_if_it_came_from_outside(name: str, gallery: Tables) -> None:
    """Leave-one-out is exact: without the query in the gallery, the other sets get the same scores."""
    part = build(name, proxies=4)
    sets = random_sets(14, seed=1, smallest=2, largest=4)
    similarity = gallery.similarity
    inside = part.fit(gallery, rng())
    for member in (0, 6, 13):
        others = [number for number in range(14) if number != member]
        smaller = tables_of([sets[number] for number in others], similarity)
        outside = build(name, proxies=4)
        # What is learnt by chance is taken over: the smaller gallery would draw other references.
        outside = outside.from_arrays(part.to_arrays()) if part.is_random else outside.fit(smaller, rng())
        expected = outside.score(row_of(smaller, sets[member]), smaller).scores
        found = inside.score(row_of(gallery, member), gallery).scores[others]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_batch_gives_what_each_query_gets_alone(name: str, gallery: Tables) -> None:
    part = build(name, proxies=4).fit(gallery, rng())
    rows = [row_of(gallery, query) for query in (2, QUERY, 9)]
    alone = [build(name, proxies=4).fit(gallery, rng()).score(row, gallery).scores for row in rows]
    together = [part.score(row, gallery).scores for row in rows]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
