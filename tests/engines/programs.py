"""Short programs that use an engine, each in a process of its own which can import the tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.cli_process import Ended, environment
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).parents[2]


def run_code(code: str, env: Mapping[str, str] | None = None) -> Ended:
    """Run a program to its end, in the environment of a plain pipe unless one is given."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment() if env is None else env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def until_begun(process: subprocess.Popen[str], begun: Path) -> None:
    """Wait until a module that was started says by a file that it is at work."""

    def goes_on() -> None:
        assert process.poll() is None, process.communicate()

    until(begun.exists, goes_on)


@contextmanager
def started(module: str, *words: object) -> Iterator[subprocess.Popen[str]]:
    """A module that runs, whose input and output are ours; it ends with the block, also if that fails."""
    with subprocess.Popen(
        [sys.executable, "-m", module, *map(str, words)],
        env=environment(),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
