"""Benchmarks run, at a size that only shows that they do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from PIL import Image

from benchmarks.__main__ import NAMES

ROOT = Path(__file__).parents[1]


def test_every_benchmark_runs_and_writes_its_figures(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--toy", "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.stem for path in (ROOT / "benchmarks").glob("bench_*.py")) == sorted(
        f"bench_{name}" for name in NAMES
    )
    with Image.open(tmp_path / "growth.png") as plot:
        assert plot.size == (750, 600)
    for name in NAMES:
        record = json.loads((tmp_path / f"{name}.json").read_text())
        assert record["benchmark"] == name
        assert record["entries"]
        for entry in record["entries"]:
            assert entry["name"]
            assert isinstance(entry["ratio"], float)
            assert entry["target"] > 0


def test_a_million_sets_are_made_indexed_and_asked_in_small(tmp_path: Path) -> None:
    for _ in range(2):  # what is there already is not made again
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.million", "600", "700"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "bench-results" / "million" / "700.json").read_text())
    assert told["sets"] == 700
    assert told["index_seconds_foretold"] > 0
    assert told["of_one_person_in_lists"] == 1
    assert told["auto_of_one_person_found"] > 0.9
