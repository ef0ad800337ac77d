"""Patience: wait for what a child says until a deadline, without a thread where the system allows it.

A thread needs memory of its own, which may be what is missing.
"""

from __future__ import annotations

import io
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic
from typing import Any, Final, cast

from lookalike.intake.children import time_limit

# Where pipes can be waited for; Windows is where they cannot.
CAN_WAIT: Final = hasattr(select, "poll")


class PatientPipe(io.RawIOBase):
    """The end of a pipe that is read; after the deadline it seems to have come to its end.

    Parameters
    ----------
    pipe : FileIO
        Without a buffer.
    """

    def __init__(self, pipe: io.FileIO) -> None:
        self._pipe = pipe
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)
        self.deadline = inf
        self.late = False

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Wait, and take what is there."""
        left = self.deadline - monotonic()
        if not self._poll.poll(None if left == inf else max(0.0, 1000 * left)):
            self.late = True
            return 0
        return self._pipe.readinto(buffer)

    def close(self) -> None:
        """Close the pipe."""
        self._pipe.close()
        super().close()


def patient(child: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """A child that was just started, made ready to be waited for."""
    if CAN_WAIT and isinstance(child.stdout, io.BufferedReader):
        child.stdout = io.BufferedReader(PatientPipe(cast(io.FileIO, child.stdout.detach())))
    return child


@contextmanager
def patiently(child: subprocess.Popen[bytes], seconds: float) -> Iterator[list[bool]]:
    """Read from a patient child, but not for ever; if it took longer, the list is not empty afterwards."""
    raw = getattr(child.stdout, "raw", None)
    if not isinstance(raw, PatientPipe):
        with time_limit(child, seconds) as late:
            yield late
        return
    late = []
    raw.deadline = monotonic() + seconds
    try:
        yield late
    finally:
        raw.deadline = inf
        late += [True] * raw.late
