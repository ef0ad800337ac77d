"""A child that decodes: what it may take, how it ends, what is said then, and messages that lie."""

from __future__ import annotations

import io
import json
import os
import platform
import select
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from lookalike.errors import BadInput, NotFound, StorageFailed
from lookalike.ingest import sandbox
from lookalike.ingest.reading import read_apart, usual_limits
from lookalike.ingest.sandbox import MACHINES, Ended, Message, Sandbox, send, take_message
from tests.cli_process import vectors, write_npz
from tests.ingest.apart import Started
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
    assert "', after 'p0/v" in str(caught.value)
    assert "', ended what reads it (-9)" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("can_wait", [True, False])
def test_a_child_that_hangs(npz: Path, monkeypatch: pytest.MonkeyPatch, can_wait: bool) -> None:
    monkeypatch.setattr(sandbox, "CAN_WAIT", can_wait and sandbox.CAN_WAIT)
    # More than a pipe holds.
    write_npz(npz, embeddings=vectors(dimension=9000))
    with Sandbox(usual_limits()) as child:
        child.ask(
            {
                "source": str(npz),
                "array": None,
                "features": None,
                "most": None,
                "columns": None,
                "guessed": False,
            }
        )
        assert child.answer(60) is not None
        os.kill(child._process.pid, signal.SIGSTOP)
        with pytest.raises(Ended, match=r"longer than 0\.2 seconds") as caught:
            list(iter(lambda: child.answer(0.2), None))
    assert caught.value.is_late


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
    crops = np.zeros((25, 2000, 2000), dtype=np.uint8)
    np.savez_compressed(tmp_path / "x.npz", images=crops, image_set=np.zeros(25, int), set_names=["a"])
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
    taken, taking = [], sandbox.take_message

    def interrupted(pipe: IO[bytes], most: int) -> Message:
        taken.append(1)
        if len(taken) > call:
            raise KeyboardInterrupt
        return taking(pipe, most)

    monkeypatch.setattr(sandbox, "take_message", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(read_apart(npz))
    assert [process.returncode is not None for process in started] == [True]


DIES = """
import os, sys
from pathlib import Path
from lookalike.ingest import sandbox
from lookalike.ingest.reading import read_apart
plain, started = sandbox._started, []
sandbox._started = lambda limits: started.append(plain(limits)) or started[0]
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


@pytest.mark.skipif(not sandbox.CAN_WAIT, reason="pipes cannot be waited for here")
def test_no_thread_is_needed(npz: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(thread: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refused)
    assert len(list(read_apart(npz))) == 12


LIES = """
import os, sys
ready = b'{"ready": true}'
os.write(1, len(ready).to_bytes(8, "little") + ready)
sys.stdin.readline()
os.write(1, bytes.fromhex(ANSWER))
"""


def framed(header: bytes, body: bytes = b"") -> bytes:
    return len(header).to_bytes(8, "little") + header + body


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\xff" * 8,
        framed(b"[1]"),
        framed(b"{,}"),
        framed(b"[" * 9000),
        framed(b'{"bytes": 5}'),
        framed(b'{"bytes": [-1]}'),
        framed(b'{"bytes": ["x"]}'),
        framed(b'{"bytes": [1e400]}', bytes(9)),
        framed(b'{"bytes": [2]}', bytes(1)),
        framed(b'{"bytes": [1000000000000000]}'),
    ],
)
def test_a_child_that_lies_is_not_believed(npz: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    monkeypatch.setattr(sandbox, "PROGRAM", ("-c", LIES.replace("ANSWER", repr(answer.hex()))))
    with Sandbox(usual_limits()) as child:
        child.ask({})
        with pytest.raises(Ended, match="ended what reads it"):
            child.answer(60)


def test_a_message_comes_out_as_it_went_in() -> None:
    pipe = io.BytesIO()
    send(pipe, {"a": ["b", None]}, [b"xy", [b"z", np.arange(2, dtype="<i2")], []])
    send(pipe, {"end": True})
    whole = pipe.getvalue()
    pipe.seek(0)
    header, parts = take_message(pipe, 7)
    assert header == {"a": ["b", None]}
    assert [part.tobytes() for part in parts] == [b"xy", b"z\0\0\1\0", b""]
    assert take_message(pipe, 0) == ({"end": True}, [])
    with pytest.raises(Ended):
        take_message(io.BytesIO(whole), 6)
    for length in range(len(whole) - len(framed(b'{"end": true}'))):
        with pytest.raises(Ended):
            take_message(io.BytesIO(whole[:length]), 7)


def said_by(monkeypatch: pytest.MonkeyPatch, header: dict[str, Any]) -> Sandbox:
    """A child that has said one thing."""
    answer = framed(json.dumps(header).encode())
    monkeypatch.setattr(sandbox, "PROGRAM", ("-c", LIES.replace("ANSWER", repr(answer.hex()))))
    child = Sandbox(usual_limits())
    child.ask({})
    return child


@pytest.mark.parametrize(
    ("kind", "wanted"), [("NotFound", NotFound), ("StorageFailed", BadInput), (None, BadInput)]
)
def test_a_refusal_is_of_what_is_given(
    monkeypatch: pytest.MonkeyPatch, kind: str | None, wanted: type[Exception]
) -> None:
    with said_by(monkeypatch, {"refused": "a\n\x1b[2J", "kind": kind}) as child:
        with pytest.raises(wanted) as caught:
            child.answer(60)
        assert type(caught.value) is wanted
        assert str(caught.value) == r"a\n\x1b[2J"


@pytest.mark.parametrize(("header", "said"), [({"memory": True}, "memory"), ({"broken": "x"}, r"\(x\)")])
def test_a_child_that_says_what_ended_it(
    monkeypatch: pytest.MonkeyPatch, header: dict[str, Any], said: str
) -> None:
    with said_by(monkeypatch, header) as child, pytest.raises(Ended, match=said) as caught:
        child.answer(60)
    assert caught.value.is_told
    assert not caught.value.is_late


WRITES = """
import sys
from pathlib import Path
from lookalike.ingest import worker
def wrote(request):
    print("noise")
    Path(request["write"]).write_bytes(b"x")
    yield {}, []
worker.ANSWERS["write"] = wrote
worker.main()
"""


@limited
def test_a_child_may_not_write_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "PROGRAM", ("-P", "-c", WRITES))
    target = tmp_path / "written"
    with Sandbox(usual_limits()) as child:
        child.ask({"write": str(target)})
        with pytest.raises(Ended):
            child.answer(60)
    assert not target.exists() or target.stat().st_size == 0


def test_ctrl_c_is_not_for_the_child(npz: Path, started: Started) -> None:
    sets = read_apart(write_npz(npz, embeddings=vectors(dimension=9000)))
    next(sets)
    os.kill(started[0].pid, signal.SIGINT)
    assert os.getsid(started[0].pid) != os.getsid(0)
    assert len(list(sets)) == 11


can = pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() not in MACHINES, reason="needs such a Linux"
)

TRY = """
import socket, subprocess, sys, threading
from lookalike.ingest.sandbox import go_offline

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
@pytest.mark.parametrize("libraries", [[], ["av", "cv2"]])
def test_a_child_goes_offline_before_it_is_asked_anything(libraries: list[str]) -> None:
    said = json.dumps({"memory": 10**9, "seconds": 60, "log": 30, "libraries": libraries})
    words = [sys.executable, *sandbox.PROGRAM, said]
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
