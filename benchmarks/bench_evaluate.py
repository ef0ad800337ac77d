"""Evaluate: every query of a world of the size of YouTube Faces, killed half-way and gone on."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.entries import entry
from benchmarks.worlds import seconds
from lookalike import Gallery, Search, index, train
from lookalike.demo.vectors import vector_world

COMMAND = [sys.executable, "-c", "from lookalike.cli import main; main()"]


def run(toy: bool) -> list[dict[str, Any]]:
    count = 60 if toy else 3425
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        finding = _fill(folder, count)
        asked = [*COMMAND, "evaluate", "g", "--labels", "labels.csv", "--json"]
        # Long enough to be well on its way; the toy is done before.
        killed_after = _killed(asked, folder, 1.0 if toy else 120.0)
        start = time.perf_counter()
        done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True)
        going_on = time.perf_counter() - start
    found = json.loads(done.stdout)
    taken_up = re.search(r"going on after (\d+) queries", done.stderr)
    kept = int(taken_up[1]) if taken_up else 0
    left = found["queries"] - kept
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return [
        entry(
            "a query of an evaluation to find",
            going_on / max(left, 1) / finding,
            1.0,
            sets=count,
            queries=found["queries"],
            killed_after_seconds=killed_after,
            queries_not_asked_again=kept,
            seconds_for_the_rest=going_on,
        ),
        entry("peak to four gigabytes", peak / 4e9, 1.0, gigabytes=peak / 1e9),
    ]


def _fill(folder: Path, count: int) -> float:
    """Write gallery and labels, index and train; return the seconds of one query by itself."""
    with Gallery(folder / "g", create=True) as gallery, (folder / "labels.csv").open("w") as labels:
        labels.write("set_id,person\n")
        for faceset, person in islice(vector_world(), count):
            gallery.add(faceset)
            labels.write(f"{faceset.id},{person}\n")
        tables = index(gallery)
        search = Search(tables, train(tables, "learnt", 0, gallery))
    return seconds(lambda: search.find(tables.ids[0]), 3, time.perf_counter)


def _killed(command: list[str], folder: Path, limit: float) -> float:
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
    return time.perf_counter() - start
