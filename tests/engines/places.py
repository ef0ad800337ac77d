"""Functions that engines apply, where every process can import them."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import Conflict, NotFound

# What two places are given to open.
GIVEN = [("a", [1, 2]), ("b", [3])]


def opened(name: str, numbers: list[int]) -> dict[str, object]:
    return {"name": name, "numbers": np.array(numbers, dtype=np.float64)}


def refused(name: str) -> dict[str, object]:
    raise NotFound(f"there is no slice called {name!r}")


def total(held: dict[str, NDArray[np.float64]], factor: float) -> float:
    return float(held["numbers"].sum() * factor)


def times(held: dict[str, NDArray[np.float64]], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    return held["numbers"][:, None] * factors


def conflicting(held: object) -> None:
    raise Conflict("this contradicts that: choose one")


def dying_once(held: dict[str, NDArray[np.float64]], trace: str) -> float:
    """End the process the first time, and answer the second."""
    if not Path(trace).exists():
        Path(trace).touch()
        os._exit(1)
    return total(held, 1.0)


def square(number: int) -> int:
    return number * number


def dying(item: int) -> int:
    """End the process, always for 1."""
    if item == 1:
        os._exit(1)
    return item


def dying_first(trace: str) -> str:
    """End the process the first time."""
    if not Path(trace).exists():
        Path(trace).touch()
        os._exit(1)
    return trace


def working(trace: str) -> str:
    """Work for a long time, and say how that ended; an empty text is done at once."""
    try:
        if trace:
            Path(trace).write_text("begun")
            for _ in range(5000):
                time.sleep(0.1)
            Path(trace).write_text("done")
    except BaseException as reason:
        Path(trace).write_text(type(reason).__name__)
        raise
    return trace


def waiting(held: dict[str, NDArray[np.float64]], begun: str, go_on: str) -> float:
    """Answer when a file is there, and let others work meanwhile."""
    Path(begun).touch()
    while not Path(go_on).exists():
        time.sleep(0.01)
    return total(held, 1.0)


def alone(held: dict[str, object]) -> bool:
    """Whether no other question is answered at the same time."""
    was_busy, held["busy"] = held.get("busy", False), True
    time.sleep(0.005)
    held["busy"] = False
    return not was_busy


def raised(what: str) -> None:
    """Fail as processes of a cluster do."""
    if what == "memory":
        raise MemoryError
    if what == "array":
        np.zeros(2**55)
    if what == "disk":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/x")
    if what == "module":
        importlib.import_module("nosuchthing")
    print(1 / 0)


def raising(held: object, what: str) -> None:
    raised(what)


def killed(held: object) -> None:
    """As the system ends who takes too much memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def nothing(held: object) -> None:
    return None


def process(held: object) -> int:
    return os.getpid()


def node(held: object) -> str:
    """The node of a Ray cluster where this runs."""
    import ray

    return str(ray.get_runtime_context().get_node_id())
