"""Run jobs under the shim: what they do to the files of one folder is written down, or spoilt.

`Bench` starts one process with the shim before the C library, which loads our libraries once and then forks
for every job, since a fork takes milliseconds and a start takes a second.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.to_the_end import run_to_the_end

SOURCE = Path(__file__).with_name("shim.c")
ROOT = Path(__file__).parents[2]
# Letters of operations, as shim.c names them.
ALL = "owtsrlumd"
FOR_EVER = 2**40
# No job of ours takes this much processor time: one that does goes round in circles.
SECONDS = 60


class Operation(NamedTuple):
    """One line of the log: see shim.c. Marks have the letter A, and their text as path."""

    letter: str
    number: int
    file: int
    where: int
    path: str
    other: str
    data: bytes


@dataclass(frozen=True)
class Spoil:
    """What to do to which operations: ``fail``, ``short``, ``kill``, ``tear`` (half a write, then a kill).

    Attributes
    ----------
    how : str
    first, last : int
    errno : int
        The error; with ``kill`` the signal, SIGKILL if 0.
    kinds : str
        Letters of the operations.
    """

    how: str = ""
    first: int = 0
    last: int = 0
    errno: int = 0
    kinds: str = ALL


@dataclass(frozen=True)
class Ended:
    """How a job ended: exit code (negative: killed by that signal), what it said, in full."""

    code: int
    out: str
    err: str


@functools.cache
def library() -> Path | None:
    """The compiled shim; None where there is no C compiler, or no LD_PRELOAD."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    made = Path(tempfile.mkdtemp(prefix="lookalike-shim-")) / "shim.so"
    words = [compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(SOURCE), "-ldl", "-lpthread"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the shim does not compile: {done.stderr}")
    return made


class Bench:
    """A process under the shim that forks for every job.

    Parameters
    ----------
    modules : str
        Names of modules to load before the first fork; their function `warm`, if any, is called.
    """

    def __init__(self, *modules: str) -> None:
        made = library()
        if made is None:
            raise RuntimeError("faults cannot be injected here: they need Linux and a C compiler")
        # One thread: then a fork is whole, and the order of operations is always the same.
        alone = {"OPENBLAS_NUM_THREADS": "1", "LOOKALIKE_THREADS": "1", "NO_COLOR": "1"}
        env = {**os.environ, "LD_PRELOAD": str(made), **alone}
        words = [sys.executable, "-W", "ignore", "-m", "tests.trust.shim", str(made), *modules]
        self._server = subprocess.Popen(
            words, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self, call: str, *given: Any, root: Path, spoil: Spoil | None = None, log: Path | None = None
    ) -> Ended:
        """Call ``module:function`` with JSON values in a fork, the shim watching below `root`."""
        request = [call, given, str(root), asdict(spoil or Spoil()), str(log or "")]
        self._server.stdin.write(json.dumps(request) + "\n")  # type: ignore[union-attr]
        self._server.stdin.flush()  # type: ignore[union-attr]
        answer = self._server.stdout.readline()  # type: ignore[union-attr]
        if not answer:
            raise RuntimeError("the process under the shim died")
        return Ended(*json.loads(answer))

    def close(self) -> None:
        """End the process; every fork has ended by itself."""
        with self._server:
            self._server.stdin.close()  # type: ignore[union-attr]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_log(path: Path) -> list[Operation]:
    """The operations that were carried out, in their order; one cut off by a kill is left out."""
    content, place, found = path.read_bytes(), 0, []
    while (end := content.find(b"\n", place)) >= 0:
        letter, *numbers, one, other = content[place:end].decode().split("\t")
        number, file, where, length = map(int, numbers)
        data = content[end + 1 : end + 1 + length]
        if len(data) < length:
            break
        found.append(Operation(letter, number, file, where, one, other, data))
        place = end + 1 + length
    return found


# What runs in the process under the shim.


def mark(text: str) -> None:
    """Write a line of one's own into the log, if there is one: what has been promised so far."""
    with suppress(AttributeError):  # not under the shim
        ctypes.CDLL(None).shim_mark(text.encode())


def serve(made: str, modules: list[str]) -> None:
    """Fork for every line of stdin, answer with how it ended."""
    shim = ctypes.CDLL(made)  # loaded already: these are its functions
    shim.shim_begin.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_long] * 2 + [ctypes.c_int, ctypes.c_char_p]
    for name in modules:
        getattr(importlib.import_module(name), "warm", int)()
    gc.freeze()
    folder = Path(tempfile.mkdtemp(prefix="lookalike-bench-"))
    outputs = [folder / "out", folder / "err"]
    try:
        for line in sys.stdin:
            child = os.fork()
            if child == 0:
                run_to_the_end(functools.partial(_be, shim, json.loads(line), outputs))
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said = [path.read_bytes().decode("utf-8", "replace") for path in outputs]
            print(json.dumps([code, *said]), flush=True)
    finally:
        shutil.rmtree(folder)


def _be(shim: ctypes.CDLL, request: list[Any], outputs: list[Path]) -> None:
    """Be one job."""
    call, given, root, spoil, log = request
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(2 * SECONDS)  # one that waits for ever ends too, killed by this signal
    module, _, name = call.partition(":")
    function = getattr(importlib.import_module(module), name)
    words = [os.fsencode(text) for text in (root, log, spoil["how"])]
    last = spoil["last"] or spoil["first"]
    shim.shim_begin(*words, spoil["first"], last, spoil["errno"], spoil["kinds"].encode())
    function(*given)
    shim.shim_end()


if __name__ == "__main__":
    # Under the name by which jobs import it, so that there is one of it.
    importlib.import_module("tests.trust.shim").serve(sys.argv[1], sys.argv[2:])
