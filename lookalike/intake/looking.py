"""LookingChild: one child process that looks for faces, and is replaced when it dies or says nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any, Final, Protocol

from lookalike.errors import BadInput, LookalikeError
from lookalike.intake.children import Ended, pipe_of, take_header, taken, time_limit
from lookalike.intake.paths import readable
from lookalike.intake.seen import SeenFile, SeenTrack, Settings

# An aligned picture has 3 kB.
MOST_PICTURE: Final = 2**18

# The C library (of GNU) gives back what is larger than this, and asks for it again with the next frame, which
# was an eighth of all the time of a child.
KEPT_MEMORY: Final = str(2**25)

# What a child tells of a file; None if nobody wanted to know.
Told = float | SeenTrack | SeenFile | LookalikeError | None


class Terms(Protocol):
    """On which terms a child works: how it looks, what it may take, and whether it is still wanted."""

    settings: Settings
    memory: int
    patience: float
    slowest: float

    @property
    def is_over(self) -> bool:
        """Whether nobody waits for an answer any more."""


def _seconds(said: Any) -> float:
    """A length of time as a child may say it."""
    seconds = float(said)
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{said!r} is no length of time")
    return seconds


class LookingChild:
    """One child process, started when it is needed and started again when it has died."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._process: subprocess.Popen[bytes] | None = None
        # Seconds waited for all answers about a file and for the last, and seconds of it that were looked at.
        self._waited = self._last = self._reached = 0.0

    @property
    def pid(self) -> int | None:
        """Its process number, if it runs."""
        return None if self._process is None else self._process.pid

    def look(self, path: Path, threads: int = 1) -> Iterator[Told]:
        """Tell what one file shows, on so many threads; the last item is a SeenFile or an error."""
        began = False
        while True:
            fresh = self._process is None
            late: list[bool] = []
            try:
                for told in self._told(path, threads, late):
                    began = began or isinstance(told, SeenTrack)
                    yield told
                return
            except Ended:
                self.close()
                # Nobody waits for an answer any more, and nothing shall be started again.
                if self._terms.is_over:
                    return
                # Something else may have ended a child that served before: the file gets another chance.
                if not (late or fresh or began):
                    continue
                how = self._late() if late else "crashed what reads it"
                yield BadInput(f"{readable(path)!r} {how}: it is damaged, copy it again or leave it out")
                return

    def length(self, path: Path) -> float:
        """How many seconds a film says it lasts; 0 if it cannot tell."""
        try:
            self._ask({"path": os.fsencode(os.path.abspath(path)).hex(), "probe": True})
            header = self._message([])
            return _seconds(header.get("seconds", 0.0))
        except (Ended, ValueError, TypeError, OverflowError):
            self.close()
            return 0.0

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        # A request may be left in the pipe, whose other end is gone.
        with suppress(OSError), process:
            pass
        process.wait()

    def _late(self) -> str:
        """Why nobody waited any longer."""
        if self._last >= self._terms.patience:
            return f"did not answer for {self._terms.patience:g} seconds"
        return f"took more than {self._terms.slowest:g} seconds for a second of film"

    def _patience(self) -> float:
        """Seconds that may be waited for a file, as far as it was looked at."""
        return self._terms.patience + self._terms.slowest * self._reached

    def _told(self, path: Path, threads: int, late: list[bool]) -> Iterator[Told]:
        self._waited = self._reached = 0.0
        self._ask({"path": os.fsencode(os.path.abspath(path)).hex(), "threads": threads})
        while True:
            header = self._message(late)
            # Whoever took over the child may write anything: any error of these lines means that.
            try:
                if "refused" in header:
                    words = " ".join(str(header["refused"]).split())[:1000]
                    # A sentence that names the file names it as the child was given it.
                    words = words.removeprefix(repr(readable(os.path.abspath(path)))).lstrip()
                    yield BadInput(f"{readable(path)!r} {words}")
                    if header.get("ended"):
                        self.close()
                    return
                if "time" in header:
                    self._reached = _seconds(header["time"])
                    yield self._reached
                elif "track" in header:
                    yield self._track(header, late)
                else:
                    remark = " ".join(str(header.get("remark", "")).split())[:1000]
                    yield SeenFile((), _seconds(header["seconds"]), remark)
                    return
            except (KeyError, TypeError, ValueError, OverflowError, BadInput):
                raise Ended from None

    def _track(self, header: dict[str, Any], late: list[bool]) -> SeenTrack:
        lengths = [int(length) for length in header["bytes"]]
        if not 0 < len(lengths) == len(header["sightings"]) <= self._terms.settings.most:
            raise Ended
        if not all(0 < length <= MOST_PICTURE for length in lengths):
            raise Ended
        with self._patiently(late) as process:
            pictures = tuple(taken(pipe_of(process.stdout), length).tobytes() for length in lengths)
        if not all(picture[:4] == b"RIFF" and picture[8:12] == b"WEBP" for picture in pictures):
            raise Ended
        return SeenTrack.from_header(header, pictures)

    def _ask(self, request: dict[str, Any]) -> None:
        if self._terms.is_over:
            raise Ended
        process = self._started()
        try:
            pipe_of(process.stdin).write(json.dumps(request).encode() + b"\n")
            pipe_of(process.stdin).flush()
        except (OSError, ValueError):  # gone, or closed meanwhile
            raise Ended from None

    def _message(self, late: list[bool]) -> dict[str, Any]:
        with self._patiently(late) as process:
            return take_header(process)

    @contextmanager
    def _patiently(self, late: list[bool]) -> Iterator[subprocess.Popen[bytes]]:
        """Wait for what the process says, but not for ever; the list is no longer empty then."""
        process = self._process
        if process is None:
            raise Ended
        limit = min(self._terms.patience, self._patience() - self._waited)
        began = monotonic()
        with time_limit(process, limit) as over:
            try:
                yield process
            except ValueError:  # its pipe was closed meanwhile
                raise Ended from None
            finally:
                self._last = monotonic() - began
                self._waited += self._last
                late += over

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        said = {"memory": self._terms.memory, "settings": asdict(self._terms.settings)}
        alone = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
        alone |= {f"MALLOC_{name}_THRESHOLD_": KEPT_MEMORY for name in ("MMAP", "TRIM")}
        # Else each thread keeps frames of its own.
        alone["MALLOC_ARENA_MAX"] = "1"
        process = self._process = subprocess.Popen(
            # -P: modules are not looked for in the current folder, which may be a stranger's.
            [sys.executable, "-P", "-m", "lookalike.intake._footage_child", json.dumps(said)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **alone},
            # Ctrl-C in the terminal reaches a whole session; this one is ended by us.
            start_new_session=True,
        )
        try:
            self._message([])
        except Ended:
            self.close()
            if self._terms.is_over:
                raise
            raise LookalikeError(
                "what looks for faces does not start: `lookalike doctor` says what is missing"
            ) from None
        # Whoever closed us while it was started could not see it.
        if self._terms.is_over:
            self.close()
            raise Ended
        return process
