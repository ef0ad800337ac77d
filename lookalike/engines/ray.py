"""Ray: shards are kept open by actors of a Ray cluster, on this machine or on many.

Ray is started by the user (``ray start``), whose address is given, or here for as long as the engine lives.
Its processes trust each other and what they are sent: a cluster belongs to one user.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from lookalike.engines import _ray_state
from lookalike.engines._ray_entry import entered
from lookalike.engines._ray_failures import got, in_words, is_lost, is_work_lost
from lookalike.engines._ray_place import Place, applied, versions
from lookalike.engines._ray_state import ASIDE, NAMESPACE, new_name
from lookalike.engines.contract import Answers, Engine, Label, Lost, Residents, State, Work
from lookalike.errors import StorageFailed
from lookalike.kernels.threads import thread_count

# Pieces of work that wait for a worker each: enough to keep it busy, and no more than fit its memory.
WAITING: Final = 2
# A question is given up that lost its shard so often, and for so many seconds. A process that dies loses it
# at once; a machine that falls silent may lose it several times before the cluster knows.
LOSSES: Final = 3
SECONDS_OF_LOSSES: Final = 60.0
# Of shards that nobody else need know.
UNLABELLED: Final = Label("-", "-", "", "")


class Ray(Engine):
    """A Ray cluster.

    Parameters
    ----------
    address : str, optional
        Of a cluster that runs, for instance ``192.168.0.5:6379`` or ``auto``; one is started here, and ended
        with the engine, unless it is given.
    """

    def __init__(self, address: str | None = None) -> None:
        self.address = address
        self._ray: Any = None
        self._is_ours = False

    def hold(
        self, opening: Work, given: Sequence[tuple[Any, ...]], labels: Sequence[Label] = ()
    ) -> Residents:
        """One actor for each shard; Ray chooses where it lives."""
        ray = self._started()
        threads = max(1, int(ray.cluster_resources().get("CPU", 1)) // max(1, len(given)))
        actor = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=1, concurrency_groups={ASIDE: 1})(
            Place
        )
        actors = []
        for one, label in zip(given, labels or [UNLABELLED] * len(given), strict=True):
            named = {"name": new_name(label), "namespace": NAMESPACE}
            options = actor.options(scheduling_strategy="SPREAD", **named)
            actors.append(options.remote(versions(), threads, opening, one, label))
        return _There(ray, actors)

    @property
    def workers(self) -> int:
        """All processors of the cluster."""
        if self._ray is None and self.address is None:
            return thread_count()  # as it will be started
        return max(1, int(self._started().cluster_resources().get("CPU", 1)))

    def map(self, work: Work, items: Iterable[Any], tries: int | None = None) -> Iterator[Any]:
        """Tasks on all processors; a lost one is done again elsewhere."""
        ray = self._started()
        task = ray.remote(num_cpus=1, max_retries=LOSSES if tries is None else tries - 1)(applied)
        most = WAITING * self.workers
        waiting: deque[Any] = deque()
        try:
            for item in items:
                waiting.append(task.remote(versions(), work, item))
                if len(waiting) >= most:
                    found = _done(ray, waiting[0], tries)
                    waiting.popleft()
                    yield found
            while waiting:
                found = _done(ray, waiting[0], tries)
                waiting.popleft()
                yield found
        finally:
            # Nobody waits for these any more; what is over, or a cluster that is gone, needs no word.
            for one in waiting if ray.is_initialized() else ():
                with suppress(Exception):
                    ray.cancel(one)

    def state(self, whole: str) -> State:
        """Ask the actors of every process that uses the cluster; none is started for this."""
        if self.address is None and self._ray is None:
            return State()
        return _ray_state.state(self._started(), whole)

    def close(self) -> None:
        """End Ray if it was started here."""
        if self._ray is not None and self._is_ours:
            self._ray.shutdown()
        self._ray = None

    def _started(self) -> Any:
        if self._ray is None:
            self._ray, self._is_ours = entered(self.address)
        return self._ray


class _There(Residents):
    """Shards that actors keep open."""

    def __init__(self, ray: Any, actors: list[Any]) -> None:
        super().__init__()
        self._ray, self._actors = ray, actors

    def __len__(self) -> int:
        return len(self._actors)

    def put(self, work: Work, given: Mapping[int, tuple[Any, ...]]) -> Answers:
        def ask(number: int) -> Any:
            with in_words(self._ray):
                return self._actors[number].answer.remote(work, *given[number])

        asked = {number: ask(number) for number in given}
        return lambda: {number: self._answer(one, partial(ask, number)) for number, one in asked.items()}

    def share(self, value: Any) -> Any:
        with in_words(self._ray):
            return self._ray.put(value)

    def close(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []

    def _answer(self, asked: Any, ask_again: Callable[[], Any]) -> Any:
        """Wait for an answer; a question that its shard took with it is put again, but not for ever."""
        losses, first = 0, 0.0
        while True:
            try:
                return got(self._ray, asked)
            except StorageFailed as reason:
                if not is_lost(self._ray, reason):
                    raise
                first = first if losses else time.monotonic()
                losses += 1
                if losses >= LOSSES and time.monotonic() - first >= SECONDS_OF_LOSSES:
                    raise
            asked = ask_again()


def _done(ray: Any, asked: Any, tries: int | None) -> Any:
    """What became of one piece of work; `Lost` if so many tries were to be enough."""
    try:
        return got(ray, asked)
    except StorageFailed as reason:
        if tries is None or not is_work_lost(ray, reason):
            raise
        return Lost(tries)
