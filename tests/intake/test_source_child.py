"""The child that reads a source: what it may take, how it ends, and what is said then."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import BadInput, StorageFailed
from lookalike.intake import patience, source_child
from lookalike.intake.reading_apart import read_apart, usual_limits
from lookalike.intake.source_child import Crashed, SourceChild
from tests.cli_process import vectors, write_npz
from tests.intake.apart import Started
from trust.sources import KINDS

limited = pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="needs Linux")


def test_a_child_that_dies(npz: Path, started: Started) -> None:
    sets = read_apart(write_npz(npz, embeddings=vectors(dimension=9000)))
    next(sets)
    # As a parser does that runs wild.
    started[0].kill()
    with pytest.raises(BadInput) as caught:
        list(sets)
    assert repr(str(npz)) in str(caught.value)
    assert "ended what reads it (-9)" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("can_wait", [True, False])
def test_a_child_that_hangs(npz: Path, monkeypatch: pytest.MonkeyPatch, can_wait: bool) -> None:
    monkeypatch.setattr(patience, "CAN_WAIT", can_wait and patience.CAN_WAIT)
    # More than a pipe holds.
    write_npz(npz, embeddings=vectors(dimension=9000))
    request = {"source": str(npz), "array": None, "features": None, "most": None, "guessed": False}
    with SourceChild(request, usual_limits()) as child:
        assert child.next() is True
        os.kill(child.pid, signal.SIGSTOP)
        child._limits = replace(child._limits, patience=0.2)
        with pytest.raises(Crashed, match=r"longer than 0\.2 seconds"):
            list(iter(child.next, False))


@limited
def test_a_child_that_takes_the_processor_too_long(npz: Path, started: Started) -> None:
    sets = read_apart(
        write_npz(npz, embeddings=vectors(dimension=9000)), limits=replace(usual_limits(), seconds=7)
    )
    next(sets)
    held = Path(f"/proc/{started[0].pid}/limits").read_text()
    seconds = next(line for line in held.splitlines() if line.startswith("Max cpu time"))
    assert 8 <= int(seconds.split()[3]) <= 20
    # How the system ends it.
    started[0].send_signal(signal.SIGXCPU)
    with pytest.raises(BadInput, match=r"x\.npz.* a processor more than 7 seconds"):
        list(sets)


@limited
def test_what_a_child_may_take(npz: Path, started: Started) -> None:
    sets = read_apart(npz, limits=replace(usual_limits(), memory=2**30))
    held = Path(f"/proc/{started[0].pid}/limits").read_text()
    most = {line[:26].strip(): line[26:].split()[0] for line in held.splitlines()}
    assert most["Max file size"] == most["Max core file size"] == "0"
    assert 2**30 < int(most["Max address space"]) < 2**32
    assert len(list(sets)) == 12


@limited
@pytest.mark.parametrize(("memory", "said"), [(50, "split it"), (150, "more memory than there is")])
def test_memory_is_limited(tmp_path: Path, memory: int, said: str) -> None:
    crops = np.zeros((4, 5000, 5000), dtype=np.uint8)
    np.savez_compressed(tmp_path / "x.npz", images=crops, image_set=np.zeros(4, int), set_names=["a"])
    with pytest.raises(BadInput, match=rf"x\.npz.*{said}"):
        list(read_apart(tmp_path / "x.npz", limits=replace(usual_limits(), memory=memory * 10**6)))


def test_features_are_mapped_whatever_their_size(tmp_path: Path) -> None:
    source = KINDS["mot"](tmp_path)
    size = source.features.stat().st_size
    assert usual_limits(source.features).memory == usual_limits().memory + size


def test_nothing_is_left_behind(npz: Path, started: Started) -> None:
    write_npz(npz, embeddings=vectors(dimension=9000))
    unused = read_apart(npz)
    del unused
    begun = read_apart(npz)
    next(begun)
    del begun
    list(read_apart(npz))
    with pytest.raises(BadInput):
        read_apart(npz, "nothing")
    assert len(started) == 4
    assert all(process.returncode is not None for process in started)


@pytest.mark.parametrize("call", [0, 1, 3])
def test_an_interrupt_ends_the_child(
    npz: Path, started: Started, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    taken, taking = [], source_child.take_header

    def interrupted(child: subprocess.Popen[bytes]) -> dict[str, object]:
        taken.append(1)
        if len(taken) > call:
            raise KeyboardInterrupt
        return taking(child)

    monkeypatch.setattr(source_child, "take_header", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(read_apart(npz))
    assert [process.returncode is not None for process in started] == [True]


DIES = """
import os, sys
from pathlib import Path
from lookalike.intake import patience, source_child
from lookalike.intake.reading_apart import read_apart
plain, started = source_child._started, []
source_child._started = lambda limits: started.append(plain(limits)) or started[0]
sets = read_apart(Path(sys.argv[1]))
print(started[0].pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_a_child_whose_parent_was_killed_ends(npz: Path) -> None:
    write_npz(npz, embeddings=vectors(dimension=9000))
    words = [sys.executable, "-c", DIES, str(npz)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        watched = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    try:
        assert select.select([watched], [], [], 60)[0]
    finally:
        os.close(watched)


@pytest.mark.parametrize("program", ["missing", "fails"])
def test_a_child_that_cannot_be_started(
    npz: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    (tmp_path / "fails").write_text("#!/bin/sh\nexit 5\n")
    (tmp_path / "fails").chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(tmp_path / program))
    said = r"does not start \(it ended with 5\)" if program == "fails" else "cannot be started"
    with pytest.raises(StorageFailed, match=said):
        read_apart(npz)


@pytest.mark.skipif(not patience.CAN_WAIT, reason="pipes cannot be waited for here")
def test_no_thread_is_needed(npz: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(thread: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refused)
    assert len(list(read_apart(npz))) == 12
