"""Progress: how long work announces itself before it begins, and lets itself be watched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from lookalike.resources import Need

Item = TypeVar("Item")

# What was expected at first counts as much as what so large a share of the work took.
EXPECTED: Final = 0.25


@dataclass(frozen=True)
class Task:
    """Something that is about to be made from a gallery, and kept beside it."""

    what: str  # `preparation`, `index`, `reranker` or `shortlist`
    words: str  # the same for people
    need: Need | None = None  # memory and disk that it takes, where that was estimated


# Called before each task begins.
Before = Callable[[Task], None]


@dataclass(frozen=True)
class Step:
    """An item of work that can say more than that it has passed."""

    words: str  # what the work is at
    # About how many seconds the rest takes; whoever shows it guesses unless this is given.
    left: float | None = None


@dataclass(frozen=True)
class Forecast:
    """How long so many items take: first as expected, then more and more what it took. It never jumps."""

    expected: float
    total: int

    def left(self, done: int, elapsed: float) -> float:
        """About how many seconds the rest takes, after so many items and seconds."""
        share = min(1.0, done / max(1, self.total))
        return (EXPECTED * self.expected + elapsed) / (EXPECTED + share) * (1 - share)


class Track(Protocol):
    """Yields the items unchanged and may show how far the work is, as ``rich.progress.track`` does.

    An item that is a `Step` says where the work is and how long the rest takes.
    """

    def __call__(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        """Watch the items pass."""


def counted(sets: int) -> str:
    """A number of sets in words."""
    return "1 set" if sets == 1 else f"{sets} sets"


def silent(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
    """Show nothing."""
    return iter(items)
