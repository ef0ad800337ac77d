"""Track: how long work lets itself be watched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Track(Protocol):
    """Yields the items unchanged and may show how far the work is, as ``rich.progress.track`` does."""

    def __call__(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        """Watch the items pass."""


def silent(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
    """Show nothing."""
    return iter(items)
