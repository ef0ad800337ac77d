"""Adaptive: what it finds in drawn galleries, and that no query sees more than it may."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike import parts
from lookalike.errors import BadInput
from lookalike.rerankers._kinship import FEWEST, FEWEST_TO_POOL
from lookalike.rerankers.adaptive import Adaptive
from lookalike.rerankers.contract import Reranker
from lookalike.transitivity.tables import Tables
from tests.transitivity.samples import row_of, tables_of

RNG = np.random.default_rng(0)


def lit_sets(people: int, sets: int, light: float, seed: int = 0, noise: float = 0.5) -> list[np.ndarray]:
    """Sets of three faces; set i of everybody is taken in light i."""
    rng = np.random.default_rng(seed)
    persons, lights = rng.normal(size=(people, 48)), light * rng.normal(size=(sets, 48))
    return [
        person + lamp + noise * rng.normal(size=48) + 0.2 * rng.normal(size=(3, 48))
        for person in persons
        for lamp in lights
    ]


def gallery(people: int, sets: int, light: float, **more: float) -> Tables:
    return tables_of(lit_sets(people, sets, light, **more), count=64)  # type: ignore[arg-type]


def mean_precision(scores: np.ndarray, sets: int) -> float:
    """Of every set as a query, given the scores of all (n, n)."""
    owners = np.arange(len(scores)) // sets
    found = []
    for query, row in enumerate(scores):
        order = [n for n in np.argsort(-row, kind="stable") if n != query]
        places = np.flatnonzero(owners[order] == owners[query]) + 1
        found.append(np.mean(np.arange(1, sets) / places))
    return float(np.mean(found))


def asked(part: Reranker, tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    rows = [row_of(tables, number) for number in range(len(tables))]
    return np.stack([row.scores for row in rows]), np.stack([part.score(row, tables).scores for row in rows])


@pytest.mark.parametrize(
    ("sets", "light", "noise", "before", "after"),
    [
        (4, 1.0, 1.0, 0.3, 0.8),  # strangers in the same light are nearer than kin
        (8, 1.5, 1.0, 0.2, 0.8),  # and make groups of their own
        (3, 0.0, 1.2, 0.75, 0.75),  # people repeat, nothing else does
        (12, 0.0, 1.2, 0.85, 0.95),  # many sets a person
    ],
)
def test_it_finds_more(sets: int, light: float, noise: float, before: float, after: float) -> None:
    tables = gallery(240 // sets, sets, light, noise=noise)
    baseline, adaptive = (mean_precision(s, sets) for s in asked(Adaptive().fit(tables, RNG), tables))
    assert baseline < before
    assert adaptive > max(after, baseline)


def test_nobody_repeated_does_no_harm() -> None:
    """Strangers stay strangers: the set most like the query stays among the very first."""
    tables = gallery(100, 1, 0.0)
    part = Adaptive().fit(tables, RNG)
    before, after = asked(part, tables)
    for scores in (before, after):
        np.fill_diagonal(scores, -np.inf)
    places = [int((row > row[first]).sum()) for row, first in zip(after, before.argmax(axis=1), strict=True)]
    assert np.mean(np.array(places) < 5) > 0.9


@pytest.mark.parametrize("total", [FEWEST - 1, 2])
def test_the_smallest_galleries_keep_the_baseline(total: int) -> None:
    tables = gallery(total, 1, 0.0)
    part = Adaptive().fit(tables, RNG)
    row = row_of(tables, 0)
    np.testing.assert_array_equal(part.score(row, tables).scores, row.scores)


def test_small_galleries_are_not_pooled() -> None:
    assert Adaptive().fit(gallery(FEWEST_TO_POOL - 1, 1, 0.0), RNG).kin_ is None
    assert Adaptive().fit(gallery(FEWEST_TO_POOL, 1, 0.0), RNG).kin_ is not None


@pytest.mark.parametrize("people", [8, 20])
def test_arrays_keep_every_bit(people: int) -> None:
    tables = gallery(people, 4, 1.0)
    part = Adaptive().fit(tables, RNG)
    again = Adaptive().from_arrays(part.to_arrays())
    for query in (0, 9, np.random.default_rng(3).normal(size=(2, 48))):
        row = row_of(tables, query)
        np.testing.assert_array_equal(part.score(row, tables).scores, again.score(row, tables).scores)


def test_what_does_not_fit_is_refused() -> None:
    arrays = Adaptive().fit(gallery(20, 4, 1.0), RNG).to_arrays()
    with pytest.raises(BadInput, match="train again"):
        Adaptive().from_arrays({name: array for name, array in arrays.items() if name != "known/levels"})
    with pytest.raises(BadInput, match="fitted on 80 sets and is asked about 40: train again"):
        Adaptive().from_arrays(arrays).score(row_of(gallery(10, 4, 1.0), 0), gallery(10, 4, 1.0))
    with pytest.raises(BadInput, match="not fitted"):
        Adaptive().score(row_of(gallery(3, 1, 0.0), 0), gallery(3, 1, 0.0))


def test_a_member_is_asked_for_nearly_as_if_it_came_from_outside() -> None:
    """Cohorts and kin leave the query out exactly; tails and trust of the gallery knew it, one of many."""
    sets = lit_sets(30, 4, 1.5)
    tables = tables_of(sets, count=64)
    inside = Adaptive().fit(tables, RNG)
    for member in (0, 50, 119):
        others = [number for number in range(120) if number != member]
        smaller = tables_of([sets[number] for number in others], count=64)
        outside = Adaptive().fit(smaller, RNG).score(row_of(smaller, sets[member]), smaller).scores
        found = inside.score(row_of(tables, member), tables).scores[others]
        assert np.corrcoef(found, outside)[0, 1] > 0.995
        assert found.argmax() == outside.argmax()


@pytest.mark.parametrize("similarity", parts.names("similarities"))
def test_any_similarity_will_do(similarity: str) -> None:
    tables = tables_of(lit_sets(20, 3, 1.0), similarity, count=64)
    part = Adaptive().fit(tables, RNG)
    assert np.isfinite(part.score(row_of(tables, 4), tables).scores).all()


def test_threads_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = gallery(70, 4, 1.0)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        found.append(Adaptive().fit(tables, RNG).to_arrays())
    for name, array in found[0].items():
        np.testing.assert_array_equal(array, found[1][name])


def test_copies_do_no_harm() -> None:
    sets = lit_sets(20, 3, 0.5)
    sets[3:9] = [sets[0]] * 6
    tables = tables_of(sets, count=64)
    part = Adaptive().fit(tables, RNG)
    scores = part.score(row_of(tables, 0), tables).scores
    assert set(np.argsort(-scores)[:7]) >= {3, 4, 5, 6, 7, 8}
