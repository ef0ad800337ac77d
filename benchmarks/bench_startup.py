"""Startup: the help, and a warm query, each as a new process, against importing what they need."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.entries import entry
from benchmarks.worlds import seconds, vector_sets
from lookalike import Gallery, open_search

COMMAND = [sys.executable, "-c", "from lookalike.cli import main; main()"]


def run(toy: bool) -> list[dict[str, Any]]:
    repeats = 1 if toy else 7

    def process(*words: str) -> float:
        return seconds(lambda: subprocess.run(words, capture_output=True, check=True), repeats)

    needed = process(sys.executable, "-c", "import numpy, scipy.linalg, numba, typer, rich.table, sqlite3")
    typer = process(sys.executable, "-c", "import typer, rich.table")
    helping = process(*COMMAND, "--help")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "g"
        with Gallery(path, create=True) as gallery:
            for one in vector_sets(20 if toy else 500):
                gallery.add(one)
            open_search(gallery)
            query = gallery.ids()[0]
        finding = process(*COMMAND, "find", str(path), query, "--quiet")
    return [
        # 0.3 s, where importing what draws the help takes 0.15 s.
        entry("help to importing typer", helping / typer, 2.0, seconds=helping, typer_seconds=typer),
        entry(
            "warm learnt find to importing its libraries",
            finding / needed,
            2.0,
            seconds=finding,
            libraries_seconds=needed,
        ),
    ]
