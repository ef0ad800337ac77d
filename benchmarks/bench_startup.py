"""Startup: the help, and a warm query, each as a new process, against importing what they need.

Processor time, so that whoever else uses the machine disturbs little. Python keeps what it compiled, as it
does for whoever installed the package.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.entries import entry
from benchmarks.worlds import vector_sets
from lookalike import Gallery, open_search

COMMAND = [sys.executable, "-m", "lookalike"]


def run(toy: bool) -> list[dict[str, Any]]:
    repeats = 1 if toy else 7
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "g"
        with Gallery(path, create=True) as gallery:
            for one in vector_sets(20 if toy else 500):
                gallery.add(one)
            open_search(gallery)
            query = gallery.ids()[0]
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        kept["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        commands = {
            "libraries": [sys.executable, "-c", "import numpy, typer"],
            "typer": [sys.executable, "-c", "import typer, rich.table"],
            "help": [*COMMAND, "--help"],
            "find": [*COMMAND, "find", str(path), query, "--quiet"],
        }
        for words in commands.values():
            _seconds(words, kept)
        # In turns, so that what disturbs one disturbs all.
        took = [{name: _seconds(words, kept) for name, words in commands.items()} for _ in range(repeats)]
    least = {name: min(one[name] for one in took) for name in commands}
    return [
        entry(
            "help to importing typer",
            least["help"] / least["typer"],
            2.0,
            seconds=least["help"],
            typer_seconds=least["typer"],
        ),
        entry(
            "warm find among 500 sets to importing NumPy and Typer",
            least["find"] / least["libraries"],
            2.0,
            seconds=least["find"],
            libraries_seconds=least["libraries"],
        ),
    ]


def _seconds(words: list[str], environment: dict[str, str]) -> float:
    """Processor time of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, capture_output=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
