"""Functions that engines apply, where every process can import them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import Conflict, NotFound


def opened(name: str, numbers: list[int]) -> dict[str, object]:
    return {"name": name, "numbers": np.array(numbers, dtype=np.float64)}


def refused(name: str) -> dict[str, object]:
    raise NotFound(f"there is no shard called {name!r}")


def total(shard: dict[str, NDArray[np.float64]], factor: float) -> float:
    return float(shard["numbers"].sum() * factor)


def times(shard: dict[str, NDArray[np.float64]], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    return shard["numbers"][:, None] * factors


def conflicting(shard: object) -> None:
    raise Conflict("this contradicts that: choose one")


def dying_once(shard: dict[str, NDArray[np.float64]], trace: str) -> float:
    """End the process the first time, and answer the second."""
    if not Path(trace).exists():
        Path(trace).touch()
        os._exit(1)
    return total(shard, 1.0)


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


def waiting(trace: str) -> str:
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
