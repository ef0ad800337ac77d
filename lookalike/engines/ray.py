"""Ray: slices are kept open by actors of a Ray cluster, on this machine or on many.

Ray is started by the user (``ray start``), whose address is given, or here for as long as the engine lives.
Its processes trust each other and what they are sent: a cluster belongs to one user.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from lookalike.engines import _ray_actors
from lookalike.engines._ray_actors import (
    ASIDE,
    NAMESPACE,
    Actor,
    Aside,
    Kept,
    Place,
    applied,
    new_name,
    versions,
)
from lookalike.engines._ray_cluster import Head, enter, got, in_words, is_dead, is_lost, is_work_lost, leave
from lookalike.engines.contract import Answers, Engine, Label, Lost, Residents, State, Work, checked_slices
from lookalike.errors import StorageFailed
from lookalike.kernels.threads import thread_count

# Pieces of work that wait for a worker each: enough to keep it busy, and no more than fit its memory.
WAITING: Final = 2
# A question is given up that lost its slice so often, and for so many seconds. A process that dies loses it
# at once; a machine that falls silent may lose it several times before the cluster knows.
LOSSES: Final = 3
SECONDS_OF_LOSSES: Final = 60.0
# Of slices that nobody else need know.
UNLABELLED: Final = Label("-", "-", "", "")

# For all engines of a process: what is let go is let go in any order.
_aside = Aside()


class Ray(Engine):
    """A Ray cluster.

    Parameters
    ----------
    address : str, optional
        Of a cluster that runs, for instance ``192.168.0.5:6379`` or ``auto``; one is started here, and ended
        with the engine, unless it is given.
    slices : int
        Into how many slices a gallery is cut; 0 for one on each machine.
    """

    stored_name = "ray"

    def __init__(self, address: str | None = None, slices: int = 0) -> None:
        self.address = address
        self.slices = checked_slices(slices)
        self._head: Head | None = None
        self._kept = Kept(_nothing)
        self._lock = threading.Lock()

    def hold(
        self, opening: Work, given: Sequence[tuple[Any, ...]], labels: Sequence[Label] = ()
    ) -> Residents:
        """One actor for each slice, dealt out to the machines in turn; elsewhere if its machine is lost.

        Those that an earlier `hold` asked to open the same are handed out again, also while it uses them, as
        long as the machines are the same.
        """
        head, kept = self._entered()
        ray = head.ray
        with in_words(ray):
            processors, homes = head.ask(lambda: (_processors(ray), _homes(ray)))
        threads = max(1, processors // max(1, len(given)))
        # One byte, since actors that claim nothing at all are placed by chance.
        claims = {"num_cpus": 0, "memory": 1}
        resident = ray.remote(**claims, max_restarts=-1, max_task_retries=1, concurrency_groups={ASIDE: 1})
        actor = resident(Place)
        known: list[Label | None] = [*labels] or [None] * len(given)

        def start(number: int) -> tuple[Any, Any]:
            label = known[number] or UNLABELLED
            named = {"name": new_name(label), "namespace": NAMESPACE} | _living(ray, homes, number)
            with in_words(ray):
                head.check()
                reference = ray.put(given[number])
                told = (versions(), threads, opening, label)
                return head.ask(lambda: actor.options(**named).remote(*told)), reference

        # What has a label need not be looked at to tell it from others.
        said = [given[number] if label is None else label for number, label in enumerate(known)]
        keys = [ray.cloudpickle.dumps((homes, threads, opening, origin)) for origin in said]
        return _There(self, head, kept, kept.take(list(zip(keys, known, strict=True)), start))

    @property
    def workers(self) -> int:
        """All processors of the cluster."""
        if self._head is None and self.address is None:
            return thread_count()  # as it will be started
        return self._workers(self._entered()[0])

    @property
    def slice_count(self) -> int:
        """As many as were asked for, or as there are machines with processors now."""
        if self.slices:
            return self.slices
        head, _ = self._entered()
        with in_words(head.ray):
            return max(1, len(head.ask(lambda: _homes(head.ray))))

    def map(self, work: Work, items: Iterable[Any], tries: int | None = None) -> Iterator[Any]:
        """Tasks on all processors; a lost one is done again elsewhere."""
        head, _ = self._entered()
        ray = head.ray
        task = ray.remote(num_cpus=1, max_retries=LOSSES if tries is None else tries - 1)(applied)
        most = WAITING * self._workers(head)
        waiting: deque[Any] = deque()
        try:
            for item in items:
                head.check()
                waiting.append(task.remote(versions(), work, item))
                if len(waiting) >= most:
                    found = _done(head, waiting[0], tries)
                    waiting.popleft()
                    yield found
            while waiting:
                found = _done(head, waiting[0], tries)
                waiting.popleft()
                yield found
        finally:
            _aside.leave(partial(_give_up, head, waiting))

    def state(self, whole: str) -> State:
        """Ask the actors of every process that uses the cluster; none is started for this."""
        if self.address is None and self._head is None:
            return State()
        head, _ = self._entered()
        with in_words(head.ray):
            return head.ask(lambda: _ray_actors.state(head.ray, whole))

    def close(self) -> None:
        """End all actors, and leave the cluster with the last engine: one that was started here ends then."""
        _aside.wait()
        with self._lock:
            head, self._head = self._head, None
        if head is not None:
            self._kept.close()
            leave(head, self)

    def _entered(self) -> tuple[Head, Kept]:
        """The head of the cluster, which answers, and what is open there; entered anew if it was left."""
        with self._lock:
            head = enter(self.address, self)
            if head is not self._head:
                # What was open before, in a cluster that is gone, has ended with it.
                self._head, self._kept = head, Kept(partial(_end, head))
            _aside.open()
            kept = self._kept
        head.check_answers()
        return head, kept

    def _workers(self, head: Head) -> int:
        with in_words(head.ray):
            found = head.ask(lambda: _processors(head.ray))
        if not found:
            raise StorageFailed(
                "no machine of the Ray cluster has a processor to give: start one with "
                "`ray start --address HOST:PORT`, then repeat"
            )
        return found


class _There(Residents):
    """Slices that actors keep open."""

    def __init__(self, engine: Ray, head: Head, kept: Kept, actors: list[Actor]) -> None:
        super().__init__()
        # Whose cluster others do not leave while it is there.
        self._engine = engine
        self._head, self._kept, self._actors = head, kept, actors
        # Questions that each has not answered yet.
        self._waiting = [0] * len(actors)
        # Most who open a search let it go without a word.
        given_back = partial(kept.give_back, list(actors), self._waiting)
        self._let_go = weakref.finalize(self, _aside.leave, given_back)
        self._let_go.atexit = False

    def __len__(self) -> int:
        return len(self._actors)

    def put(self, work: Work, given: Mapping[int, tuple[Any, ...]]) -> Answers:
        def ask(number: int) -> Any:
            with in_words(self._head.ray):
                self._head.check()
                one = self._actors[number]
                return one.handle.answer.remote([one.given], work, *given[number])

        asked = {number: ask(number) for number in given}
        for number in asked:
            self._waiting[number] += 1

        def answers() -> dict[int, Any]:
            found = {number: self._answer(number, one, partial(ask, number)) for number, one in asked.items()}
            for number in asked:
                self._waiting[number] -= 1
            return found

        return answers

    def share(self, value: Any) -> Any:
        with in_words(self._head.ray):
            self._head.check()
            return self._head.ray.put(value)

    def close(self) -> None:
        self._let_go()
        self._actors = []

    def _answer(self, number: int, asked: Any, ask_again: Callable[[], Any]) -> Any:
        """Wait for an answer; a question that its slice took with it is put again, but not for ever."""
        losses, first = 0, 0.0
        while True:
            try:
                return got(self._head, asked)
            except StorageFailed as reason:
                if is_dead(self._head.ray, reason):
                    self._kept.forget(self._actors[number])
                if not is_lost(self._head.ray, reason):
                    raise
                first = first if losses else time.monotonic()
                losses += 1
                if losses >= LOSSES and time.monotonic() - first >= SECONDS_OF_LOSSES:
                    raise
            asked = ask_again()


def _end(head: Head, handle: Any) -> None:
    """End an actor."""
    head.check()
    head.ray.kill(handle)


def _nothing(handle: Any) -> None:
    """Before a cluster is entered there is nobody to end."""


def _give_up(head: Head, waiting: Iterable[Any]) -> None:
    """Tell a cluster that nobody waits for some pieces of work any more."""
    for piece in waiting:
        head.check()
        with suppress(Exception):  # it may be over
            head.ray.cancel(piece)


def _processors(ray: Any) -> int:
    """How many processors the machines of a cluster have."""
    return int(ray.cluster_resources().get("CPU", 0))


def _homes(ray: Any) -> list[str]:
    """The machines where actors may live: those with processors, always in the same order."""
    nodes = (node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU"))
    return sorted(node["NodeID"] for node in nodes)


def _living(ray: Any, homes: Sequence[str], number: int) -> dict[str, Any]:
    """Options by which an actor lives on one of some machines, each in turn, unless that is lost."""
    if not homes:
        return {}
    there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    return {"scheduling_strategy": there(homes[number % len(homes)], soft=True)}


def _done(head: Head, asked: Any, tries: int | None) -> Any:
    """What became of one piece of work; `Lost` if so many tries were to be enough."""
    try:
        return got(head, asked)
    except StorageFailed as reason:
        if tries is None or not is_work_lost(head.ray, reason):
            raise
        return Lost(tries)
