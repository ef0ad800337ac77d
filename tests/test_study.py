"""The page about the options of learnt is what its record says, and the study measures what it names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.study_learnt import CONFIGURATIONS, VARIANTS, study
from benchmarks.study_page import page
from lookalike import index, train
from lookalike.evaluation.protocol import leave_one_out
from tests.small_world import small_world
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads((ROOT / "docs" / "lab" / "learnt.json").read_text(encoding="utf-8"))


def test_no_number_of_the_tables_is_typed_by_hand(kept: dict[str, Any]) -> None:
    assert (ROOT / "docs" / "lab" / "learnt.md").read_text(encoding="utf-8") == page(kept)


def test_every_variant_is_measured_everywhere(kept: dict[str, Any]) -> None:
    assert [run["name"] for run in kept["runs"]] == [one.name for one in CONFIGURATIONS]
    for run in kept["runs"]:
        assert list(run["methods"]) == ["baseline", *VARIANTS]


def test_a_number_of_the_record_is_a_number_of_the_page(kept: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(kept))
    methods = changed["runs"][0]["methods"]
    for one in VARIANTS:
        methods[one] |= {"map": 0.98765, "outside": 0.4321}
    assert "0.9877" not in page(kept)
    assert page(changed).count("0.9877") == page(changed).count(" 43% |") == len(VARIANTS)


def test_better_and_worse_are_counted() -> None:
    methods = {
        "baseline": {"mean_anr": 0.2, "map": 0.5, "rank1": 0.5},
        "learnt": {"mean_anr": 0.1, "map": 0.4, "rank1": 0.5, "outside": 0.1},
    }
    run = {"name": "one", "sets": 9, "similarity": "max_max", "methods": methods}
    record = {
        "date": "today",
        "versions": {"lookalike": "1", "cores": 2, "system": "a"},
        "seeds": [0],
        "runs": [run, run],
    }
    assert "| `learnt` | 2 / 0 | 0 / 2 | 0 / 0 |" in page(record)


def test_a_study_averages_over_seeds() -> None:
    sets, labels = small_world(people=6, sets=3)
    tables = index(sets)
    found = study(tables, labels, ["learnt:references=4"], [0, 1])
    assert list(found) == ["baseline", "learnt:references=4"]
    fitted = {str(seed): train(tables, "learnt:references=4", seed) for seed in (0, 1)}
    alone = leave_one_out(tables, fitted, labels).to_dict()["rerankers"]
    mean = (alone["0"]["map"] + alone["1"]["map"]) / 2
    assert found["learnt:references=4"]["map"] == pytest.approx(mean)
    share = (fitted["0"].outside_ + fitted["1"].outside_) / 2
    assert found["learnt:references=4"]["outside"] == pytest.approx(share)
    assert "outside" not in found["baseline"]


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("study_learnt", "study: there are no faces in {folder}: give --data, see docs/lab/learnt.md\n"),
        ("study_stages", "stages: there are no faces in {folder}: give --data, see docs/lab/reranking.md\n"),
        (
            "paper_figures",
            "paper: there is no {folder}/ytf_dev.npz: give --data and --out, see docs/lab/results.md\n",
        ),
    ],
)
def test_nothing_at_hand_is_a_sentence(tmp_path: Path, module: str, sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", "--data", tmp_path, "--out", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr == sentence.format(folder=tmp_path)
    assert not list(tmp_path.iterdir())
