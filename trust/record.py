"""Record: what came of each test when it was last run, in docs/lab/trust.json and as a page beside it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from lookalike import __version__
from trust.outcome import Outcome
from trust.page import as_page
from trust.tests import Test, every_test

RECORD: Final = Path("docs/lab/trust.json")
# More tell nothing new.
MOST_FAILURES: Final = 20


class Record:
    """Outcomes by test; several courses may run at once and write to it.

    Parameters
    ----------
    path : Path
        The JSON file; the page has its name with ``.md``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, dict[str, Any]]:
        """All that is known."""
        found: dict[str, dict[str, Any]] = json.loads(self.path.read_text()) if self.path.exists() else {}
        return found

    def has(self, name: str, share: float, seed: int) -> bool:
        """Whether a test was run to its end on this release with this share and seed, without failures."""
        known = self.read().get(name)
        if known is None or known["failures"] or known["is_short"]:
            return False
        return (known["version"], known["share"], known["seed"]) == (__version__, share, seed)

    def keep(self, test: Test, outcome: Outcome, share: float, seed: int, is_short: bool) -> None:
        """Write down what came of a test, in place of what is known of it."""
        said = {
            "title": test.title,
            "release": test.release,
            "cases": outcome.cases,
            "failures": len(outcome.failures),
            "first_failures": outcome.failures[:MOST_FAILURES],
            "seconds": round(outcome.seconds, 1),
            "date": datetime.now(UTC).date().isoformat(),
            "version": __version__,
            "share": share,
            "seed": seed,
            "is_short": is_short,
            "note": outcome.note,
            "left_out": test.left_out,
        }
        with self._alone():
            known = self.read() | {test.name: said}
            known = {name: known[name] for name in sorted(known, key=lambda name: int(name[1:]))}
            _write(self.path, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
            _write(self.path.with_suffix(".md"), as_page(known, __version__, every_test()))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


def _write(path: Path, text: str) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.write_text(text)
    aside.replace(path)
