"""Restricted: the side of a child process that decodes what strangers made, with limits on what it may take.

A child reads requests, a line of JSON each, and answers by messages: eight bytes with the length of a JSON
header, that header, and the bytes it announces. `children` is the other end.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import IO, Any, Final

from lookalike.intake.offline import go_offline

# Where the system does not say how much address space is in use: Python with its libraries takes less.
USUAL_USE: Final = 2**30


def take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return where requests come from and where answers go; nobody else can read or write there any more."""
    # Whatever a library prints goes nowhere.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    # Ctrl-C is for the parent, which ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return requests, answers


def restrict(memory: int) -> None:
    """Give up what decoding does not need: the network, address space, files to write, dumps of a crash."""
    go_offline()
    try:
        import resource
    # Windows has no such limits; there the claims of the file and the time are all that is checked.
    except ImportError:
        return
    used = USUAL_USE
    with contextlib.suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for kind, most in (
        (resource.RLIMIT_AS, used + memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        # A lower limit is in force already, or the system knows the name only.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))


def limit_seconds(seconds: float) -> None:
    """Let the system end us if the next file takes longer, even if the parent is gone by then."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time() + seconds) + 1, hard))


def send(answers: IO[bytes], header: dict[str, Any], body: Sequence[Any] = ()) -> None:
    """Write a message."""
    text = json.dumps(header).encode()
    answers.write(len(text).to_bytes(8, "little") + text)
    for data in body:
        answers.write(data)
    answers.flush()
