"""The page of results is what its record says, and the command that makes both runs on what is at hand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.results_page import page, plot_name
from tests.ingest.youtube_miniature import write_youtube_faces
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
PAPER = ["baseline", "learnt", "arithmetic_mean", "geometric_mean", "quadratic_mean"]
SIMILARITIES = ["max_max", "max_correlation"]


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.real_faces", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads((ROOT / "docs" / "lab" / "results.json").read_text(encoding="utf-8"))


def test_no_number_of_the_page_is_typed_by_hand(kept: dict[str, Any]) -> None:
    assert (ROOT / "docs" / "lab" / "results.md").read_text(encoding="utf-8") == page(kept)


def test_a_number_of_the_record_is_a_number_of_the_page(kept: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(kept))
    changed["runs"][0]["rerankers"]["learnt"]["map"] = 0.98765
    assert "0.9877" not in page(kept)
    # In the table of the run, and in what is said of the paper's claim.
    assert page(changed).count("0.9877") == 2


def test_every_plot_of_the_page_is_there_and_no_other(kept: dict[str, Any]) -> None:
    named = {Path(name).name for name in re.findall(r"\(figures/([^)]*)\)", page(kept))}
    assert named == {plot_name(found) for found in kept["runs"] if "told_apart" in found}
    assert named == {path.name for path in (ROOT / "docs" / "lab" / "figures").glob("features_*.svg")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results on the miniature of YouTube Faces, and on nothing else."""
    root = tmp_path_factory.mktemp("results")
    write_youtube_faces(root / "YTF", people=6, videos=2, frames=4, distractors=1)
    (root / "empty").mkdir()
    done = run("--data", root / "empty", "--youtube-faces", root / "YTF", "--out", root / "out")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == f"2 tables in {root / 'out' / 'results.md'}\n"
    return root / "out"


def test_the_command_writes_the_papers_table(made: Path) -> None:
    found = json.loads((made / "results.json").read_text())
    assert (made / "results.md").read_text(encoding="utf-8") == page(found)
    assert [one["collection"] for one in found["runs"]] == ["youtube_faces"] * 2
    assert [one["similarity"].partition(":")[0] for one in found["runs"]] == SIMILARITIES
    text = (made / "results.md").read_text(encoding="utf-8")
    for one, similarity in zip(found["runs"], SIMILARITIES, strict=True):
        assert (one["queries"], one["sets"], one["distractors"]) == (12, 13, 1)
        assert one["single_match"] == {"queries": 12, "people": 6}
        assert list(one["rerankers"])[: len(PAPER)] == PAPER
        table = text.partition(f"## youtube_faces, `{similarity}`")[2].partition("\n## ")[0]
        assert "12 queries of 6 people, 13 sets (52 faces), 1 distractors" in table
        for name, measured in one["rerankers"].items():
            [line] = [line for line in table.splitlines() if re.match(rf"\| `{re.escape(name)}`[ (]", line)]
            cells = [cell.strip(" *") for cell in line.split("|")[2:-1]]
            assert cells == [
                f"{measured[key]:.4f}"
                for key in ("mean_anr", "anr_below_0.3", "map", "rank1", "match_in_100")
            ]
    assert "Of 4 comparisons" in text
    assert {path.name for path in (made / "figures").iterdir()} == {plot_name(one) for one in found["runs"]}


def test_nothing_at_hand_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run("--data", tmp_path / "empty", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.startswith(f"results: there are no faces in {tmp_path / 'empty'}: give --data or")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out" / "results.md").exists()


def test_a_folder_that_is_not_the_data_set_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run("--data", tmp_path / "empty", "--youtube-faces", tmp_path / "empty", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("results: ")
