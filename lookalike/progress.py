"""Track: how long work lets itself be watched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

Item = TypeVar("Item")

# What was expected at first counts as much as what so large a share of the work took.
EXPECTED: Final = 0.25


@dataclass(frozen=True)
class Step:
    """An item of work that can say more than that it has passed.

    Parameters
    ----------
    words : str
        What the work is at.
    left : float, optional
        About how many seconds the rest takes; whoever shows it guesses unless this is given.
    """

    words: str
    left: float | None = None


@dataclass(frozen=True)
class Forecast:
    """How long work takes: at first what was expected, more and more what it took so far. It never jumps.

    Parameters
    ----------
    expected : float
        Seconds for all of it, as far as could be told before.
    total : int
        How many items there are.
    """

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


def silent(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
    """Show nothing."""
    return iter(items)
