"""Apart: cases run in a child process, which may crash or hang without taking the others with it.

A module with cases has ``prepare(folder, seed)``, run once in each child, and ``case(ready, number)``, which
returns what is wrong or None. The child says which case it begins and how it ended, a line each.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import IO, Any, Final

from lookalike.progress import Track
from tests.gallery.samples import QUICK
from tests.waiting import PATIENCE
from trust.outcome import Failures, Outcome

ROOT: Final = Path(__file__).parents[1]
# So many cases in one child: starting one takes as long as dozens of them.
BATCH: Final = 500


def run_apart(
    name: str, module: str, numbers: Sequence[int], seed: int, track: Track, env: dict[str, str] | None = None
) -> Outcome:
    """Run the cases of a module in children; a child that ends early fails the case it had begun."""
    started, cases, failures, notes = time.monotonic(), 0, Failures(name), Counter[str]()
    for number, said in track(_answers(module, numbers, seed, env or {}), name, len(numbers)):
        cases += 1
        if said.get("note"):
            notes[said["note"]] += 1
        if said.get("wrong"):
            failures.append(f"case {number} of seed {seed}: {said['wrong']}")
    counted = ", ".join(f"{count} {note}" for note, count in sorted(notes.items()))
    return Outcome(name, cases, failures, time.monotonic() - started, counted)


def _answers(
    module: str, numbers: Sequence[int], seed: int, env: dict[str, str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    left = list(numbers)
    while left:
        batch = left[:BATCH]
        done = 0
        for number, said in _one_child(module, batch, seed, env):
            done += 1
            yield number, said
        left = left[max(1, done) :] if done < len(batch) else left[len(batch) :]


def _one_child(
    module: str, numbers: Sequence[int], seed: int, env: dict[str, str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Answers until all are there, or until one is that the child died of."""
    with tempfile.TemporaryDirectory(dir=QUICK) as folder, tempfile.TemporaryFile() as told:
        words = [sys.executable, "-m", "trust.apart", module, str(seed), folder]
        child = subprocess.Popen(
            words,
            cwd=ROOT,
            env={**os.environ, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=told,
            text=True,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write(json.dumps(list(numbers)) + "\n")
                child.stdin.flush()
            if not _line(child, child.stdout):  # when it is prepared
                # Then no case can be tried: that is no outcome.
                raise RuntimeError(f"{module} could not be prepared: {_end(told)}")
            for number in numbers:
                line = _line(child, child.stdout)
                if not line:
                    code = child.wait(PATIENCE)
                    how = f"took over {PATIENCE:g} s" if code == -9 else f"ended the process ({code})"
                    yield number, {"wrong": f"{how}: {_end(told)}"}
                    return
                yield number, json.loads(line)
        finally:
            child.kill()
            child.wait()
            child.stdin.close()
            child.stdout.close()


def _line(child: subprocess.Popen[str], pipe: IO[str]) -> str:
    timer = Timer(PATIENCE, child.kill)
    timer.start()
    try:
        return pipe.readline()
    finally:
        timer.cancel()


def _end(told: IO[bytes]) -> str:
    told.seek(0)
    return told.read().decode("utf-8", "replace").strip()[-300:]


def main(module: str, seed: int, folder: Path) -> None:
    """Be the child."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever is printed is no answer
    numbers = json.loads(sys.stdin.readline())
    tests = import_module(module)
    ready = tests.prepare(folder, seed)
    print("ready", file=answers, flush=True)
    for number in numbers:
        try:
            wrong, note = _told(tests.case(ready, number))
        except Exception as reason:
            where = traceback.extract_tb(reason.__traceback__)[-1]
            wrong, note = f"{type(reason).__name__}: {reason} ({where.filename}:{where.lineno})", ""
        print(json.dumps({"wrong": wrong, "note": note}), file=answers, flush=True)


def _told(said: str | tuple[str | None, str] | None) -> tuple[str | None, str]:
    """A case says what is wrong, or that with a word by which cases are counted."""
    return said if isinstance(said, tuple) else (said, "")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
