"""Adaptive: what it finds in drawn galleries, and that no query sees more than it may."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike import registry
from lookalike.errors import BadInput
from lookalike.method.agreement import BY_CHANCE, Agreed
from lookalike.method.tables import Tables
from lookalike.rerankers import _kinship as module
from lookalike.rerankers._kinship import (
    BELOW_ORDINARY,
    EVERYWHERE,
    FEW,
    FEW_SETS,
    FEWEST,
    REACH,
    SUSPECT,
    VAGUE,
    WHOLE,
    Weighed,
    counted,
)
from lookalike.rerankers.adaptive import Adaptive
from lookalike.rerankers.contract import Reranker
from tests.method.samples import row_of, tables_of

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


@pytest.mark.parametrize(("people", "sets"), [(12, 20), (20, 12)])
def test_people_with_many_sets_are_not_subtracted(people: int, sets: int) -> None:
    """They are their own cohorts: taking these away would take the people."""
    tables = gallery(people, sets, 0.0, noise=1.2)
    part = Adaptive().fit(tables, RNG)
    assert part.findings_ is not None
    assert part.findings_.subtracted == 0
    baseline, adaptive = (mean_precision(scores, sets) for scores in asked(part, tables))
    assert adaptive > baseline + 0.1


@pytest.mark.parametrize(("people", "sets", "light"), [(30, 4, 1.5), (30, 8, 1.5)])
def test_light_is_subtracted(people: int, sets: int, light: float) -> None:
    tables = gallery(people, sets, light)
    part = Adaptive().fit(tables, RNG)
    assert part.findings_ is not None
    assert part.findings_.subtracted == 1
    baseline, adaptive = (mean_precision(scores, sets) for scores in asked(part, tables))
    assert adaptive > baseline + 0.5


def test_in_between_some_is_subtracted() -> None:
    """As light grows from less than people to more: nothing, some, all; and more is found throughout."""
    subtracted = []
    for light in (0.2, 0.5, 0.55, 0.6, 1.2):
        tables = gallery(60, 4, light, noise=1.0)
        part = Adaptive().fit(tables, RNG)
        assert part.findings_ is not None
        subtracted.append(part.findings_.subtracted)
        baseline, adaptive = (mean_precision(scores, 4) for scores in asked(part, tables))
        assert adaptive > baseline + 0.05
    assert subtracted[0] == 0
    assert any(0 < share < 1 for share in subtracted[1:-1])
    assert subtracted[-1] > 0.9


def test_a_score_by_hand() -> None:
    """Agreement 0.8 is trusted by a quarter; 1 is halfway between -2, where values begin to count, and 4."""
    # A sixteenth of the 0.8 that are not closed by chance.
    closed, nobody = np.array([0.1, 0.2 + 0.8 / 16]), np.empty(0, dtype=np.int64)
    alone = np.ones(3), np.zeros(3)
    agreed = Agreed(np.array([0.8, 0.0, 1.0]), closed, 1.0, nobody, np.empty(0), 1.0, *alone)
    assert (BELOW_ORDINARY, BY_CHANCE) == (2, 0.2)
    assert agreed.trust == pytest.approx(0.25)
    weighed = Weighed(np.zeros(3), np.array([1.0, -2.0, 4.0]), agreed, 4.0)
    assert weighed.own.tolist() == [0.5, 0.0, 1.0]
    assert weighed.scores.tolist() == pytest.approx([0.25 * 0.8 + 0.75 * 0.5, 0.0, 1.0])


def test_scores_are_made_of_what_is_weighed() -> None:
    tables = gallery(30, 4, 1.0)
    part = Adaptive().fit(tables, RNG)
    assert part.strengths_ is not None
    assert part.strangers_ is not None
    assert part.kin_ is not None
    assert part.agreement_ is not None
    for query in (5, np.random.default_rng(3).normal(size=(2, 48))):
        row = row_of(tables, query)
        weighed = part.weighed(row, len(tables))
        assert weighed is not None
        values = part.strengths_.of_row(row, part.strangers_.around(row))
        pooled = part.kin_.pool(row._replace(scores=values))
        agreed = part.agreement_.with_query(row._replace(scores=pooled))
        best = np.delete(pooled, [] if row.member is None else row.member).max()
        np.testing.assert_array_equal(weighed.pooled, pooled)
        assert weighed.best == max(0, best)
        own = (pooled + 2) / (weighed.best + 2)
        expected = agreed.trust * agreed.values + (1 - agreed.trust) * own
        scored = part.score(row, tables)
        np.testing.assert_allclose(scored.scores, expected)
        # Probabilities are told from pairs, and from agreement as far as that is clear.
        assert scored.grounds is not None
        np.testing.assert_array_equal(scored.grounds.values, pooled)
        np.testing.assert_array_equal(scored.grounds.odds, agreed.odds)
        assert scored.grounds.clearly == agreed.clearly


@pytest.mark.parametrize(
    ("people", "sets", "light", "most", "alike"), [(10, 12, 0.0, 0.05, 0.999), (30, 4, 1.5, 0.3, 0.97)]
)
def test_a_set_more_or_less_changes_others_a_little_only(
    people: int, sets: int, light: float, most: float, alike: float
) -> None:
    """Scores of queries of other people, and what is subtracted."""
    drawn = lit_sets(people, sets, light, noise=1.0)
    tables = tables_of(drawn, count=64)
    part = Adaptive().fit(tables, RNG)
    assert part.findings_ is not None
    for gone in (3, 119):
        less = tables_of(drawn[:gone] + drawn[gone + 1 :], count=64)
        other = Adaptive().fit(less, RNG)
        assert other.findings_ is not None
        assert other.findings_.subtracted == pytest.approx(part.findings_.subtracted, abs=0.1)
        for query in range(0, 120, 11):
            if query // sets == gone // sets:
                continue
            number = query - (query > gone)
            before = np.delete(np.delete(part.score(row_of(tables, query), tables).scores, gone), number)
            after = np.delete(other.score(row_of(less, number), less).scores, number)
            assert np.abs(after - before).max() < most
            assert np.corrcoef(before, after)[0, 1] > alike


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


@pytest.mark.parametrize(("people", "told"), [(5, 5), (10, 15), (20, 35), (30, 35)])
def test_few_sets_tell_a_tail_by_few_values_and_have_kin_all_the_same(people: int, told: int) -> None:
    part = Adaptive().fit(gallery(people, 4, 0.0), RNG)
    assert part.kin_ is not None
    assert part.kin_.tail.told == told
    assert part.kin_.chances.max() > 0.5


@pytest.mark.parametrize(("people", "sets", "light"), [(6, 4, 1.0), (20, 4, 1.0), (5, 12, 0.0), (3, 4, 0.0)])
def test_arrays_keep_every_bit(people: int, sets: int, light: float) -> None:
    """A few, with strangers and without, and too few for anything."""
    tables = gallery(people, sets, light)
    part = Adaptive().fit(tables, RNG)
    again = Adaptive().from_arrays(part.to_arrays())
    assert again.to_arrays().keys() == part.to_arrays().keys()
    assert again.finding == part.finding
    for query in (0, 9, np.random.default_rng(3).normal(size=(2, 48))):
        row = row_of(tables, query)
        np.testing.assert_array_equal(part.score(row, tables).scores, again.score(row, tables).scores)


def test_what_does_not_fit_is_refused() -> None:
    arrays = Adaptive().fit(gallery(20, 4, 1.0), RNG).to_arrays()
    for lost in (
        "known/levels",
        "agreement/sets",
        "agreement/trusts",
        "findings/reach",
        "findings/lumps",
        "grouped",
        "people",
        "strengths/levelled",
        "kin/chances",
    ):
        with pytest.raises(BadInput, match="train again"):
            Adaptive().from_arrays({name: array for name, array in arrays.items() if name != lost})
    with pytest.raises(BadInput, match="fitted on 80 sets and is asked about 40: train again"):
        Adaptive().from_arrays(arrays).score(row_of(gallery(10, 4, 1.0), 0), gallery(10, 4, 1.0))
    with pytest.raises(BadInput, match="not fitted"):
        Adaptive().score(row_of(gallery(3, 1, 0.0), 0), gallery(3, 1, 0.0))


@pytest.mark.parametrize(("people", "sets", "light"), [(30, 4, 1.5), (30, 4, 1.0), (10, 12, 0.0)])
def test_a_member_is_asked_for_nearly_as_if_it_came_from_outside(
    people: int, sets: int, light: float
) -> None:
    """Cohorts and kin leave the query out; tails, trust and lists of the gallery knew it, one of many.

    Those with whom it alone makes lists closed agree less with it from outside: order tells more than scores.
    """
    drawn = lit_sets(people, sets, light)
    tables = tables_of(drawn, count=64)
    inside = Adaptive().fit(tables, RNG)
    for member in (0, 50, 119):
        others = [number for number in range(120) if number != member]
        smaller = tables_of([drawn[number] for number in others], count=64)
        outside = Adaptive().fit(smaller, RNG).score(row_of(smaller, drawn[member]), smaller).scores
        found = inside.score(row_of(tables, member), tables).scores[others]
        assert np.corrcoef(found, outside)[0, 1] > 0.93
        # As many as are of the same person come first, in one order or another.
        first, same = (set(np.argsort(-each)[: sets - 1].tolist()) for each in (found, outside))
        assert first == same


@pytest.mark.parametrize("similarity", registry.names("similarities"))
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


def test_a_set_more_than_all_pairs_are_known_of_changes_little() -> None:
    """Of 1,000 sets all pairs are known, of 1,001 the nearest: those who come first are nearly the same.

    That is so as long as kin are among the nearest: where light keeps them apart it is not.
    """
    assert (FEW_SETS, WHOLE) == (1000, 2500)
    drawn = lit_sets(251, 4, 0.0, noise=1.0)[: FEW_SETS + 1]
    found = []
    for total in (FEW_SETS, FEW_SETS + 1):
        tables = tables_of(drawn[:total], count=64)
        part = Adaptive().fit(tables, RNG)
        assert part.strangers_ is not None
        assert np.diff(part.strangers_.known.starts).min() >= (FEW_SETS - 1 if total == FEW_SETS else REACH)
        rows = [row_of(tables, query) for query in range(0, FEW_SETS, 20)]
        found.append([part.score(row, tables).scores[:FEW_SETS] for row in rows])
    # The query itself, and the others of its person.
    firsts = [[set(np.argsort(-scores)[:4].tolist()) for scores in each] for each in found]
    assert np.mean([len(one & other) for one, other in zip(*firsts, strict=True)]) > 3.9
    alike = [np.corrcoef(one, other)[0, 1] for one, other in zip(*found, strict=True)]
    assert np.mean(alike) > 0.95


def test_where_light_reaches_everywhere_all_pairs_are_known_or_lists_are_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Few lamps for many people: short lists hold those under the same lamp, and miss the person."""
    tables = tables_of(lit_sets(100, 4, 2.0), count=64)
    monkeypatch.setattr(module, "FEW_SETS", 200)
    found = {}
    for most in (2500, 200):
        monkeypatch.setattr(module, "WHOLE", most)
        part = Adaptive().fit(tables, RNG)
        assert part.strangers_ is not None
        assert part.findings_ is not None
        assert part.agreement_ is not None
        assert part.kin_ is not None
        assert part.findings_.reach >= EVERYWHERE
        knows_all = bool(np.diff(part.strangers_.known.starts).min() == len(tables))
        assert knows_all == (most == 2500)
        expected = 1.0 if knows_all else part.findings_.subtracted
        assert (part.agreement_.believed, part.kin_.believed) == pytest.approx((expected, expected))
        before, found[most] = (mean_precision(scores, 4) for scores in asked(part, tables))
    assert found[2500] > before + 0.2
    assert found[200] > before - 0.005


def test_no_probability_is_told_of_light_across_the_gallery_nor_of_a_few_sets_of_nobody() -> None:
    assert (SUSPECT, EVERYWHERE, FEW, VAGUE) == (0.6, 0.75, 100, 0.6)
    for sets, reaches, vague, tells in (
        (lit_sets(60, 2, 2.0), True, True, False),  # each of two lamps lights half of the gallery
        (lit_sets(60, 1, 0.0), False, True, False),
        (lit_sets(120, 1, 0.0), False, True, True),  # as vague, but not few
        (lit_sets(15, 4, 0.0), False, False, True),
        (lit_sets(4, 3, 0.0), None, None, True),  # too few for anything: that is said elsewhere
    ):
        part = Adaptive().fit(tables_of(sets, count=64), RNG)
        assert part.tells == tells
        if part.findings_ is None or part.agreement_ is None:
            assert reaches is None
            continue
        assert (part.findings_.reach >= EVERYWHERE) == reaches
        assert (part.agreement_.mean_trust < VAGUE) == vague


def test_the_finding_says_who_makes_up_the_gallery_and_what_is_done() -> None:
    people = Adaptive().fit(gallery(3, 30, 0.0), RNG)
    assert people.agreement_ is not None
    trusted = f"lists of neighbours count {people.agreement_.mean_trust:.0%}, pairs of sets the rest."
    assert people.finding == (
        "about 3 people make up 100% of this collection; "
        f"light or style make nobody alike beyond that, so nothing is subtracted; {trusted}"
    )
    lit = Adaptive().fit(gallery(30, 4, 1.0), RNG)
    assert lit.finding.startswith(
        f"about {round(lit.people_)} people make up {lit.grouped_:.0%} of this coll"
    )
    assert "; 100% of what strangers in the same light or style explain is subtracted; " in lit.finding
    nobody = Adaptive().fit(gallery(100, 1, 0.0), RNG)
    assert nobody.finding.startswith("few people here have many sets, as far as can be told (0 of 100 sets h")
    few = Adaptive().fit(gallery(FEWEST - 1, 1, 0.0), RNG)
    assert few.finding == "19 sets are too few to learn from: the order stays as it is."


@pytest.mark.parametrize(
    ("people", "said"),
    [(0.2, "1 person makes"), (1.4, "1 person makes"), (1.6, "2 people make"), (30.2, "30 people make")],
)
def test_people_are_counted_in_whole(people: float, said: str) -> None:
    assert counted(people) == said


def test_copies_do_no_harm() -> None:
    sets = lit_sets(20, 3, 0.5)
    sets[3:9] = [sets[0]] * 6
    tables = tables_of(sets, count=64)
    part = Adaptive().fit(tables, RNG)
    scores = part.score(row_of(tables, 0), tables).scores
    assert set(np.argsort(-scores)[:7]) >= {3, 4, 5, 6, 7, 8}
