"""Head: the process that leads a Ray cluster, without which the cluster ends.

Ray ends this whole process when it has not heard from the head for a minute. So somebody knocks now and then,
and leaves the cluster before that: whoever waits for an answer is told, and a page that is served stays.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import Any, Final

from lookalike.errors import StorageFailed

GONE: Final = (
    "the Ray cluster does not answer any more, as when its head is lost, the machine of `ray start --head`: "
    "start it again, then repeat"
)
# Seconds between two knocks, until nobody answers one, and until nobody is expected to answer any more.
OFTEN: Final = 3.0
PATIENCE: Final = 5.0
SILENCE: Final = 30.0


class Head:
    """The head of a cluster that was entered.

    Parameters
    ----------
    ray : module
    is_ours : bool
        Whether the cluster was entered here, and is to be left here.
    """

    def __init__(self, ray: Any, is_ours: bool) -> None:
        self.ray, self._is_ours = ray, is_ours
        self._address = str(ray.get_runtime_context().gcs_address)
        self._left = threading.Event()
        self._is_lost = False
        self._watcher = threading.Thread(target=self._watch, name="lookalike-head", daemon=True)
        if is_ours:
            self._watcher.start()

    @property
    def is_over(self) -> bool:
        """Whether a cluster may be entered again: one that is lost takes a while to leave."""
        is_leaving = self._is_lost and self._watcher.is_alive()
        return (self._left.is_set() or not self.ray.is_initialized()) and not is_leaving

    def check(self) -> None:
        """Refuse to ask a cluster that was left."""
        if self._left.is_set() or not self.ray.is_initialized():
            raise StorageFailed(GONE)

    def check_answers(self) -> None:
        """Wait until the head answers, before what it is needed for: Ray would wait for it to the end."""
        begun = time.monotonic()
        while True:
            self.check()
            try:
                return knock(self._address)
            except OSError as reason:
                if time.monotonic() - begun >= SILENCE:
                    raise StorageFailed(GONE) from reason
            self._left.wait(OFTEN)

    def leave(self) -> None:
        """Leave the cluster, once; one that is lost is being left already, which is not waited for."""
        if not self._left.is_set():
            self._left.set()
            if self._is_ours:
                self.ray.shutdown()

    def _watch(self) -> None:
        heard = time.monotonic()
        while not self._left.wait(OFTEN):
            with suppress(OSError):
                knock(self._address)
                heard = time.monotonic()
            if time.monotonic() - heard >= SILENCE and not self._left.is_set():
                self._is_lost = True
                self._left.set()
                with suppress(Exception):  # it is over, whatever Ray says of it
                    self.ray.shutdown()


def knock(address: str) -> None:
    """See whether anybody listens at an address; OSError if not."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
