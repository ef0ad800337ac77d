"""The options of learnt: each by hand, and every combination held to the contract of a re-ranker."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import registry
from lookalike.errors import BadInput
from lookalike.method.regression import (
    Settings,
    draw_examples,
    draw_near_examples,
    far_from,
    features_asked,
    fit_regression,
)
from lookalike.method.tables import Row, Tables
from lookalike.rerankers.learnt import MOST_OUTSIDE, Learnt
from lookalike.search.query import Search
from tests.method.samples import random_sets, tables_of
from tests.rerankers import test_contract as contract
from tests.rerankers.test_learnt import regressor

CHOICES = {
    "over": ("max", "mean"),
    "examples": ("paper", "near"),
}
EVERY = [dict(zip(CHOICES, chosen, strict=True)) for chosen in product(*CHOICES.values())]
SPECS = [",".join(f"{key}={value}" for key, value in one.items()) for one in EVERY]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def gallery() -> Tables:
    return tables_of(random_sets(14, seed=1, smallest=2, largest=4))


# The mean over proxies.


def spoken(beliefs: list[list[float]], scores: list[float]) -> list[float]:
    row = Row(np.array(scores), np.zeros(len(scores)), np.zeros(len(scores)), None)
    said = np.array(beliefs)
    scored = Learnt(over="mean").decide(row, np.zeros(said.shape, dtype=np.int64), said)
    assert (scored.through == -1).all()
    return scored.scores.tolist()


def test_the_mean_by_hand() -> None:
    # The baseline has no voice, however sure it is.
    assert spoken([[0.25, 0.75], [0.5, 1.0]], [0.9, 0.1]) == [0.5, 0.75]


def test_a_silent_proxy_is_left_out_of_the_mean() -> None:
    silent = -np.inf
    assert spoken([[0.25, silent, 0.75], [silent, silent, 1.0]], [0.9, 0.1]) == [0.5, 1.0]
    # Where nobody speaks, the baseline is left alone.
    assert spoken([[silent, silent], [0.5, 0.5]], [0.9, 0.1]) == [0.9, 0.5]
    assert spoken([[], []], [0.9, 0.1]) == [0.9, 0.1]


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=8))
def test_the_mean_lies_between_the_proxies(beliefs: list[list[float]]) -> None:
    for score, said in zip(spoken(beliefs, [0.5] * len(beliefs)), beliefs, strict=True):
        assert min(said) - 1e-12 <= score <= max(said) + 1e-12


def test_explain_says_what_silence_would_do() -> None:
    tables = tables_of(random_sets(9, seed=5, smallest=2))
    search = Search(tables, Learnt(proxies=4, over="mean").fit(tables, rng()))
    moved = 0
    for target in range(1, 9):
        explanation = search.explain(tables.ids[0], tables.ids[target])
        assert explanation.answer.through is None
        said = [one.belief for one in explanation.witnesses]
        assert len(said) == 4
        assert explanation.answer.score == pytest.approx(np.mean(said))
        others = {a.id: (a.score, a.baseline) for a in search.find(tables.ids[0])}
        del others[tables.ids[target]]
        for place, one in enumerate(explanation.witnesses):
            # The mean of the other three, against the scores of all other sets.
            mine = (np.mean(said[:place] + said[place + 1 :]), explanation.answer.baseline)
            rank = 1 + sum(theirs[0] > mine[0] + 1e-12 for theirs in others.values())
            level = sum(abs(theirs[0] - mine[0]) <= 1e-12 for theirs in others.values())
            assert rank <= one.rank_without <= rank + level
            moved += one.rank_without != explanation.answer.rank
    assert moved


# Where examples come from.


def test_near_examples_are_learnt_from(gallery: Tables) -> None:
    part = Learnt(proxies=3, references=8, examples="near").fit(gallery, rng(2))
    x, y = draw_near_examples(gallery, rng(2), references=8, proxies=3)
    alone = fit_regression(x, y, Settings())
    np.testing.assert_array_equal(part.to_arrays()["weights"], alone.weights_)
    np.testing.assert_array_equal(part.training_rows(gallery, rng(2)).x, x)


# The warning.


def test_the_share_outside_is_measured_and_kept(gallery: Tables) -> None:
    part = Learnt(proxies=3).fit(gallery, rng())
    x, _ = draw_examples(gallery, rng(), proxies=3)
    assert part.outside_ == far_from(x, features_asked(gallery, 3))
    assert Learnt(proxies=3).from_arrays(part.to_arrays()).outside_ == part.outside_


@pytest.mark.parametrize(("share", "warns"), [(MOST_OUTSIDE, False), (0.9, True), (1.0, True), (0.0, False)])
def test_a_warning_where_nearly_all_is_unlike_training(
    share: float, warns: bool, gallery: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookalike.rerankers.learnt.far_from", lambda training, met: share)
    part = Learnt().fit(gallery, rng())
    stored = Learnt().from_arrays(part.to_arrays())
    assert part.caution == stored.caution
    assert part.caution.startswith(f"{share:.0%} of what this gallery asks") == warns


def test_what_was_stored_without_a_share_says_nothing() -> None:
    assert Learnt().from_arrays(regressor(0.5, 0.2)).caution == ""
    assert Learnt().caution == ""


# Ten sets of so many faces each, compared by subspaces of four dimensions.
def faces_each(*sizes: int, similarity: str = "max_correlation:dimension=4") -> Tables:
    chance = rng(3)
    return tables_of([chance.normal(size=(size, 10)) + 1 for size in sizes], similarity)


TOO_FEW = "have no more faces than the set similarity has dimensions"


@pytest.mark.parametrize("similarity", ["max_correlation:dimension=4", "dffs:dimension=4"])
def test_a_warning_where_subspaces_hold_every_face(similarity: str) -> None:
    warned = Learnt().fit(faces_each(*[4] * 10, similarity=similarity), rng())
    assert warned.memorised_ == 1.0
    assert warned.caution.startswith(f"100% of the sets that the regressor learnt from {TOO_FEW}")
    assert Learnt().from_arrays(warned.to_arrays()).caution == warned.caution
    quiet = Learnt().fit(faces_each(*[5] * 10, similarity=similarity), rng())
    assert quiet.memorised_ == 0.0
    assert TOO_FEW not in quiet.caution


def test_the_warning_is_about_most_sets() -> None:
    half = Learnt().fit(faces_each(*[4] * 5, *[9] * 5), rng())
    assert half.memorised_ == 0.5
    assert TOO_FEW not in half.caution
    assert Learnt().fit(faces_each(*[4] * 6, *[9] * 4), rng()).caution.startswith("60% of the sets that")


def test_faces_that_are_compared_one_by_one_are_never_too_few_for_a_subspace() -> None:
    part = Learnt().fit(faces_each(*[2] * 10, similarity="max_max"), rng())
    assert part.memorised_ == 0.0
    assert TOO_FEW not in part.caution


def test_whole_sets_teach_how_people_vary_however_few_their_faces() -> None:
    part = Learnt(examples="near").fit(faces_each(*[3] * 10), rng())
    assert part.regressor_ is not None
    assert TOO_FEW not in part.caution


def test_both_warnings_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.rerankers.learnt.far_from", lambda training, met: 0.9)
    said = Learnt().fit(faces_each(*[4] * 10), rng()).caution
    assert TOO_FEW in said
    assert said.endswith("compare with the baseline, or try examples=near")
    assert "; 90% of what this gallery asks" in said


@pytest.mark.parametrize("name", ["outside", "memorised"])
@pytest.mark.parametrize("share", [[], [0.5, 0.5], [1.5], [np.nan]])
def test_a_damaged_share_is_refused(name: str, share: list[float]) -> None:
    with pytest.raises(BadInput, match="damaged"):
        Learnt().from_arrays(regressor(0.5, 0.2) | {name: np.array(share)})


# Options as text, and the contract.


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("over=median", "over must be one of max, mean, got 'median'"),
        ("examples=far", "examples must be one of paper, near, got 'far'"),
        ("penalty=often", "penalty must be greater than 0, got 'often'"),
    ],
)
def test_options_that_there_are_not_are_refused(text: str, says: str, gallery: Tables) -> None:
    with pytest.raises(BadInput, match=says):
        registry.build("rerankers", f"learnt:{text}").fit(gallery, rng())


def test_the_papers_recipe_is_found_by_the_text_it_always_had() -> None:
    told = "learnt:proxies=10,references=200,epsilon=0.4,penalty=1000.0,gamma=0.2"
    assert registry.spec(Learnt()) == told
    assert registry.spec(Learnt(over="mean")) == f"{told},over=mean"


@pytest.mark.parametrize("spec", SPECS)
def test_every_combination_keeps_the_contract(
    spec: str, gallery: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(name: str, **wanted: object) -> Learnt:
        options = "".join(f",{key}={value}" for key, value in wanted.items())
        part: Learnt = registry.build("rerankers", f"{name}:{spec}{options}")
        return part

    assert registry.spec(registry.build("rerankers", registry.spec(build("learnt")))) == registry.spec(
        build("learnt")
    )
    monkeypatch.setattr(contract, "build", build)
    if "over=mean" in spec:
        # All proxies together decide, so no single one is named, and the score is not the baseline.
        monkeypatch.setattr(contract, "check_scored", _check_mean)
    for member in (None, 7):
        contract.test_scores_and_reasons("learnt", gallery, member)
    contract.test_beliefs_explain_the_scores("learnt", gallery)
    contract.test_deterministic_by_seed("learnt", gallery)
    contract.test_arrays_keep_every_bit("learnt", gallery)
    for total in (1, 2, 3):
        contract.test_tiny_galleries("learnt", total, "max_max")
    contract.test_sets_of_one_face("learnt", "max_max")
    contract.test_a_member_is_asked_for_as_if_it_came_from_outside("learnt", gallery)
    contract.test_a_batch_gives_what_each_query_gets_alone("learnt", gallery)


def _check_mean(part: Learnt, row: Row, tables: Tables) -> np.ndarray:
    scored = part.score(row, tables)
    assert scored.scores.shape == (len(tables),)
    assert (scored.through == -1).all()
    said = part.beliefs(row, tables).beliefs
    expected = said.mean(axis=1) if said.shape[1] else row.scores
    np.testing.assert_allclose(scored.scores, expected, atol=1e-12)
    return scored.scores
