"""SourceChild: one child process that reads ready-made faces, and what it says in messages."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from lookalike import errors
from lookalike.errors import BadInput, LookalikeError, StorageFailed
from lookalike.intake.children import Ended, pipe_of, take_header
from lookalike.intake.patience import patient, patiently
from lookalike.intake.set_messages import take_set
from lookalike.intake.sourceset import SourceSet

logger = logging.getLogger("lookalike")

# Python and NumPy start in a third of a second, on a machine that has nothing else to do.
START_SECONDS: Final = 120.0
# What a child may have found wrong: what is given, never what we keep.
KINDS: Final = ("LookalikeError", "BadInput", "NotFound", "Conflict")


@dataclass(frozen=True)
class Limits:
    """What a child may take for a source, where the system can limit it.

    Parameters
    ----------
    memory : int
        Address space in bytes, beyond its libraries; no set has more bytes.
    seconds : float
        Time of a processor for a set.
    patience : float
        How long a set may be waited for: disks may be far away.
    """

    memory: int
    seconds: float
    patience: float


class Crashed(Exception):
    """The child went away; its text follows the name of what it was reading in a sentence."""


class SourceChild:
    """A child process that was asked something; use it in a ``with`` statement, from one thread.

    Parameters
    ----------
    request : dict
        What it is asked.
    limits : Limits
        What it may take.

    Raises
    ------
    StorageFailed
        If it cannot be started.
    """

    def __init__(self, request: dict[str, Any], limits: Limits) -> None:
        self._limits = limits
        self._process = _started(limits)
        try:
            with patiently(self._process, START_SECONDS):
                take_header(self._process)
        except Ended:
            self.close()
            raise StorageFailed(
                f"what reads sources does not start (it ended with {self._process.returncode}): close other "
                f"programs if memory is short, or see what `lookalike doctor` says"
            ) from None
        except BaseException:
            self.close()
            raise
        try:
            with self._patiently():
                pipe_of(self._process.stdin).write(json.dumps(request).encode() + b"\n")
                pipe_of(self._process.stdin).close()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> SourceChild:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._process.pid

    def close(self) -> None:
        """End it."""
        self._process.kill()
        # A request may be left in the pipe, whose other end is gone.
        with suppress(OSError), self._process:
            pass
        self._process.wait()

    def next(self) -> SourceSet | LookalikeError | bool:
        """Wait for what it says next.

        Returns
        -------
        SourceSet, LookalikeError or bool
            A set, or why there is none; True if it has begun and False at the end.

        Raises
        ------
        Crashed
            If it dies, says nothing for too long, or answers nonsense.
        """
        with self._patiently():
            while "log" in (header := take_header(self._process)):
                _log(header)
            if "refused" in header:
                return _refusal(header)
            if "memory" in header:
                raise Crashed("needs more memory than there is, or than may be taken: split it")
            if "broken" in header:
                raise Crashed(f"cannot be read ({_plain(header['broken'])}): copy it again, or leave it out")
            if "begun" in header or "end" in header:
                return "begun" in header
            return take_set(header, pipe_of(self._process.stdout), self._limits.memory)

    @contextmanager
    def _patiently(self) -> Iterator[None]:
        late: list[bool] = []
        try:
            with patiently(self._process, self._limits.patience) as late:
                yield
        except (Ended, OSError):
            self.close()
            raise Crashed(self._how(bool(late))) from None

    def _how(self, late: bool) -> str:
        ended = self._process.returncode
        advice = "it is damaged, copy it again or leave it out"
        if late:
            return f"took longer than {self._limits.patience:g} seconds to read a set: {advice}"
        # How the system ends a process that took more time than it may; Windows has no such limit.
        if ended is not None and -ended == getattr(signal, "SIGXCPU", 0):
            return f"took a processor more than {self._limits.seconds:g} seconds for a set: {advice}"
        return f"ended what reads it ({ended}): {advice}"


def _started(limits: Limits) -> subprocess.Popen[bytes]:
    said = {"memory": limits.memory, "seconds": limits.seconds, "log": logger.getEffectiveLevel()}
    # One thread: the pools of the others would count as address space.
    alone = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    try:
        child = subprocess.Popen(
            # -P: modules are not looked for in the current folder, which may be a stranger's.
            [sys.executable, "-P", "-m", "lookalike.intake._source_child", json.dumps(said)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **alone},
            # Ctrl-C in the terminal reaches a whole session; this one is ended by us.
            start_new_session=True,
        )
    except OSError as reason:
        raise StorageFailed(
            f"what reads sources cannot be started ({reason.strerror}): close other programs, then try again"
        ) from None
    return patient(child)


def _refusal(header: dict[str, Any]) -> LookalikeError:
    kind = str(header.get("kind"))
    refused: type[LookalikeError] = getattr(errors, kind) if kind in KINDS else BadInput
    return refused(_plain(header["refused"]))


def _plain(said: Any) -> str:
    """A sentence as it is, unless it holds what would write elsewhere on a terminal."""
    sentence = str(said)
    return sentence if sentence.isprintable() else repr(sentence)[1:-1]


def _log(header: dict[str, Any]) -> None:
    name, level = str(header.get("by")), header.get("level")
    if name.startswith("lookalike.") and isinstance(level, int):
        logging.getLogger(name).log(level, "%s", _plain(header["log"]))
