"""The paper's figures: queries with fewer matches by hand, readings of the recipe, and the page they make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import paper_figures
from benchmarks.paper_figures import fewer_matches, figures, ranks_by_reading, readings, reweighted
from benchmarks.paper_page import section
from lookalike import index, train
from lookalike.evaluation.protocol import leave_one_out
from tests.small_world import small_world

ROOT = Path(__file__).parents[1]


def ranks(*values: int) -> np.ndarray:
    return np.array(values)


def test_fewer_matches_by_hand() -> None:
    # Of 2, 5 and 9 among 10 one is gone each time, and whoever stood behind it moves up.
    found = [(some.tolist(), total) for some, total in fewer_matches(ranks(9, 2, 5), 10, 2)]
    assert found == [([2, 5], 9), ([2, 8], 9), ([4, 8], 9)]
    assert [some.tolist() for some, _ in fewer_matches(ranks(2, 5), 10, 2)] == [[2, 5]]


# Two queries among 5 sets, with matches at 3 and at 1 and 4; of eight queries two shall have one match.
#   One match: 3 of 5 has ANR 2/4. Without the 4th, 1 of 4 has 0; without the 1st, 3 of 4 has 2/3.
#   Two matches: only the second query has them, ANR (5 - 3) / (2 * 3) = 1/3.
SOME = [ranks(3), ranks(1, 4)]
WANTED = {1: 2, 2: 6}


def test_queries_stand_for_others_by_hand() -> None:
    anr, weights = reweighted(SOME, 5, False, WANTED)
    assert anr == pytest.approx([1 / 2, 0, 2 / 3, 1 / 3])
    assert weights == pytest.approx([1, 1 / 2, 1 / 2, 6])
    counted, same = reweighted(SOME, 5, True, WANTED)
    assert counted == pytest.approx([1 / 4, 0, 1 / 3, 2 / 9])
    assert same == pytest.approx(weights)


def test_figures_by_hand() -> None:
    found = figures(SOME, 5, False, WANTED)
    assert found == {
        "mean_anr": pytest.approx((1 / 2 + 1 / 3 + 2) / 8),
        "anr_below_0.3": pytest.approx(0.5 / 8),
        "anr_below_0.5": pytest.approx(6.5 / 8),
        # 7.5 of 8 are at 1/2 or below, and 98 % of 8 are 7.84.
        "anr_q98": pytest.approx(2 / 3),
    }
    assert figures(SOME, 5, True, WANTED)["anr_below_0.3"] == pytest.approx(7.5 / 8)


def test_a_perfect_ranking_is_perfect_with_any_numbers_of_matches() -> None:
    assert figures([ranks(1, 2, 3), ranks(1, 2)], 20, counted=False) == {
        "mean_anr": 0.0,
        "anr_below_0.3": pytest.approx(1.0),
        "anr_below_0.5": pytest.approx(1.0),
        "anr_q98": 0.0,
    }


def test_one_of_the_readings_is_the_recipe_to_the_letter() -> None:
    sets, labels = small_world(people=6, sets=3)
    tables = index(sets)
    found = ranks_by_reading(tables, labels, seed=0)
    assert len(found) == 5 * 3 * 9
    for count in paper_figures.PROXIES:
        # Trained on ten proxies, of which so many speak.
        literal = leave_one_out(tables, {"learnt": train(tables, "learnt", 0)}, labels, sweep="learnt")
        mine = found["as they are", count, "max", "max with the baseline"]
        assert [one.tolist() for one in mine] == [one.tolist() for one in literal.by_proxies[count]]


def test_the_best_reading_of_each_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = {("a", 1, "max", "alone"): [ranks(1, 2, 30)], ("b", 1, "max", "alone"): [ranks(9, 10, 11)]}
    monkeypatch.setattr(paper_figures, "ranks_by_reading", lambda tables, labels, seed: worlds)
    sets, labels = small_world(people=11, sets=3)
    found = readings(index(sets), labels, 0)
    assert found["tried"] == 2
    told = {name: figures(some, 32, counted=False) for name, some in worlds.items()}
    for measure, least in (("mean_anr", True), ("anr_below_0.3", False), ("anr_q98", True)):
        expected = sorted(told, key=lambda name: told[name][measure], reverse=not least)[0]
        assert found["best"][measure]["reading"] == list(expected)
        assert found["best"][measure]["value"] == told[expected][measure]


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads((ROOT / "docs" / "lab" / "results.json").read_text(encoding="utf-8"))["paper"]


def test_every_figure_of_the_section_is_one_of_the_record(kept: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(kept))
    changed["runs"][0]["methods"]["baseline"]["counted"]["anr_below_0.3"] = 0.98765
    changed["runs"][1]["readings"]["best"]["anr_q98"]["value"] = 0.12345
    assert "0.988" not in section(kept)
    assert "| ours, `max_max`, `baseline`, query counted | 0.988 |" in section(changed)
    assert "0.1235" not in section(kept)
    assert "| 0.1235 |" in section(changed)
    assert "none a 98 % quantile below 0.12" in section(changed)


def test_the_record_says_what_the_section_claims(kept: dict[str, Any]) -> None:
    """The words beside the tables are typed: they must hold for the figures."""
    published = {"max_max": (0.540, 0.725), "max_correlation": (0.549, 0.728)}
    assert [run["similarity"] for run in kept["runs"]] == list(published)
    for run in kept["runs"]:
        before, after = published[run["similarity"]]
        baseline = run["methods"]["baseline"]
        # Near the published baseline if left out, near the learnt method if counted.
        assert baseline["left_out"]["anr_below_0.3"] == pytest.approx(before, abs=0.03)
        assert baseline["counted"]["anr_below_0.3"] == pytest.approx(after, abs=0.02)
        # Close to the published bounds, and not within them.
        assert 0.96 < baseline["counted"]["anr_below_0.5"] < 0.98
        assert 0.5 < baseline["counted"]["anr_q98"] < 0.55
        # No reading gives the gain.
        assert run["readings"]["tried"] == 135
        assert run["readings"]["best"]["anr_below_0.3"]["value"] < before + 0.03
        assert run["readings"]["best"]["anr_q98"]["value"] > 0.8
    # A ranking that is really so good has a tail.
    better = kept["prepared"]["methods"]["baseline"]["left_out"]
    assert better["anr_below_0.3"] == pytest.approx(0.74, abs=0.03)
    assert better["anr_q98"] > 0.7
