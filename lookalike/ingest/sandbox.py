"""Sandbox: what strangers made is decoded by a child process with limits, which may fail and is not believed.

A child reads requests, a line of JSON each, and answers by messages: eight bytes with the length of a JSON
header, that header, and the parts whose lengths it tells. Texts are JSON, numbers and pixels raw bytes:
nothing is unpickled, and no memory is taken before sizes were checked. `worker` is what a child runs. It may
read what the user may read; write, or open a socket, it may not.
"""

from __future__ import annotations

import ctypes
import errno
import io
import json
import logging
import os
import platform
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import ceil, inf
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from lookalike import errors
from lookalike.errors import BadInput, LookalikeError, StorageFailed

logger = logging.getLogger("lookalike")

# -P: modules are not looked for in the current folder, which may be a stranger's.
PROGRAM: Final = ("-P", "-m", "lookalike.ingest.worker")
# Python and NumPy start in a third of a second, on a machine that has nothing else to do.
START_SECONDS: Final = 120.0
# The header of a message describes what follows it, or says why nothing does.
MOST_HEADER: Final = 2**20
# What a child may have found wrong: what is given, never what we keep.
KINDS: Final = ("LookalikeError", "BadInput", "NotFound", "Conflict")
# The C library (of GNU) gives back what is larger than this, and asks for it again with the next frame, which
# was an eighth of all the time of a child.
KEPT_MEMORY: Final = str(2**25)
# Where pipes can be waited for; Windows is where they cannot.
CAN_WAIT: Final = hasattr(select, "poll")
# Where the system does not say how much address space is in use: Python with its libraries takes less.
USUAL_USE: Final = 2**30
ADVICE: Final = "it is damaged, copy it again or leave it out"


@dataclass(frozen=True)
class Limits:
    """What a child may take, where the system can limit it, with the modules that it loads before.

    Address space is in bytes, beyond that which is in use then, and no message has more bytes; the time
    is that of a processor for a message.
    """

    memory: int
    seconds: float | None = None
    libraries: tuple[str, ...] = ()


class Message(NamedTuple):
    """What a child says: a header, and the parts that it announces."""

    header: dict[str, Any]
    parts: list[NDArray[np.uint8]]


class Ended(Exception):
    """The child went away, was silent for too long, or answered nonsense.

    Its text follows the name of what was decoded in a sentence. It tells whether the child was silent for
    too long (`is_late`), and whether the child itself said what ended it (`is_told`).
    """

    def __init__(
        self, how: str = f"confused what reads it: {ADVICE}", is_late: bool = False, is_told: bool = False
    ) -> None:
        super().__init__(how)
        self.is_late = is_late
        self.is_told = is_told


class NotStarted(StorageFailed):
    """A child does not start: a library is missing, or memory."""


class Sandbox:
    """A child process that decodes, within limits; use it in a ``with`` statement.

    It is asked from one thread, and may be closed from any. Raises StorageFailed if the system refuses
    another process.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._process = _started(limits)
        self._requests = cast(IO[bytes], self._process.stdin)
        self._answers = cast(IO[bytes], self._process.stdout)
        self._is_ready = False

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End it."""
        self._process.kill()
        # A request may be left in the pipe, whose other end is gone.
        with suppress(OSError), self._process:
            pass
        self._process.wait()

    def ask(self, request: dict[str, Any]) -> None:
        """Send a request; `answer` takes what the child says.

        Raises NotStarted if the child ended before it was asked anything, and Ended if it is gone.
        """
        if not self._is_ready:
            try:
                self._take(START_SECONDS, 0)
            except Ended:
                self.close()
                raise NotStarted(
                    f"what reads files does not start (it ended with {self._process.returncode}): close "
                    f"other programs if memory is short, or see what `lookalike doctor` says"
                ) from None
            self._is_ready = True
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
        except (OSError, ValueError):  # gone, or closed meanwhile
            raise self._ended() from None

    def answer(self, seconds: float, most: int | None = None) -> Message | None:
        """Wait for what the child says next, so many seconds; None at the end of what it says to a request.

        A message has at most `most` bytes, or as many as the child may take. Raises LookalikeError
        with what the child found wrong with what it decodes, and Ended if it dies, says nothing for
        too long, or answers nonsense.
        """
        while True:
            message = self._take(seconds, self.limits.memory if most is None else most)
            header = message.header
            if "log" in header:
                _log(header)
            elif "refused" in header:
                raise _refusal(header)
            elif "memory" in header:
                raise Ended(
                    "needs more memory than there is, or than may be taken: split it or leave it out",
                    is_told=True,
                )
            elif "broken" in header:
                how = f"cannot be read ({_plain(header['broken'])}): copy it again, or leave it out"
                raise Ended(how, is_told=True)
            else:
                return None if "end" in header else message

    def _take(self, seconds: float, most: int) -> Message:
        with _patiently(self._process, seconds) as lateness:
            try:
                return take_message(self._answers, most)
            # A ValueError is a pipe that was closed meanwhile.
            except (Ended, OSError, ValueError):
                pass
        if lateness.is_late:
            self.close()
            raise Ended(f"took longer than {seconds:g} seconds to answer: {ADVICE}", is_late=True)
        raise self._ended()

    def _ended(self) -> Ended:
        self.close()
        code = self._process.returncode
        # How the system ends a process that took more time than it may; Windows has no such limit.
        if code is not None and -code == getattr(signal, "SIGXCPU", 0):
            return Ended(f"took a processor more than {self.limits.seconds:g} seconds: {ADVICE}")
        return Ended(f"ended what reads it ({code}): {ADVICE}")


def take_message(pipe: IO[bytes], most: int) -> Message:
    """Take a message of at most so many bytes behind its header; Ended if it is not all there, or is none."""
    length = int.from_bytes(_taken(pipe, 8).tobytes(), "little")
    if length > MOST_HEADER:
        raise Ended
    # Whoever took over the child may write anything: any error of these lines means that.
    try:
        header = json.loads(_taken(pipe, length).tobytes())
        lengths = [int(one) for one in header.pop("bytes", ())]
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise Ended from None
    if min(lengths, default=0) < 0 or sum(lengths) > most:
        raise Ended
    return Message(header, [_taken(pipe, length) for length in lengths])


def send(answers: IO[bytes], header: dict[str, Any], parts: Sequence[Any] = ()) -> None:
    """Write a message; a part is bytes, an array, or a list of these that belong together."""
    pieces = [part if isinstance(part, list) else [part] for part in parts]
    lengths = [sum(memoryview(one).nbytes for one in part) for part in pieces]
    text = json.dumps({**header, "bytes": lengths} if parts else header).encode()
    with _sending:
        answers.write(len(text).to_bytes(8, "little") + text)
        for part in pieces:
            for one in part:
                answers.write(one)
        answers.flush()


# What is logged may be sent by any thread.
_sending = threading.Lock()


def _taken(pipe: IO[bytes], length: int) -> NDArray[np.uint8]:
    """Take exactly so many bytes; the caller has checked the number."""
    data = np.empty(length, dtype=np.uint8)
    # The pipe is buffered: it is read until all is there, or the child is gone.
    buffered: Any = pipe
    if length and buffered.readinto(data) != length:
        raise Ended
    return data


def _started(limits: Limits) -> subprocess.Popen[bytes]:
    said = {
        "memory": limits.memory,
        "seconds": limits.seconds,
        "libraries": limits.libraries,
        "log": logger.getEffectiveLevel(),
    }
    # One thread: the pools of the others would count as address space.
    alone = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    alone |= {f"MALLOC_{name}_THRESHOLD_": KEPT_MEMORY for name in ("MMAP", "TRIM")}
    # Else each thread keeps frames of its own.
    alone["MALLOC_ARENA_MAX"] = "1"
    try:
        child = subprocess.Popen(
            [sys.executable, *PROGRAM, json.dumps(said)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **alone},
            # Ctrl-C in the terminal reaches a whole session; this one is ended by us.
            start_new_session=True,
        )
    except OSError as reason:
        raise StorageFailed(
            f"what reads files cannot be started ({reason.strerror}): close other programs, then try again"
        ) from None
    if CAN_WAIT and isinstance(child.stdout, io.BufferedReader):
        child.stdout = io.BufferedReader(PatientPipe(cast(io.FileIO, child.stdout.detach())))
    return child


class PatientPipe(io.RawIOBase):
    """The end of an unbuffered pipe that is read; after the deadline it seems to have come to its end.

    No thread is needed to wait so: it would need memory of its own, which may be what is missing.
    """

    def __init__(self, pipe: io.FileIO) -> None:
        self._pipe = pipe
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)
        self.deadline = inf
        self.is_late = False

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Wait, and take what is there."""
        left = self.deadline - time.monotonic()
        if not self._poll.poll(None if left == inf else max(0.0, 1000 * left)):
            self.is_late = True
            return 0
        return self._pipe.readinto(buffer)

    def close(self) -> None:
        """Close the pipe."""
        self._pipe.close()
        super().close()


class Alarm:
    """Ends a child after a while, where its pipe cannot be waited for."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self.is_late = False

    def ring(self) -> None:
        """End the child."""
        self.is_late = True
        self._child.kill()


@contextmanager
def _patiently(child: subprocess.Popen[bytes], seconds: float) -> Iterator[PatientPipe | Alarm]:
    """Read from a child, but not for ever; what is yielded knows afterwards whether it took longer."""
    raw = getattr(child.stdout, "raw", None)
    if isinstance(raw, PatientPipe):
        raw.deadline = time.monotonic() + seconds
        yield raw
        raw.deadline = inf
        return
    alarm = Alarm(child)
    timer = threading.Timer(seconds, alarm.ring)
    timer.daemon = True
    timer.start()
    try:
        yield alarm
    finally:
        timer.cancel()


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


# What a child does to itself, before it is asked anything.


def take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return where requests come from and where answers go; nobody else can read or write there any more."""
    # Whatever a library prints goes nowhere.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    # Ctrl-C is for the parent, which ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):  # a terminal that was closed ends the parent, and that us
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return requests, answers


def restrict(memory: int) -> None:
    """Give up what decoding does not need: the network, address space, files to write, dumps of a crash."""
    go_offline()
    try:
        import resource
    # Windows has no such limits; there the claims of the file and the time are all that is checked.
    except ImportError:
        return
    for kind, most in (
        (resource.RLIMIT_AS, _addresses() + memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        # A lower limit is in force already, or the system knows the name only.
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))


@contextmanager
def less_memory(most: int) -> Iterator[None]:
    """Take no more than so many bytes of address space in the block, where the system can limit it."""
    try:
        import resource
    except ImportError:
        yield
        return
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _addresses() + most
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (limit if before < 0 else min(limit, before), hard))
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def _addresses() -> int:
    """How many bytes of address space this process has in use."""
    with suppress(OSError, ValueError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return USUAL_USE


def limit_seconds(seconds: float | None) -> None:
    """Let the system end us if the next message takes longer, even if the parent is gone by then."""
    if seconds is None:
        return
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time() + seconds) + 1, hard))


class Machine(NamedTuple):
    """How a kind of processor numbers the calls of Linux.

    `audit` names its calling convention; another one on the same machine has other numbers.
    """

    audit: int
    seccomp: int
    socket: int
    io_uring: int


MACHINES: Final = {
    "x86_64": Machine(0xC000003E, seccomp=317, socket=41, io_uring=425),
    "aarch64": Machine(0xC00000B7, seccomp=277, socket=198, io_uring=425),
}
# Instructions of the filter: load a word, jump if equal, jump if at least, and return.
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
# Where the number of a call stands in what the filter is shown, and where its convention.
CALL, CONVENTION = 0, 4
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
# From here on, numbers of x86_64 belong to the calls of x32.
X32: Final = 0x40000000
SET_MODE_FILTER, ALL_THREADS, NO_NEW_PRIVILEGES = 1, 1, 38


class Instruction(ctypes.Structure):
    """One instruction: what, how far to jump if it holds and if not, and with which number."""

    _fields_ = (
        ("code", ctypes.c_uint16),
        ("holds", ctypes.c_uint8),
        ("fails", ctypes.c_uint8),
        ("number", ctypes.c_uint32),
    )


class Program(ctypes.Structure):
    """A filter as the system takes it."""

    _fields_ = (("length", ctypes.c_uint16), ("first", ctypes.POINTER(Instruction)))


def go_offline() -> bool:
    """Give up sockets, in all threads and in every child to come, for the rest of this process.

    Linux can filter what a process asks of the system (seccomp(2)). Sockets are refused, and so is
    io_uring, which could open them unseen; what is open already stays open, and no right can be won back.
    macOS and Windows have no such thing for everybody to use: False where the system has no way to.
    """
    machine = MACHINES.get(platform.machine())
    # On 32 bits of either processor the numbers are others.
    if not sys.platform.startswith("linux") or machine is None or sys.maxsize < 2**32:
        return False
    steps = (Instruction * 8)(
        Instruction(LOAD, 0, 0, CONVENTION),
        Instruction(JUMP_EQUAL, 0, 5, machine.audit),
        Instruction(LOAD, 0, 0, CALL),
        Instruction(JUMP_AT_LEAST, 3, 0, X32),
        Instruction(JUMP_EQUAL, 2, 0, machine.socket),
        Instruction(JUMP_EQUAL, 1, 0, machine.io_uring),
        Instruction(RETURN, 0, 0, ALLOW),
        Instruction(RETURN, 0, 0, REFUSE),
    )
    program = Program(len(steps), steps)
    libc = ctypes.CDLL(None, use_errno=True)
    # A filter may be set by everybody who renounces programs that run as somebody else.
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return bool(
        libc.syscall(ctypes.c_long(machine.seccomp), SET_MODE_FILTER, ALL_THREADS, ctypes.byref(program)) == 0
    )
