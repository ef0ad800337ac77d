"""Ray: shards are kept open by actors of a Ray cluster, on this machine or on many.

Ray is started by the user (``ray start``), whose address is given, or here for as long as the engine lives.
Its processes trust each other and what they are sent: a cluster belongs to one user.
"""

from __future__ import annotations

import importlib
import logging
import os
import secrets
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from lookalike.engines.contract import Answers, Engine, Lost, Residents, Work
from lookalike.errors import BadInput, LookalikeError, NotFound, StorageFailed
from lookalike.kernels.threads import thread_count

# What it is imported as.
LIBRARY: Final = "ray"
# Ray reports how it is used unless it is told not to; nothing here is reported.
QUIET: Final = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
# Pieces of work that wait for a worker each: enough to keep it busy, and no more than fit its memory.
WAITING: Final = 2
# The address of the cluster that runs on this machine already.
FOUND: Final = "auto"
# Seconds to wait for a cluster to answer the door.
PATIENCE: Final = 5.0


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

    def hold(self, opening: Work, given: Sequence[tuple[Any, ...]]) -> Residents:
        """One actor for each shard; Ray chooses where it lives."""
        ray = self._started()
        threads = max(1, int(ray.cluster_resources().get("CPU", 1)) // max(1, len(given)))
        actor = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Place)
        actor = actor.options(scheduling_strategy="SPREAD")
        return _There(ray, [actor.remote(versions(), threads, opening, one) for one in given])

    @property
    def workers(self) -> int:
        """All processors of the cluster."""
        if self._ray is None and self.address is None:
            return thread_count()  # as it will be started
        return max(1, int(self._started().cluster_resources().get("CPU", 1)))

    def map(self, work: Work, items: Iterable[Any], tries: int | None = None) -> Iterator[Any]:
        """Tasks on all processors; a lost one is done again elsewhere."""
        ray = self._started()
        task = ray.remote(num_cpus=1, max_retries=-1 if tries is None else tries - 1)(_applied)
        most = WAITING * self.workers
        waiting: deque[Any] = deque()
        try:
            for item in items:
                waiting.append(task.remote(versions(), work, item))
                if len(waiting) >= most:
                    found = _got(ray, waiting[0], tries)
                    waiting.popleft()
                    yield found
            while waiting:
                found = _got(ray, waiting[0], tries)
                waiting.popleft()
                yield found
        finally:
            # Nobody waits for these any more; what is over, or a cluster that is gone, needs no word.
            for one in waiting if ray.is_initialized() else ():
                with suppress(Exception):
                    ray.cancel(one)

    def close(self) -> None:
        """End Ray if it was started here."""
        if self._ray is not None and self._is_ours:
            self._ray.shutdown()
        self._ray = None

    def _started(self) -> Any:
        if self._ray is None:
            if self.address is None:
                _set_secret()
            self._ray = _library()
            if not self._ray.is_initialized():
                self._start()
        return self._ray

    def _start(self) -> None:
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        if self.address is not None and self.address != FOUND:
            _check_reachable(str(self.address))
        about: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if self.address is None:
            if "RAY_AUTH_MODE" not in os.environ:
                raise BadInput(
                    "Ray was imported before it could be given a secret: set RAY_AUTH_MODE=token and "
                    "RAY_AUTH_TOKEN before, or give the address of a cluster"
                )
            # Without a word Ray would join a cluster that runs on this machine, or that RAY_ADDRESS names.
            about |= {"address": "local", "num_cpus": thread_count(), "include_dashboard": False}
        else:
            about |= {"address": self.address}
        try:
            with _own_signals():
                self._ray.init(**about)
        except (ConnectionError, ValueError, OSError, RuntimeError) as reason:
            first = (str(reason).strip().splitlines() or [type(reason).__name__])[0]
            raise _no_cluster("here" if self.address is None else f"at {self.address}", first) from reason
        self._is_ours = True


class _There(Residents):
    """Shards that actors keep open."""

    def __init__(self, ray: Any, actors: list[Any]) -> None:
        super().__init__()
        self._ray, self._actors = ray, actors

    def __len__(self) -> int:
        return len(self._actors)

    def put(self, work: Work, given: Mapping[int, tuple[Any, ...]]) -> Answers:
        asked = {number: self._actors[number].answer.remote(work, *some) for number, some in given.items()}
        return lambda: {number: _got(self._ray, one) for number, one in asked.items()}

    def share(self, value: Any) -> Any:
        return self._ray.put(value)

    def close(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []


class _Place:
    """What runs in the place of a shard; the shard is opened by the first question, also after a restart."""

    def __init__(self, expected: str, threads: int, opening: Work, given: tuple[Any, ...]) -> None:
        os.environ["LOOKALIKE_THREADS"] = str(threads)
        self._expected, self._opening, self._given = expected, opening, given
        self._shard: Any = None
        self._is_open = False

    def answer(self, work: Work, *given: Any) -> Any:
        if not self._is_open:
            check_versions(self._expected)
            self._shard, self._is_open = self._opening(*self._given), True
        return work(self._shard, *given)


def _applied(expected: str, work: Work, item: Any) -> Any:
    # A task has one processor.
    os.environ["LOOKALIKE_THREADS"] = "1"
    check_versions(expected)
    return work(item)


def versions() -> str:
    """What must be the same on all machines, or answers would differ."""
    found = [f"Python {sys.version_info[0]}.{sys.version_info[1]}"]
    for name in ("lookalike", "numpy", "scipy", "numba"):
        found.append(f"{name} {importlib.import_module(name).__version__}")
    return ", ".join(found)


def check_versions(expected: str) -> None:
    """Refuse to work on a machine where something else is installed.

    Raises
    ------
    BadInput
        With what is there and what is wanted.
    """
    found = versions()
    if found != expected:
        raise BadInput(
            f"a machine of the cluster has {found}, the one that asks has {expected}: install the same on all"
        )


def _got(ray: Any, asked: Any, tries: int | None = None) -> Any:
    """The answer, or what went wrong, as it was raised where it happened."""
    exceptions = ray.exceptions
    try:
        # `ray.get` hears of signals itself, and makes a traceback of all but KeyboardInterrupt.
        return asked.future().result()
    except exceptions.RayTaskError as reason:
        cause = reason.cause
        if isinstance(cause, LookalikeError):
            raise cause from None
        if isinstance(cause, ModuleNotFoundError):
            raise NotFound(f"a machine of the cluster lacks {cause.name}: install lookalike there") from None
        raise
    except exceptions.OutOfMemoryError as reason:
        raise StorageFailed(
            "a machine of the cluster ran out of memory: use more machines, or more and smaller shards"
        ) from reason
    except (exceptions.WorkerCrashedError, exceptions.NodeDiedError, exceptions.ObjectLostError):
        if tries is None:
            raise
        return Lost(tries)
    except exceptions.RayActorError as reason:
        raise StorageFailed(
            "a shard was lost and could not be opened elsewhere: "
            "check the cluster with `ray status`, then repeat"
        ) from reason


def _check_reachable(address: str) -> None:
    """Knock first: Ray itself tries for minutes, and says so on the terminal."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdecimal() and int(port) < 2**16):
        raise BadInput(f"an address is HOST:PORT, as `ray start --head` prints it, or auto; got {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except OSError as reason:
        raise _no_cluster(f"at {address}", reason.strerror or str(reason)) from reason


def _no_cluster(where: str, reason: str) -> NotFound:
    return NotFound(
        f"no Ray cluster can be had {where} ({reason}): start one with `ray start --head`, "
        "or give the address of one that runs"
    )


def _set_secret() -> None:
    """Ray listens to all who reach this machine: without a secret they could run programs on it.

    It looks whether there is one when it is imported, and never again.
    """
    if LIBRARY not in sys.modules:
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


def _library() -> Any:
    try:
        return importlib.import_module(LIBRARY)
    except ImportError as reason:
        raise NotFound("the engine ray needs Ray: pip install 'lookalike[cluster]'") from reason


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep what this process does when it is asked to end: Ray would put its own in the place of it."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None:
            with suppress(ValueError):  # not in the first thread, where nothing was changed
                signal.signal(signal.SIGTERM, before)
