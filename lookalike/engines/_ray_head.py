"""Head: the process that leads a Ray cluster, without which the cluster ends.

Ray waits for a head that is lost, and ends this whole process when it has not heard from it for a minute. So
somebody knocks now and then, and leaves the cluster before that: whoever waits for an answer is told, and a
page that is served stays.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, Final, TypeVar
from weakref import WeakSet

from lookalike.errors import StorageFailed

Said = TypeVar("Said")

GONE: Final = (
    "the Ray cluster does not answer any more, as when its head is lost, the machine of `ray start --head`: "
    "start it again, then repeat"
)
# Seconds between two knocks, until nobody answers one, and until nobody is expected to answer any more.
OFTEN: Final = 3.0
PATIENCE: Final = 5.0
SILENCE: Final = 30.0
# Seconds between two looks whether there still is a cluster, of whoever waits for an answer.
LOOK: Final = 1.0


class Head:
    """The head of the cluster that this process is in.

    Parameters
    ----------
    ray : module
    address : str, optional
        As it was asked for; None if none was named.
    end : callable, optional
        Leaves the cluster; None if it was entered by somebody else, who will leave it.

    Attributes
    ----------
    users : set of Engine
        Who entered it and has not left it; whoever was let go without a word is not among them.
    """

    def __init__(self, ray: Any, address: str | None, end: Callable[[], None] | None) -> None:
        self.ray, self.address = ray, address
        self.users: WeakSet[Any] = WeakSet()
        self.reached_at = str(ray.get_runtime_context().gcs_address)
        self._entry, self._end = _entry(ray), end
        self._left = threading.Event()
        self._is_lost = False
        self._watcher = threading.Thread(target=self._watch, name="lookalike-head", daemon=True)
        self._watcher.start()

    @property
    def is_ours(self) -> bool:
        """Whether the cluster was entered by an engine."""
        return self._end is not None

    @property
    def is_over(self) -> bool:
        """Whether a cluster may be entered again: one that is lost takes a while to leave."""
        is_leaving = self._is_lost and self._watcher.is_alive()
        return not self._is_there and not is_leaving

    @property
    def _is_there(self) -> bool:
        """Whether this process is still in that cluster: somebody may have left it, and entered another."""
        is_in_one = not self._left.is_set() and bool(self.ray.is_initialized())
        return is_in_one and _entry(self.ray) == self._entry

    def check(self) -> None:
        """Refuse to ask a cluster that was left."""
        if not self._is_there:
            raise StorageFailed(GONE)

    def check_answers(self) -> None:
        """Wait until the head answers, before what it is needed for: Ray would wait for it to the end."""
        begun = time.monotonic()
        while True:
            self.check()
            try:
                return knock(self.reached_at)
            except OSError as reason:
                if time.monotonic() - begun >= SILENCE:
                    raise StorageFailed(GONE) from reason
            self._left.wait(OFTEN)

    def ask(self, question: Callable[[], Said]) -> Said:
        """What Ray says when it has asked the head; in a thread that is given up if the head is lost."""
        answer: Future[Said] = Future()

        def work() -> None:
            try:
                answer.set_result(question())
            except BaseException as reason:
                answer.set_exception(reason)

        self.check()
        threading.Thread(target=work, name="lookalike-question", daemon=True).start()
        return self.await_answer(answer)

    def await_answer(self, answer: Future[Said]) -> Said:
        """Wait for an answer as long as there is a cluster.

        It is waited for in Python: Ray's own waiting swallows what a signal raises.
        """
        while not wait([answer], LOOK).done:
            self.check()
        return answer.result()

    def leave(self) -> None:
        """Leave the cluster, once; one that is lost is being left already, which is not waited for."""
        if self._is_there:
            self._left.set()
            if self._end is not None:
                self._end()

    def _watch(self) -> None:
        heard = time.monotonic()
        while not self._left.wait(OFTEN):
            with suppress(OSError):
                knock(self.reached_at)
                heard = time.monotonic()
            if not self._is_there:
                return
            if time.monotonic() - heard >= SILENCE:
                self._is_lost = True
                self._left.set()
                with suppress(Exception):  # it is over, whatever Ray says of it
                    if self._end is not None:
                        self._end()


def _entry(ray: Any) -> tuple[str, ...]:
    """What tells one stay in a cluster from the next; nothing if there is none."""
    try:
        about = ray.get_runtime_context()
        return str(about.get_session_name()), str(about.get_job_id())
    except Exception:  # it is being left in another thread
        return ()


def knock(address: str) -> None:
    """See whether anybody listens at an address; OSError if not."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
