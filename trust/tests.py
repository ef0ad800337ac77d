"""Tests: every file ``tNN_*.py`` beside this one, by its name."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from lookalike.progress import Track, silent
from trust.apart import run_apart
from trust.outcome import Outcome


@dataclass(frozen=True)
class Test:
    """A test of trust.

    Attributes
    ----------
    name : str
        For instance ``T6``.
    module : ModuleType
        Where it is.
    """

    __test__ = False  # pytest shall not take it for one of its own
    name: str
    module: ModuleType

    @property
    def title(self) -> str:
        """What it does, in a line."""
        return str(self.module.TITLE)

    @property
    def release(self) -> int:
        """How many cases a release takes; 0 if that is not known before."""
        return int(self.module.RELEASE)

    @property
    def left_out(self) -> str:
        """What it does not try."""
        return str(getattr(self.module, "LEFT_OUT", ""))

    @property
    def has_numbers(self) -> bool:
        """Whether each of its cases follows from the seed and a number, so that one can be run alone."""
        return hasattr(self.module, "case")

    def run(self, share: float, seed: int, track: Track = silent, case: int | None = None) -> Outcome:
        """Run a share of its cases, or the one of a number, if it `has_numbers`."""
        if case is not None:
            return run_apart(self.name, self.module.__name__, [case], seed, track)
        found: Outcome = self.module.run(share, seed, track)
        return found


def every_test() -> dict[str, Test]:
    """All tests by name, in the order of their numbers."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("t[0-9][0-9]_*.py")):
        number = re.match(r"t(\d+)_", path.name)
        assert number
        module = import_module(f"trust.{path.stem}")
        assert inspect.isfunction(module.run), path
        found[f"T{int(number[1])}"] = Test(f"T{int(number[1])}", module)
    return found
