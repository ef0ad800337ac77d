"""Outcome: what a test of trust found, and how its cases are counted."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Self, TypeVar

from lookalike.progress import Track, silent

Item = TypeVar("Item")
# So much of the text of a failure is shown.
MOST_LETTERS: Final = 400


class Failures(list[str]):
    """What failed, a sentence each, told on stderr when it is put in: its test may go on for hours.

    Parameters
    ----------
    name : str
        The test, for instance ``T6``.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def append(self, failure: str, /) -> None:
        """Add one, and tell it."""
        super().append(failure)
        print(f"  {self.name} ! {failure[:MOST_LETTERS]}", file=sys.stderr, flush=True)

    def extend(self, failures: Iterable[str], /) -> None:
        """Add some, and tell each."""
        for failure in failures:
            self.append(failure)

    def __iadd__(self, failures: Iterable[str], /) -> Self:  # type: ignore[misc, override]  # as that of list
        self.extend(failures)
        return self


@dataclass(frozen=True)
class Outcome:
    """What became of the cases of a test.

    Attributes
    ----------
    name : str
        The test, for instance ``T6``.
    cases : int
        How many were tried.
    failures : list of str
        A sentence for each case that failed, with what repeats it.
    seconds : float
        How long it took.
    note : str
        What else is worth knowing.
    """

    name: str
    cases: int
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    note: str = ""

    def __add__(self, other: Outcome) -> Outcome:
        """Both parts of one test."""
        notes = [note for note in (self.note, other.note) if note]
        failures = [*self.failures, *other.failures]
        return Outcome(
            self.name, self.cases + other.cases, failures, self.seconds + other.seconds, "; ".join(notes)
        )


def tried(
    name: str,
    items: Iterable[Item],
    attempt: Callable[[Item], str | None],
    track: Track = silent,
    text: str = "",
    total: int | None = None,
) -> Outcome:
    """Try every item; an attempt returns what is wrong, or None. Whatever it raises is a failure too."""
    started, cases, failures = time.monotonic(), 0, Failures(name)
    for item in track(items, text or name, total):
        cases += 1
        try:
            wrong = attempt(item)
        except Exception as reason:
            wrong = f"{type(reason).__name__}: {reason}"
        if wrong:
            failures.append(f"{item}: {wrong}")
    return Outcome(name, cases, failures, time.monotonic() - started)


def share_of(release: int, share: float, least: int = 1) -> int:
    """How many cases a share of the release size is."""
    return max(least, round(release * share))
