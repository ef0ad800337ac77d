"""Archives: arrays come out as they went in, and no file can make us unpickle or fill the memory."""

import contextlib
import io
import zipfile

import numpy as np
import pytest

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.readers import npz
from lookalike.ingest.readers.npz import Archive


def npy(text: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An .npy member with a header of our own making."""
    header = text.encode("latin1") + b"\n"
    return b"\x93NUMPY" + version + len(header).to_bytes(2, "little") + header + data


def claim(shape: str, descr: str = "'<f4'") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"


def save(path, **members: bytes):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.npz"


def test_round_trip(path):
    arrays = {
        "floats": np.arange(6.0).reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)),
        "text": np.array(["ä", "bc"]),
        "none": np.empty((0, 4), dtype=np.float32),
        "scalar": np.array(5),
    }
    for write in (np.savez, np.savez_compressed):
        write(path, **arrays)
        with Archive(path) as archive:
            assert archive.names() == list(arrays)
            for name, array in arrays.items():
                assert archive.header(name) == (array.shape, array.dtype)
                np.testing.assert_array_equal(archive.read(name), array)


def test_missing_array_and_file(path):
    np.savez(path, a=[1], b=[2])
    with Archive(path) as archive, pytest.raises(BadInput, match=r"x\.npz.*no array 'c': it has a, b"):
        archive.read("c")
    with pytest.raises(NotFound, match="missing"):
        Archive(path.with_name("missing"))


def test_object_arrays_are_not_unpickled(path):
    np.savez(path, a=np.array([{"bomb": 1}], dtype=object))
    with Archive(path) as archive, pytest.raises(BadInput, match="Python objects in 'a'"):
        archive.read("a")
    save(path, a=npy(claim("(1,)", "[('x', '|O')]"), bytes(8)))
    with Archive(path) as archive, pytest.raises(BadInput, match="Python objects"):
        archive.header("a")


@pytest.mark.parametrize(
    "member",
    [
        npy(claim("(1000000000000,)"), bytes(16)),
        npy(claim("(3,)"), bytes(16)),
        npy(claim("(5,)"), bytes(16)),
        npy(claim("(-1, -4)"), bytes(16)),
        npy(claim("(1000000000000000000,)", "'<U0'")),
        npy(claim(f"({'9' * 3000},)"), bytes(16)),
        npy(claim("(0, 10000000000)"), bytes(16)),
        npy(claim("'four'"), bytes(16)),
        npy(claim("(4,)", "'nonsense'"), bytes(16)),
        npy("{" * 3000),
        npy("-" * 5000 + "1"),
        npy("[" * 5000),
        npy(claim("(4,)") + " " * 20000, bytes(16)),
        npy(claim("(4,)"), bytes(16), version=b"\x09\x00"),
        b"\x93NUM",
        b"",
        b"hello world, this is no array",
    ],
)
def test_absurd_members(path, member):
    save(path, a=member)
    with Archive(path) as archive:
        for read in (archive.header, archive.read):
            with pytest.raises(BadInput, match=r"x\.npz.*'a'"):
                read("a")


def test_more_than_the_limit(path, monkeypatch):
    np.savez_compressed(path, a=np.zeros(1000))
    monkeypatch.setattr(npz, "MOST_BYTES", 4000)
    with Archive(path) as archive, pytest.raises(BadInput, match="split it"):
        archive.read("a")


def test_not_enough_memory(path, monkeypatch):
    np.savez(path, a=np.zeros(3))

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(npz.npy, "read_array", fail)
    with Archive(path) as archive, pytest.raises(BadInput, match="GiB of memory for 'a'"):
        archive.read("a")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"PK\x03\x04" + bytes(200), b"no zip"])
def test_not_a_zip(path, content):
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"x\.npz.*not a whole"):
        Archive(path)


def test_cut_short_at_any_length(path):
    stream = io.BytesIO()
    np.savez_compressed(stream, a=np.arange(50.0))
    whole = stream.getvalue()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(BadInput, match=r"x\.npz"):
            Archive(path)


def test_any_damaged_byte_is_noticed_or_harmless(path):
    stream = io.BytesIO()
    array = np.arange(20.0)
    np.savez_compressed(stream, a=array)
    whole = stream.getvalue()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        # Any other error than ours, and any other array, fails the test.
        with contextlib.suppress(BadInput), Archive(path) as archive:
            np.testing.assert_array_equal(archive.read("a"), array)


def test_encrypted(path):
    np.savez(path, a=[1.0])
    content = bytearray(path.read_bytes())
    # The flag "encrypted" in the local header and in the central directory.
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with Archive(path) as archive, pytest.raises(BadInput, match="'a' cannot be read"):
        archive.read("a")
