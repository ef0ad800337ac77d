"""Children: the side of a process that has decoding done by a child, which may fail and is not believed."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from threading import Timer
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

# The header of a message describes what follows it, or says why nothing does.
MOST_HEADER: Final = 2**20


class Ended(Exception):
    """The child went away, or answered nonsense."""


def take_header(child: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Take the header of an answer; it is all that a child says when it starts.

    Raises
    ------
    Ended
        If the child is gone, or this is no header.
    """
    answers = pipe_of(child.stdout)
    length = int.from_bytes(taken(answers, 8).tobytes(), "little")
    if length > MOST_HEADER:
        raise Ended
    try:
        header = json.loads(taken(answers, length).tobytes())
    except (ValueError, RecursionError):
        raise Ended from None
    if not isinstance(header, dict):
        raise Ended
    return header


def taken(answers: IO[bytes], length: int) -> NDArray[np.uint8]:
    """Take exactly so many bytes; the caller has checked the number."""
    data = np.empty(length, dtype=np.uint8)
    # The pipe is buffered: it is read until all is there, or the child is gone.
    buffered: Any = answers
    if length and buffered.readinto(data) != length:
        raise Ended
    return data


def pipe_of(pipe: IO[bytes] | None) -> IO[bytes]:
    """The pipe of a child that was started with one."""
    if pipe is None:
        raise Ended
    return pipe


@contextlib.contextmanager
def time_limit(child: subprocess.Popen[bytes], seconds: float) -> Iterator[list[bool]]:
    """End the child after so many seconds; the list is no longer empty then."""
    late: list[bool] = []

    def end() -> None:
        late.append(True)
        child.kill()

    # A timer works on every system, while a pipe can be waited for with a limit on some only.
    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
