"""MATLAB files: values come out as they went in; no file can crash, hang or fill the memory."""

from __future__ import annotations

import json
import os
import signal
import struct
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from lookalike.errors import BadInput, LookalikeError, NotFound
from lookalike.intake.readers import mat as module
from lookalike.intake.readers.mat import MatFiles
from tests.intake.youtube_miniature import cells

ARRAYS = {
    "doubles": np.arange(6.0).reshape(2, 3),
    "single": np.array([[0.5, -2.0]], dtype=np.float32),
    "bytes": np.array([[1, 255]], dtype=np.uint8),
    "large": np.array([[-(2**40), 2**40]], dtype=np.int64),
    "none": np.empty((0, 4)),
    "three": np.arange(24.0).reshape(2, 3, 4),
}


@pytest.fixture(scope="module")
def mats():
    """One child for all tests that do not end it."""
    with MatFiles() as opened:
        yield opened


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.mat"


def child_of(mats: MatFiles) -> int:
    assert mats._child is not None
    return mats._child.pid


def is_running(pid: int) -> bool:
    """Whether there is such a process, running or dead and not waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def element(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, len(data)) + data


def matrix(name: str, shape: tuple[int, ...], flags: int, data: bytes) -> bytes:
    """A variable of version 5 with a header of our own making."""
    dims = struct.pack(f"<{len(shape)}i", *shape)
    text = name.encode()
    parts = (
        element(6, struct.pack("<II", flags, 0)),
        element(5, dims + bytes(-len(dims) % 8)),
        element(1, text)[: 8 + len(text)] + bytes(-len(text) % 8),
        data,
    )
    return element(14, b"".join(parts))


def version_5(*variables: bytes) -> bytes:
    return b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H2s", 0x0100, b"IM") + b"".join(variables)


@pytest.mark.parametrize("compress", [False, True])
def test_numbers_come_out_as_they_went_in(mats, path, compress):
    scipy.io.savemat(path, ARRAYS, do_compression=compress)
    read = mats.read(path, list(ARRAYS))
    assert list(read) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == array.dtype
    assert mats.names(path) == {name: array.shape for name, array in ARRAYS.items()}


def test_version_4(mats, path):
    scipy.io.savemat(path, {"a": ARRAYS["doubles"], "t": "hello"}, format="4")
    read = mats.read(path, ["a", "t"])
    np.testing.assert_array_equal(read["a"], ARRAYS["doubles"])
    assert read["t"] == ["hello"]


def test_texts(mats, path):
    texts = ["Aaron\\0\\0.1.jpg", "", "Ünï 名"]
    scipy.io.savemat(path, {"row": cells(texts), "column": cells(texts, column=True), "one": "word"})
    assert mats.read(path, ["row", "column", "one"]) == {"row": texts, "column": texts, "one": ["word"]}


def test_what_is_optional_may_be_missing(mats, path):
    scipy.io.savemat(path, {"a": [[1.0]], "b": [[2.0]]})
    assert list(mats.read(path, ["a"], ["b", "c"])) == ["a", "b"]


def test_only_what_is_asked_for_is_looked_at(mats, path):
    scipy.io.savemat(path, {"s": {"field": 1}, "a": [[1.0]]})
    assert list(mats.read(path, ["a"])) == ["a"]


def test_a_missing_variable(mats, path):
    scipy.io.savemat(path, {"b": [[1.0]], "a": [[1.0]]})
    with pytest.raises(BadInput, match=r"x\.mat' has no 'c': it has a, b$"):
        mats.read(path, ["a", "c"])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"field": 1}, "kind 'struct' in 'v'.*only numbers, text and cells of text"),
        (np.array([[1j]]), "complex128 in 'v'"),
        (np.array([[1, "a"]], dtype=object), "a cell in 'v' that is no text"),
        (scipy.sparse.eye_array(3).tocsc(), "kind 'sparse' in 'v'"),
    ],
)
def test_what_is_neither_numbers_nor_text(mats, path, value, said):
    scipy.io.savemat(path, {"v": value})
    with pytest.raises(BadInput, match=said):
        mats.read(path, ["v"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is damaged .*truncated"),
        (b"just some text, no arrays at all\n" * 10, "is no .mat file"),
        (bytes(4), "is damaged .*truncated"),
        (bytes(5000), "is damaged .*corrupt"),
        (b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(384), r"version 7\.3.*with -v7"),
        (b"\x89HDF\r\n\x1a\n" + bytes(500), "is no .mat file"),
        (b"MATLAB 5.0 MAT-file, Platform", "is damaged"),
        (version_5(bytes(64)), "is damaged"),
        (version_5(struct.pack("<II", 14, 4_000_000_000)), "is damaged"),
        (b"PK\x03\x04" + bytes(300), "is no .mat file"),
        (struct.pack("<5i", 0, 2**30, 2**30, 0, 2) + b"a\0", "is damaged"),
        (struct.pack("<5i", 0, 1, 1, 0, 2) + b"a\0" + bytes(8) + b"rest of twenty bytes", "it is damaged"),
    ],
)
def test_what_is_no_whole_file(mats, path, content, said):
    path.write_bytes(content)
    for ask in (mats.names, lambda file: mats.read(file, ["a"])):
        with pytest.raises(BadInput, match=said) as caught:
            ask(path)
        assert "x.mat" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_header_without_variables(mats, path):
    path.write_bytes(version_5())
    assert mats.names(path) == {}
    with pytest.raises(BadInput, match="has no 'a': it has no variables"):
        mats.read(path, ["a"])


def test_what_is_no_file(mats, tmp_path):
    with pytest.raises(NotFound, match="nothing"):
        mats.names(tmp_path / "nothing.mat")
    with pytest.raises(BadInput, match="is a folder"):
        mats.names(tmp_path)
    os.mkfifo(tmp_path / "pipe.mat")
    with pytest.raises(BadInput, match="neither a file nor a folder"):
        mats.names(tmp_path / "pipe.mat")


@pytest.mark.parametrize("form", ["4", "5", "7"])
def test_cut_anywhere(mats, path, form):
    """A file cut short is refused, or what is asked for is whole and right."""
    wanted = np.arange(12.0).reshape(3, 4)
    scipy.io.savemat(
        path,
        {"a": wanted, "b": np.ones((9, 9))},
        format="5" if form == "7" else form,
        do_compression=form == "7",
    )
    whole = path.read_bytes()
    refused = 0
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        try:
            np.testing.assert_array_equal(mats.read(path, ["a"])["a"], wanted)
        except BadInput:
            refused += 1
    # Of version 4 only what is asked for is looked at.
    assert refused > 15
    path.write_bytes(whole)
    np.testing.assert_array_equal(mats.read(path, ["a"])["a"], wanted)


@pytest.mark.parametrize("compress", [False, True])
def test_cut_within_a_variable_that_claims_to_be_whole(mats, path, compress):
    """As before, with the outer length put right, so that SciPy gets to see the damage."""
    texts = ["first.jpg", "second.jpg"]
    scipy.io.savemat(path, {"c": cells(texts)}, do_compression=compress)
    whole = path.read_bytes()
    refused = 0
    for length in range(136, len(whole) - 1, 3):
        path.write_bytes(whole[:132] + struct.pack("<I", length - 136) + whole[136:length])
        try:
            assert mats.read(path, ["c"]) == {"c": texts}, length
        except BadInput:
            refused += 1
    # What may be lost is padding or the checksum at the end.
    assert refused > (len(whole) - 136) // 3 - 6


def test_bytes_changed_anywhere(mats, path):
    rng = np.random.default_rng(5)
    scipy.io.savemat(path, {"a": np.arange(12.0).reshape(3, 4), "c": cells(["one", "two"])})
    whole = path.read_bytes()
    refused: list[str] = []
    for _ in range(80):
        changed = bytearray(whole)
        for place in rng.integers(0, len(whole), size=rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        path.write_bytes(changed)
        try:
            read = mats.read(path, ["a", "c"])
        except BadInput as reason:
            refused.append(str(reason))
            continue
        assert read["a"].dtype.kind in "fiub"
        assert all(isinstance(text, str) for text in read["c"])
    assert len(refused) > 15
    assert not any("\n" in text for text in refused)


def bomb(claim: tuple[int, int], megabytes: int, within_cell: bool = False) -> bytes:
    """A small file of one compressed array of zeros."""
    packer = zlib.compressobj(1)
    data = struct.pack("<II", 9, megabytes << 20)
    inner = matrix("a", claim, 6, data)
    size = struct.unpack("<I", inner[4:8])[0] + (megabytes << 20)
    inner = inner[:4] + struct.pack("<I", size) + inner[8:]
    if within_cell:
        outer = matrix("a", (1, 1), 1, b"")
        inner = (
            outer[:4] + struct.pack("<I", len(outer) - 8 + len(inner) + (megabytes << 20)) + outer[8:] + inner
        )
    packed = packer.compress(inner)
    packed += b"".join(packer.compress(bytes(2**20)) for _ in range(megabytes)) + packer.flush()
    return version_5(element(15, packed))


def test_a_bomb_that_says_so(mats, path):
    path.write_bytes(bomb((30_000, 30_000), 1))
    started = time.monotonic()
    with pytest.raises(BadInput, match=r"takes more than 192 MiB.*\(30000, 30000\)"):
        mats.read(path, ["a"])
    assert time.monotonic() - started < 5


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not limit memory so")
def test_a_bomb_that_hides_in_a_cell(path):
    path.write_bytes(bomb((1024 * 1024 // 8, 200), 200, within_cell=True))
    assert path.stat().st_size < 2**20
    with MatFiles(most_memory=64 * 2**20) as limited:
        with pytest.raises(BadInput, match="takes more than 64 MiB when it is unpacked"):
            limited.read(path, ["a"])
        # The next file is read as if nothing had happened.
        scipy.io.savemat(path, {"a": [[1.0]]})
        assert limited.read(path, ["a"])["a"] == 1
    # Without that limit it is read, and found to be no text: it was the limit that refused it.
    path.write_bytes(bomb((1024 * 1024 // 8, 200), 200, within_cell=True))
    with MatFiles(most_memory=2**30) as free, pytest.raises(BadInput, match="a cell in 'a' that is no text"):
        free.read(path, ["a"])


def test_more_bytes_than_allowed(path):
    scipy.io.savemat(path, {"a": np.zeros((100, 10)), "b": np.zeros((100, 10)), "c": cells(["x" * 9000])})
    with MatFiles(most_bytes=10_000) as limited:
        assert limited.read(path, ["a"])["a"].shape == (100, 10)
        for names in (["a", "b"], ["a", "c"]):
            with pytest.raises(BadInput, match="takes more than"):
                limited.read(path, names)


def test_one_child_reads_many_files_and_is_gone_afterwards(path):
    scipy.io.savemat(path, {"a": [[1.0]]})
    with MatFiles() as mats:
        mats.read(path, ["a"])
        child = child_of(mats)
        mats.names(path)
        path.with_name("y.mat").write_bytes(version_5(element(15, b"no zlib data")))
        with pytest.raises(BadInput, match="is damaged"):
            mats.read(path.with_name("y.mat"), ["a"])
        mats.read(path, ["a"])
        assert child_of(mats) == child
        assert is_running(child)
    assert not is_running(child)
    mats.close()


def test_a_child_that_was_killed_is_replaced(path):
    scipy.io.savemat(path, {"a": [[1.0]]})
    with MatFiles() as mats:
        mats.read(path, ["a"])
        child = child_of(mats)
        os.kill(child, signal.SIGKILL)
        assert mats.read(path, ["a"])["a"] == 1
        assert child_of(mats) != child
        assert not is_running(child)


def test_a_file_that_crashes_the_child_is_refused(path, tmp_path, monkeypatch):
    """It is tried twice, as something else may have ended the first child, and not for ever."""
    script = tmp_path / "child.py"
    text = module.CHILD.read_text().replace(
        "request = json.loads(line)",
        "request = json.loads(line)\n        if 'crash.mat' in request['path']: os.kill(os.getpid(), 11)",
    )
    script.write_text(text)
    monkeypatch.setattr(module, "CHILD", script)
    crash = path.with_name("crash.mat")
    for file in (path, crash):
        scipy.io.savemat(file, {"a": [[1.0]]})
    with MatFiles() as mats:
        for _ in range(2):
            assert mats.read(path, ["a"])["a"] == 1
            with pytest.raises(BadInput, match=r"crash\.mat' is damaged, it crashed the reader"):
                mats.read(crash, ["a"])


def test_a_child_that_hangs_is_replaced(path):
    scipy.io.savemat(path, {"a": [[1.0]]})
    with MatFiles(seconds=0.5) as mats:
        mats.read(path, ["a"])
        child = child_of(mats)
        os.kill(child, signal.SIGSTOP)
        started = time.monotonic()
        with pytest.raises(BadInput, match=r"took longer than 0\.5 seconds"):
            mats.read(path, ["a"])
        assert time.monotonic() - started < 5
        assert not is_running(child)
    with MatFiles() as mats:
        assert mats.read(path, ["a"])["a"] == 1


def framed(header: bytes, body: bytes = b"") -> bytes:
    return len(header).to_bytes(8, "little") + header + body


def array_of(**said: object) -> bytes:
    return json.dumps({"arrays": [{"name": "a", **said}]}).encode()


@pytest.mark.parametrize(
    "answer",
    [
        b"\xff" * 8,
        framed(b"[1]"),
        framed(b"{,}"),
        framed(b'{"names": 5}'),
        framed(b'{"arrays": [{}]}'),
        framed(array_of(shape=[1, 2], dtype="<f8", bytes=8), bytes(16)),
        framed(array_of(shape=[1], dtype="|O8", bytes=8), bytes(8)),
        framed(array_of(shape=[2], dtype="|u1", bytes=2), bytes(1)),
        framed(array_of(shape=[10**12], dtype="|u1", bytes=10**12)),
        framed(array_of(shape=[-1, -8], dtype="|u1", bytes=8), bytes(8)),
        framed(array_of(texts=1, bytes=3), b"[1]"),
        framed(array_of(texts=1, bytes=-3), b"[1]"),
    ],
)
def test_a_child_that_lies_is_not_believed(path, tmp_path, monkeypatch, answer):
    script = tmp_path / "child.py"
    ready = b'{"ready": true}'
    script.write_text(
        "import os, sys\n"
        f"os.write(1, {len(ready).to_bytes(8, 'little') + ready!r})\n"
        "sys.stdin.readline()\n"
        f"os.write(1, {answer!r})\n"
    )
    monkeypatch.setattr(module, "CHILD", script)
    scipy.io.savemat(path, {"a": [[1.0]]})
    with MatFiles() as mats, pytest.raises(BadInput, match="crashed the reader"):
        mats.read(path, ["a"])


def test_a_child_that_does_not_start(path, tmp_path, monkeypatch):
    script = tmp_path / "child.py"
    script.write_text("raise SystemExit(7)")
    monkeypatch.setattr(module, "CHILD", script)
    scipy.io.savemat(path, {"a": [[1.0]]})
    with MatFiles() as mats, pytest.raises(LookalikeError, match=r"does not start \(it ended with 7\)"):
        mats.read(path, ["a"])


def test_an_interrupt_ends_the_child(path, monkeypatch):
    scipy.io.savemat(path, {"a": [[1.0]]})
    with MatFiles() as mats:
        mats.read(path, ["a"])
        child = child_of(mats)
        # Ctrl-C is sent to all processes of a terminal: this one is not meant by it.
        os.kill(child, signal.SIGINT)
        mats.read(path, ["a"])
        assert child_of(mats) == child
        assert os.getsid(child) != os.getsid(0)

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(module, "exchange", interrupted)
        with pytest.raises(KeyboardInterrupt):
            mats.read(path, ["a"])
        assert not is_running(child)


def test_the_child_may_not_write_files(path, tmp_path, monkeypatch):
    script = tmp_path / "child.py"
    target = tmp_path / "written"
    text = module.CHILD.read_text().replace(
        "request = json.loads(line)",
        f"request = json.loads(line)\n        print('noise'); Path({str(target)!r}).write_bytes(b'x')",
    )
    script.write_text(text)
    monkeypatch.setattr(module, "CHILD", script)
    scipy.io.savemat(path, {"a": [[1.0]]})
    with MatFiles() as mats, pytest.raises(BadInput):
        mats.read(path, ["a"])
    assert not target.exists() or target.stat().st_size == 0
