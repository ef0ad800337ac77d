"""Labelled fits: which pairs they see, what weights they find, and the page they make."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.study_labelled import (
    FITS,
    FOLDS,
    PLAIN,
    columns,
    folds,
    held_out_scores,
    labelled,
    numbers,
    ranks_of,
)
from benchmarks.study_page import page
from lookalike import index, train
from lookalike.evaluation.protocol import leave_one_out
from tests.method.samples import row_of
from tests.small_world import small_world
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
WHO = np.repeat(np.arange(15), 3)


@pytest.fixture
def seen() -> np.ndarray:
    """Two numbers of every pair: the first is lower for matches, the second knows nothing."""
    rng = np.random.default_rng(0)
    same = WHO[:, None] == WHO[None, :]
    return np.stack([rng.normal(size=same.shape) - 3.0 * same, rng.normal(size=same.shape)], axis=-1)


def test_people_are_in_one_fold() -> None:
    dealt = folds(WHO)
    assert sorted(set(dealt.tolist())) == list(range(FOLDS))
    for person in range(15):
        assert len(set(dealt[person == WHO].tolist())) == 1
    assert np.bincount(dealt).tolist() == [9] * FOLDS


def test_what_speaks_against_a_match_has_a_negative_weight(seen: np.ndarray) -> None:
    scores, weights = held_out_scores(seen, WHO)
    assert weights.shape == (FOLDS, 2)
    assert (weights[:, 0] < 0).all()
    assert (np.abs(weights[:, 0]) > 5 * np.abs(weights[:, 1])).all()
    same = (WHO[:, None] == WHO[None, :]) & ~np.eye(len(WHO), dtype=bool)
    assert scores[same].mean() > scores[~same].mean()


def test_nobody_who_asks_was_seen_by_the_fit(seen: np.ndarray) -> None:
    _, before = held_out_scores(seen, WHO)
    other = seen.copy()
    asks = folds(WHO) == 2
    # All that concerns the people of a fold is turned round.
    other[asks] *= -7
    other[:, asks] *= -7
    _, after = held_out_scores(other, WHO)
    np.testing.assert_array_equal(after[2], before[2])
    for number in (0, 1, 3, 4):
        assert np.abs(after[number] - before[number]).max() > 0.01


def test_numbers_are_those_of_the_proxies() -> None:
    sets, _ = small_world(people=4, sets=3)
    tables = index(sets)
    mean, largest = numbers(tables, proxies=3)
    said = train(tables, "learnt:proxies=3").beliefs(row_of(tables, 5), tables).features
    np.testing.assert_array_equal(mean[5], said.mean(axis=1))
    np.testing.assert_array_equal(largest[5], said.max(axis=1))


def test_what_a_fit_sees() -> None:
    rng = np.random.default_rng(1)
    mean, largest = rng.random((4, 4, 5)), rng.random((4, 4, 5))
    np.testing.assert_array_equal(columns(PLAIN, mean, largest), mean)
    both = columns(FITS[-1], mean, largest)
    # Five means and four largest: s2 is the same by every proxy.
    assert both.shape == (4, 4, 9)
    np.testing.assert_allclose(both[1, 2, :5], (mean[1, 2] + mean[2, 1]) / 2)
    np.testing.assert_allclose(both[1, 2, 5:], (largest[1, 2] + largest[2, 1])[[0, 2, 3, 4]] / 2)


def test_ranks_by_hand() -> None:
    # 0 and 2 are one person, 1 is alone: asked, it has no match and is no query.
    scores = np.array([[9.0, 2.0, 1.0], [0.0, 0.0, 0.0], [3.0, 1.0, 9.0]])
    assert [one.tolist() for one in ranks_of(scores, np.array([0, 1, 0]))] == [[2], [1]]


def test_the_baseline_is_that_of_the_protocol() -> None:
    sets, labels = small_world(people=6, sets=3)
    tables = index(sets)
    found = labelled(tables, labels)
    alone = leave_one_out(tables, {"baseline": train(tables, "baseline")}, labels).to_dict()["rerankers"]
    assert found["fits"]["baseline"] == alone["baseline"]
    assert list(found["fits"]) == ["baseline", *(fit.name for fit in FITS)]
    assert {name: len(weights) for name, weights in found["weights"].items()} == {
        f"s{place}": FOLDS for place in range(1, 6)
    }


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads((ROOT / "docs" / "lab" / "learnt.json").read_text(encoding="utf-8"))


def test_the_record_says_what_the_pages_claim(kept: dict[str, Any]) -> None:
    """docs/explanation/method.md tells the signs in words: they must be those of the figures."""
    runs = kept["labelled"]["runs"]
    assert len(runs) == 6
    for run in runs:
        assert max(run["weights"]["s4"]) < 0
        assert max(run["weights"]["s5"]) > 0
        for fit in FITS:
            assert run["fits"][fit.name]["mean_anr"] < run["fits"]["baseline"]["mean_anr"]
    assert (
        "s4 (query and target meet the proxy in the same face) has a negative weight in every fold of 6 of 6"
        in (page(kept))
    )


def test_signs_are_counted(kept: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(kept))
    changed["labelled"]["runs"][0]["weights"]["s4"] = [0.1, -0.1]
    changed["labelled"]["runs"][1]["weights"]["s4"] = [0.1, 0.2]
    changed["labelled"]["runs"][0]["fits"]["baseline"]["map"] = 0.98765
    told = page(changed)
    assert "in every fold of 4 of 6 configurations, and a positive one in every fold of 1." in told
    assert "| -0.100 to +0.100 |" in told
    assert told.count("0.9877") == 1


def test_a_record_without_fits_has_no_section(kept: dict[str, Any]) -> None:
    less = {key: value for key, value in kept.items() if key != "labelled"}
    assert "## What labels could make of the five numbers" in page(kept)
    assert "## What labels could make of the five numbers" not in page(less)


def test_nothing_at_hand_is_a_sentence(tmp_path: Path) -> None:
    def run() -> str:
        words = ["-m", "benchmarks.study_labelled", "--data", tmp_path, "--out", tmp_path]
        done = subprocess.run(
            [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode != 0
        return done.stderr

    assert run() == f"labelled: there is no {tmp_path / 'learnt.json'}: run `make study` first\n"
    (tmp_path / "learnt.json").write_text("{}")
    assert run() == f"labelled: there are no faces in {tmp_path}: give --data, see docs/lab/learnt.md\n"
