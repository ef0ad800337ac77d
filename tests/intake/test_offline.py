"""Who went offline opens no socket, in no thread and no child; whoever decodes what is given has done so."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from lookalike.intake.offline import MACHINES
from lookalike.intake.reading_apart import read_apart
from tests.intake.apart import Started

can = pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() not in MACHINES, reason="needs such a Linux"
)

TRY = """
import socket, subprocess, sys, threading
from lookalike.intake.offline import go_offline

TRY = "import socket\\ntry: socket.socket(); print('open')\\nexcept PermissionError: print('refused')"
gone, said = threading.Event(), []

def attempt(family):
    gone.wait()
    try:
        socket.socket(family)
    except PermissionError:
        said.append("refused")

families = socket.AF_INET, socket.AF_INET6, socket.AF_UNIX
older = [threading.Thread(target=attempt, args=[family]) for family in families]
for thread in older:
    thread.start()
socket.socket().close()
assert go_offline()
gone.set()
for thread in older:
    thread.join()
attempt(socket.AF_INET)
child = subprocess.run([sys.executable, "-c", TRY], capture_output=True, text=True)
print(*said, child.stdout.strip())
"""


@can
def test_no_socket_in_older_threads_in_this_one_and_in_children() -> None:
    ended = subprocess.run([sys.executable, "-c", TRY], capture_output=True, text=True)
    assert ended.stdout.split() == ["refused"] * 5, ended.stderr


@can
def test_what_reads_a_source_is_offline(npz: Path, started: Started) -> None:
    sets = read_apart(npz)
    assert _filters(started[0].pid) == "2"
    assert len(list(sets)) == 12


@can
@pytest.mark.parametrize("module", ["_footage_child", "_source_child", "readers._mat_child"])
def test_every_child_goes_offline_before_it_is_asked_anything(module: str) -> None:
    said = '{"memory": 1000000000, "seconds": 60, "log": 30, "settings": {}}'
    words = [sys.executable, "-P", "-m", f"lookalike.intake.{module}", said]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        child.stdout.read(8)
        filters = _filters(child.pid)
        child.stdin.close()
        child.stdout.read()
    assert filters == "2"


def _filters(pid: int) -> str:
    """How the calls of a process are filtered: 2 means by a program of its own."""
    status = Path(f"/proc/{pid}/status").read_text()
    return status.split("Seccomp:")[1].split()[0]
