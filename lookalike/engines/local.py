"""Local: everything in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from lookalike.engines.contract import Answers, Engine, Residents, Work
from lookalike.kernels.threads import thread_count


class Local(Engine):
    """Shards are opened here when they are first asked; the work itself uses all processors."""

    is_here = True

    @property
    def workers(self) -> int:
        """As many as processors: the work itself uses them."""
        return thread_count()

    def hold(self, opening: Work, given: Sequence[tuple[Any, ...]]) -> Residents:
        """Remember how each is opened."""
        return _Here(opening, given)

    def map(self, work: Work, items: Iterable[Any], tries: int | None = None) -> Iterator[Any]:
        """One after the other."""
        return map(work, items)


class _Here(Residents):
    def __init__(self, opening: Work, given: Sequence[tuple[Any, ...]]) -> None:
        super().__init__()
        self._open = [cache(partial(opening, *one)) for one in given]

    def __len__(self) -> int:
        return len(self._open)

    def put(self, work: Work, given: Mapping[int, tuple[Any, ...]]) -> Answers:
        return lambda: {number: work(self._open[number](), *some) for number, some in given.items()}

    def share(self, value: Any) -> Any:
        return value

    def close(self) -> None:
        for one in self._open:
            one.cache_clear()
