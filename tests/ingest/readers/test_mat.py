"""MATLAB files: values come out as they went in; no file can crash, hang or fill the memory."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.readers import mat
from lookalike.ingest.readers.mat import mat_names, packed, read_mat, unpacked
from lookalike.ingest.reading import read_mat_apart, usual_limits
from lookalike.ingest.sandbox import Ended, Message, Sandbox
from tests.ingest.youtube_miniature import cells

ARRAYS = {
    "doubles": np.arange(6.0).reshape(2, 3),
    "single": np.array([[0.5, -2.0]], dtype=np.float32),
    "bytes": np.array([[1, 255]], dtype=np.uint8),
    "large": np.array([[-(2**40), 2**40]], dtype=np.int64),
    "none": np.empty((0, 4)),
    "three": np.arange(24.0).reshape(2, 3, 4),
}


class Apart:
    """Reads files in a child, as always; one child for all tests."""

    def __init__(self) -> None:
        self.child = Sandbox(usual_limits())

    def read(self, path, names):
        self.child.ask({"mat": str(path), "names": names})
        try:
            message = self.child.answer(60)
            assert message is not None
            assert self.child.answer(60) is None
            return unpacked(message)
        except Ended as end:
            self.child.close()
            self.child = Sandbox(usual_limits())
            raise BadInput(f"{path.name} {end}") from None


@pytest.fixture(scope="module")
def mats():
    apart = Apart()
    yield apart
    apart.child.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.mat"


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
    assert mat_names(path) == list(ARRAYS)


def test_version_4(mats, path):
    scipy.io.savemat(path, {"a": ARRAYS["doubles"], "t": "hello"}, format="4")
    read = mats.read(path, ["a", "t"])
    np.testing.assert_array_equal(read["a"], ARRAYS["doubles"])
    assert read["t"] == ["hello"]


def test_texts(mats, path):
    texts = ["Aaron\\0\\0.1.jpg", "", "Ünï 名"]
    scipy.io.savemat(path, {"row": cells(texts), "column": cells(texts, column=True), "one": "word"})
    assert mats.read(path, ["row", "column", "one"]) == {"row": texts, "column": texts, "one": ["word"]}


def test_what_is_optional_may_be_missing(path):
    scipy.io.savemat(path, {"a": [[1.0]], "b": [[2.0]]})
    assert list(read_mat(path, ["a"], ["b", "c"])) == ["a", "b"]


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
    with pytest.raises(BadInput, match=said) as caught:
        mats.read(path, ["a"])
    assert "x.mat" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_header_without_variables(mats, path):
    path.write_bytes(version_5())
    assert mat_names(path) == []
    with pytest.raises(BadInput, match="has no 'a': it has no variables"):
        mats.read(path, ["a"])


def test_what_is_no_file(tmp_path):
    with pytest.raises(NotFound, match="nothing"):
        mat_names(tmp_path / "nothing.mat")
    with pytest.raises(BadInput, match="is a folder"):
        mat_names(tmp_path)
    os.mkfifo(tmp_path / "pipe.mat")
    with pytest.raises(BadInput, match="neither a file nor a folder"):
        mat_names(tmp_path / "pipe.mat")


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
    with pytest.raises(BadInput, match=r"takes more than 192 MiB.*\(30000, 30000\)"):
        mats.read(path, ["a"])


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not limit memory so")
def test_a_bomb_that_hides_in_a_cell(path, monkeypatch):
    path.write_bytes(bomb((1024 * 1024 // 8, 200), 200, within_cell=True))
    assert path.stat().st_size < 2**20
    # It is read, and found to be no text, unless the limit refuses it.
    with pytest.raises(BadInput, match="a cell in 'a' that is no text"):
        read_mat(path, ["a"])
    monkeypatch.setattr(mat, "MOST_MEMORY", 64 * 2**20)
    with pytest.raises(BadInput, match="takes more than 64 MiB when it is unpacked"):
        read_mat(path, ["a"])
    # The limit was for that file only.
    assert np.ones(2**27, dtype=np.uint8).sum() == 2**27


def test_more_bytes_than_allowed(path, monkeypatch):
    scipy.io.savemat(path, {"a": np.zeros((100, 10)), "b": np.zeros((100, 10)), "c": cells(["x" * 9000])})
    monkeypatch.setattr(mat, "MOST_BYTES", 10_000)
    assert read_mat(path, ["a"])["a"].shape == (100, 10)
    for names in (["a", "b"], ["a", "c"]):
        with pytest.raises(BadInput, match="takes more than"):
            read_mat(path, names)


def test_a_child_of_its_own(path):
    scipy.io.savemat(path, {"a": [[1.0]], "t": cells(["x"])})
    read = read_mat_apart(path, ["a", "t"])
    assert (read["a"].tolist(), read["t"]) == ([[1.0]], ["x"])
    with pytest.raises(BadInput, match=r"x\.mat' has no 'b'"):
        read_mat_apart(path, ["b"])
    with pytest.raises(NotFound):
        read_mat_apart(path.with_name("y.mat"), ["b"])


def message(said: object, *parts: bytes) -> Message:
    return Message({"arrays": said}, [np.frombuffer(part, dtype=np.uint8) for part in parts])


@pytest.mark.parametrize(
    "lie",
    [
        Message({}, []),
        message(5),
        message([{}]),
        message([{}], b"[]"),
        message([{"name": "a", "dtype": "<f8", "shape": [1, 2]}], bytes(8)),
        message([{"name": "a", "dtype": "|O8", "shape": [1]}], bytes(8)),
        message([{"name": "a", "dtype": 8, "shape": [1]}], bytes(8)),
        message([{"name": "a", "dtype": "|u1", "shape": [-1, -8]}], bytes(8)),
        message([{"name": "a"}], b"[1]"),
        message([{"name": "a"}], b"[" * 9000),
        message([{"name": "a"}], b'["x"]', b"more"),
    ],
)
def test_a_message_that_lies(lie):
    with pytest.raises(Ended):
        unpacked(lie)


def test_a_message_comes_out_as_it_went_in():
    header, parts = packed({**ARRAYS, "t": ["a", ""]})
    taken = [np.frombuffer(bytes(memoryview(part)), dtype=np.uint8) for part in parts]
    found = unpacked(Message(header, taken))
    assert found.pop("t") == ["a", ""]
    for name, array in found.items():
        np.testing.assert_array_equal(array, ARRAYS[name])
        assert array.dtype == ARRAYS[name].dtype
