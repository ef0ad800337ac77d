"""Course: the chosen tests, in turn or several at once; an interrupted course goes on where it stopped."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from lookalike.progress import Item
from trust.outcome import MOST_LETTERS, Outcome
from trust.record import Record
from trust.tests import Test


class Watch:
    """Shows how far a test is, and ends it when its time is over.

    Parameters
    ----------
    minutes : float, optional
        How long a test may take.
    """

    def __init__(self, minutes: float | None = None) -> None:
        self.end = None if minutes is None else time.monotonic() + 60 * minutes
        self.is_short = False

    def __call__(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        """Watch the items pass."""
        shown = time.monotonic()
        for number, item in enumerate(items):
            if self.end is not None and time.monotonic() > self.end:
                self.is_short = True
                break
            yield item
            if time.monotonic() - shown > 30:
                shown = time.monotonic()
                print(f"  {text}: {number + 1} of {total or 'many'}", file=sys.stderr, flush=True)


def run_course(
    tests: Mapping[str, Test],
    record: Record | None,
    share: float = 1.0,
    seed: int = 0,
    minutes: float | None = None,
    case: int | None = None,
    is_repeated: bool = False,
) -> list[str]:
    """Run tests, print what came of each, write it down; return the names of those that failed."""
    failed = []
    for name, test in tests.items():
        if record is not None and not is_repeated and case is None and record.has(name, share, seed):
            print(f"{name:4} is in the record with this share and seed (--again runs it again)", flush=True)
            continue
        print(f"{name:4} {test.title} (share {share:g}, seed {seed})", flush=True)
        watch = Watch(minutes)
        try:
            outcome = test.run(share, seed, watch, case)
        except Exception as reason:  # what cannot be tried is no outcome, and no reason to leave the others
            print(f"     could not be run: {type(reason).__name__}: {reason}", flush=True)
            failed.append(name)
            continue
        print(f"     {line(outcome)}", flush=True)
        for failure in outcome.failures[:20]:
            print(f"     ! {failure[:MOST_LETTERS]}", flush=True)
        if record is not None and case is None:
            record.keep(test, outcome, share, seed, watch.is_short)
        if outcome.failures:
            failed.append(name)
    return failed


def run_at_once(names: Sequence[str], record: Record | None, jobs: int, options: Sequence[str]) -> list[str]:
    """Run each test in a process of its own, so many at once; return the names of those that did not succeed.

    What took longest the last time begins first, and what is not in the record before that.
    """
    known = {} if record is None else record.read()
    order = sorted(names, key=lambda name: -known[name]["seconds"] if name in known else -float("inf"))

    def run(name: str) -> bool:
        words = [sys.executable, "-m", "trust", name, "--jobs", "1", *options]
        ended = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        print(ended.stdout, end="", flush=True)
        if ended.returncode not in (0, 1):
            print(f"{name:4} could not be run: it ended with {ended.returncode}", flush=True)
        return ended.returncode == 0

    with ThreadPoolExecutor(jobs) as pool:
        succeeded = dict(zip(order, pool.map(run, order), strict=True))
    return [name for name in names if not succeeded[name]]


def line(outcome: Outcome) -> str:
    """One line about an outcome."""
    note = f" ({outcome.note})" if outcome.note else ""
    return f"{outcome.cases} cases, {len(outcome.failures)} failures, {outcome.seconds:.1f} s{note}"
