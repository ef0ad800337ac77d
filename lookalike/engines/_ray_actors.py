"""The actors of a Ray cluster: what runs in them, and which an engine has asked for."""

from __future__ import annotations

import importlib
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from queue import SimpleQueue
from typing import Any, Final, NamedTuple

from lookalike import resources
from lookalike.engines.contract import Label, Machine, Resident, State, Work
from lookalike.errors import BadInput


class About(NamedTuple):
    """What a place says of itself."""

    label: Label
    host: str
    process: int
    memory: int | None


class Place:
    """What runs in the place of a slice; the slice is opened by the first question, also after a restart."""

    def __init__(self, expected: str, threads: int, opening: Work, label: Label) -> None:
        os.environ["LOOKALIKE_THREADS"] = str(threads)
        self._expected, self._opening, self._label = expected, opening, label
        self._slice: Any = None
        self._is_open = False

    def answer(self, source: list[Any], work: Work, *given: Any) -> Any:
        """Apply a function to the slice and what it is given besides; one question at a time.

        ``source`` has the reference to what the slice is opened from. It comes with every question, since any
        of them may be the first after a restart; in a list, or Ray would fetch it before each.
        """
        if not self._is_open:
            check_versions(self._expected)
            found = importlib.import_module("ray").get(source[0])
            self._slice, self._is_open = self._opening(*found), True
        return work(self._slice, *given)

    def about(self) -> About:
        """Who and where this is; told also while a question is being answered."""
        return About(self._label, socket.gethostname(), os.getpid(), resources.own_memory())


def applied(expected: str, work: Work, item: Any) -> Any:
    """Apply a function to one thing, if that gives here what it would give elsewhere."""
    os.environ["LOOKALIKE_THREADS"] = "1"  # a piece of work has one processor
    check_versions(expected)
    return work(item)


def looked_around() -> tuple[str, tuple[int, int] | None]:
    """What is installed on this machine, and how much memory it has."""
    return versions(), resources.memory_of_machine()


def versions() -> str:
    """What must be the same on all machines, or answers would differ."""
    found = [f"Python {sys.version_info[0]}.{sys.version_info[1]}"]
    for name in ("lookalike", "numpy", "scipy", "numba"):
        found.append(f"{name} {importlib.import_module(name).__version__}")
    return ", ".join(found)


def check_versions(expected: str) -> None:
    """Refuse to work on a machine where something else is installed."""
    found = versions()
    if found != expected:
        raise BadInput(
            f"{socket.gethostname()}, a machine of the cluster, has {found}, "
            f"the one that asks has {expected}: install the same on all"
        )


# Where lookalike's actors have their names: other programs of a cluster have theirs elsewhere.
NAMESPACE: Final = "lookalike"
# Actors answer about themselves apart from their work, so that they can do it at any time.
ASIDE: Final = "about"
# Seconds for a slice to say where it is, and for a machine to start a process that looks around.
PATIENCE: Final = 3.0
PATIENCE_TO_START: Final = 15.0


def new_name(label: Label) -> str:
    """A name for an actor by which everybody on the cluster sees what it holds, and for whom."""
    holder = socket.gethostname().replace("/", "-"), str(os.getpid()), secrets.token_hex(4)
    return "/".join((label.whole, label.part, *holder))


def state(ray: Any, whole: str) -> State:
    """Ask all actors that hold a part of one whole, and all machines; who does not answer is told as that."""
    names = sorted(
        actor["name"]
        for actor in ray.util.list_named_actors(all_namespaces=True)
        if actor["namespace"] == NAMESPACE and actor["name"].startswith(f"{whole}/")
    )
    asked = {name: future for name in names if (future := _asked(ray, name)) is not None}
    nodes = sorted(ray.nodes(), key=lambda node: (node["NodeManagerHostname"], node["NodeID"]))
    looking = {node["NodeID"]: _looking(ray, node["NodeID"]) for node in nodes if node["Alive"]}
    start = time.monotonic()
    wait(asked.values(), PATIENCE)
    residents = tuple(_resident(name, future) for name, future in asked.items())
    wait(looking.values(), max(0.0, PATIENCE_TO_START - (time.monotonic() - start)))
    return State(tuple(_machine(node, looking) for node in nodes), residents)


def _asked(ray: Any, name: str) -> Future[About] | None:
    """Ask an actor about itself; None if it has just ended."""
    try:
        actor = ray.get_actor(name, namespace=NAMESPACE)
    except ValueError:
        return None
    found: Future[About] = actor.about.options(concurrency_group=ASIDE).remote().future()
    return found


def _looking(ray: Any, node: str) -> Future[tuple[str, tuple[int, int] | None]]:
    """Have a machine look around, also while all its processors are taken."""
    there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
    task = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=there)(looked_around)
    found: Future[tuple[str, tuple[int, int] | None]] = task.remote().future()
    return found


def _resident(name: str, future: Future[About]) -> Resident:
    _, part, host, process, _ = name.split("/")
    if not future.done() or future.exception() is not None:
        return Resident(part, None, host, int(process))
    about = future.result()
    return Resident(part, about.label, host, int(process), about.host, about.process, about.memory)


def _machine(node: Mapping[str, Any], looking: Mapping[str, Future[Any]]) -> Machine:
    host, processors = node["NodeManagerHostname"], int(node["Resources"].get("CPU", 0))
    future = looking.get(node["NodeID"])
    if future is None:
        return Machine(host, False)
    if not future.done():
        return Machine(host, True, processors)
    if (reason := future.exception()) is not None:
        lost = getattr(reason, "cause", None) or reason
        return Machine(host, True, processors, wrong=f"lookalike cannot run there ({type(lost).__name__})")
    found, memory = future.result()
    wrong = "" if found == (own := versions()) else f"it has {found}, this one {own}"
    whole, used = memory or (None, None)
    return Machine(host, True, processors, whole, used, wrong)


# Kept: the actors of one engine, by what they were asked to open, and the thread that ends those let go.


@dataclass(eq=False)
class Actor:
    """A process that holds a slice."""

    handle: Any  # by which Ray knows it
    key: bytes  # what it was asked to open, and how
    label: Label | None
    born: int  # of two, the later one has the larger number
    given: Any = None  # what has to be there as long as it may have to open its slice again
    users: int = 0  # how many residents it is one of

    def is_renewed_by(self, other: Actor) -> bool:
        """Whether a later one holds the same whole otherwise: nobody will want this one again.

        It has another content, or the same was cut or made otherwise, or opened for other machines.
        """
        one, its = self.label, other.label
        if one is None or its is None or other.born <= self.born or one.whole != its.whole:
            return False
        if one.content != its.content or (one.kind == its.kind and one.made != its.made):
            return True
        return (one.kind, one.part) == (its.kind, its.part) and self.key != other.key


class Kept:
    """Actors that are used, and the last that were given back: as many as were ever held together."""

    def __init__(self, end: Callable[[Any], None]) -> None:
        self._end = end
        self._lock = threading.Lock()
        self._numbers = count()
        self._actors: list[Actor] = []
        self._most = 0

    def take(
        self, wanted: Sequence[tuple[bytes, Label | None]], start: Callable[[int], tuple[Any, Any]]
    ) -> list[Actor]:
        """An actor for each of what is wanted, by its key; those that are not there are started.

        ``start`` returns a handle, and what the actor was given. Two of the same key that are wanted
        together are two.
        """
        with self._lock:
            there: dict[bytes, list[Actor]] = {}
            for actor in self._actors:
                there.setdefault(actor.key, []).append(actor)
            taken = []
            for number, (key, label) in enumerate(wanted):
                if there.get(key):
                    taken.append(there[key].pop())
                else:
                    handle, given = start(number)
                    taken.append(Actor(handle, key, label, next(self._numbers), given))
                    self._actors.append(taken[-1])
            for actor in taken:
                actor.users += 1
            self._most = max(self._most, len(wanted))
            self._tidy()
            return taken

    def give_back(self, actors: list[Actor], waiting: list[int]) -> None:
        """Take actors back, of which some still have questions to answer that nobody waits for."""
        with self._lock:
            for one, questions in zip(actors, waiting, strict=True):
                one.users -= 1
                if one in self._actors:
                    # The last that were given back stand at the end.
                    self._actors.remove(one)
                    self._actors.append(one)
                    if not one.users and questions:
                        self._ended(one)
            self._tidy()

    def forget(self, actor: Actor) -> None:
        """Hand an actor out no more, which is lost for good."""
        with self._lock:
            if actor in self._actors:
                self._actors.remove(actor)

    def close(self) -> None:
        """End all."""
        with self._lock:
            while self._actors:
                self._ended(self._actors[-1])

    def _tidy(self) -> None:
        """End who is not worth keeping."""
        for actor in self._idle():
            if any(map(actor.is_renewed_by, self._actors)):
                self._ended(actor)
        for actor in self._idle()[: -self._most or None]:
            self._ended(actor)

    def _idle(self) -> list[Actor]:
        return [actor for actor in self._actors if not actor.users]

    def _ended(self, one: Actor) -> None:
        self._actors.remove(one)
        with suppress(Exception):  # with the cluster it has ended already
            self._end(one.handle)


class Aside:
    """Does what was left to do when Python let an object go, in a thread that ends with the process.

    That may happen in any thread, Ray's own among them: one of these that asked Ray for something would wait
    for itself to do it, and with it whoever waits for an answer.
    """

    def __init__(self) -> None:
        # Of all queues the one that may be put into in the midst of itself.
        self._left: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Have the thread there; `leave` cannot start it, since it may be called in the midst of that too."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="lookalike-aside", daemon=True)
            self._thread.start()

    def leave(self, work: Callable[[], None]) -> None:
        """Leave something to be done; whatever it raises is of interest to nobody any more."""
        self._left.put(work)

    def wait(self) -> None:
        """Wait until all is done that was left so far."""
        if self._thread is not None:
            is_done = threading.Event()
            self._left.put(is_done.set)
            is_done.wait()

    def _work(self) -> None:
        while True:
            work = self._left.get()
            with suppress(Exception):
                work()
            del work  # what it holds is let go now, not when the next comes
