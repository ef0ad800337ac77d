"""Run the tests of trust: ``python -m trust [T1 T6 ...] [--share 0.05] [--seed N]``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from trust.course import run_at_once, run_course
from trust.record import RECORD, Record
from trust.tests import every_test


def main() -> int:
    """Run, print a line for each test, and keep the record and its page."""
    tests = every_test()
    parser = argparse.ArgumentParser(prog="python -m trust", description=__doc__)
    parser.add_argument("names", nargs="*", type=str.upper, metavar="T1", help=f"of {', '.join(tests)}; all")
    parser.add_argument("--share", type=float, default=1.0, help="of the release size (default 1)")
    parser.add_argument("--seed", type=int, default=20261116, help="of all chance (default 20261116)")
    parser.add_argument("--minutes", type=float, help="that one test may take; it then stops where it is")
    parser.add_argument(
        "--case", type=int, help="run this case alone, to repeat a failure; nothing is recorded"
    )
    parser.add_argument(
        "--again", action="store_true", help="also tests that the record has with this share, seed"
    )
    parser.add_argument(
        "--record", type=Path, help=f"where to write it down (default {RECORD} at release size, else nowhere)"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=min(2, os.cpu_count() or 1),
        help="tests at once (default 2, on two processors)",
    )
    given = parser.parse_args()
    if unknown := set(given.names) - tests.keys():
        parser.error(f"there is no test {', '.join(sorted(unknown))}: choose from {', '.join(tests)}")
    chosen = {name: test for name, test in tests.items() if not given.names or name in given.names}
    if given.case is not None and (without := [name for name in chosen if not chosen[name].has_numbers]):
        parser.error(f"{', '.join(without)} cannot run one case alone: leave --case out, or choose others")
    # What a smaller run finds must not take the place of a release.
    record = Record(given.record or RECORD) if given.record or given.share >= 1 else None
    if given.jobs > 1 and len(chosen) > 1 and given.case is None:
        options = [
            "--share",
            str(given.share),
            "--seed",
            str(given.seed),
            *(["--again"] if given.again else []),
        ]
        options += ["--minutes", str(given.minutes)] if given.minutes is not None else []
        options += ["--record", str(given.record)] if given.record else []
        return 1 if run_at_once(list(chosen), record, given.jobs, options) else 0
    failed = run_course(
        chosen, record, given.share, given.seed, given.minutes, given.case, is_repeated=given.again
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
