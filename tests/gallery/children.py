"""Run a piece of Python in a child process: killed, limited, or without root's privileges."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from tests.waiting import PATIENCE

PREAMBLE = """
import sys
from pathlib import Path
import numpy as np
from lookalike.gallery.gallery import Gallery
from lookalike.indexing.store import TableStore
from lookalike.errors import LookalikeError
from lookalike.faceset import FaceSet

def faces(seed, count=3, dimension=4):
    return np.random.default_rng(seed).normal(size=(count, dimension))
"""

ROOT = Path(__file__).parents[2]


def obey_permissions() -> None:
    """Take from root the right to ignore permission bits, for this process and what it becomes."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        if os.geteuid() == 0 and libc.prctl(24, capability, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
            raise OSError(ctypes.get_errno(), "cannot drop a capability")


def permissions_can_be_obeyed(folder: Path) -> bool:
    """Whether a child started with `obey_permissions` is really refused a file in a read-only folder."""
    folder.chmod(0o555)
    try:
        tried = subprocess.run(["touch", folder / "x"], preexec_fn=obey_permissions, capture_output=True)
        return tried.returncode != 0
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        folder.chmod(0o755)


def small_files(limit: int) -> Callable[[], None]:
    """No file may grow beyond `limit` bytes, as on a full disk; writing says so instead of killing."""

    def apply() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    return apply


def start(code: str, *arguments: object, before: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PREAMBLE + textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # starts sooner
        preexec_fn=before,
    )


def kill(child: subprocess.Popen[str]) -> list[str]:
    """Kill without warning; return the whole lines that it had printed and nobody had read."""
    child.kill()
    with child, child.stdout, child.stderr:
        # Not communicate(): that forgets what an earlier readline() had read ahead.
        printed = child.stdout.read()
    # The kill may have cut the last line off: then it says nothing.
    return [line for line in printed.splitlines(keepends=True) if line.endswith("\n")]


def run(code: str, *arguments: object, before: Callable[[], None] | None = None) -> str:
    """Run to the end; what it prints is the answer, and a failure is the test's failure."""
    child = start(code, *arguments, before=before)
    out, err = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, err
    return out.strip()
