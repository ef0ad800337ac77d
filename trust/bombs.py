"""Bombs: small files that unfold into very much, or claim to; each is written into a folder of its own."""

from __future__ import annotations

import gzip
import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from tests import media
from tests.cli_process import vectors, write_npz
from tests.ingest.readers.test_mat import bomb as mat_bomb
from tests.ingest.youtube_miniature import write_youtube_faces

HUGE: Final = 2**31 - 1


def _patched(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new)


def _saved(suffix: str, size: tuple[int, int] = (321, 123)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size).save(stream, suffix)
    return stream.getvalue()


def _file(name: str, make: Callable[[], bytes]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(make())
        return folder / name

    return write


def _sparse(name: str, start: bytes, size: int, end: bytes = b"") -> Callable[[Path], Path]:
    """A file that is almost all holes: it takes no room, and is that long to whoever reads it."""

    def write(folder: Path) -> Path:
        with (folder / name).open("wb") as file:
            file.write(start)
            file.truncate(size)
            file.seek(0, os.SEEK_END)
            file.write(end)
        return folder / name

    return write


def _npy_header(shape: str, length: int | None = None) -> bytes:
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) if length is None else length) + text


def _zipped(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return stream.getvalue()


def _zeros(folder: Path) -> Path:
    """Written piece by piece: what we hold ourselves would be counted with what a child takes."""
    with (
        zipfile.ZipFile(folder / "x.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("embeddings.npy", "w", force_zip64=True) as file,
    ):
        file.write(_npy_header("(16777216, 16)"))
        for _ in range(1024):
            file.write(bytes(2**20))
    return folder / "x.npz"


def _many_members() -> bytes:
    small = io.BytesIO()
    np.save(small, np.zeros(2))
    return _zipped(**{f"a{number}": small.getvalue() for number in range(20_000)})


def _zip_in_zip() -> bytes:
    inner = _zipped(x=bytes(2**24))
    for _ in range(4):
        inner = _zipped(**{f"x{number}": inner for number in range(8)})
    return inner


def _png(*chunks: tuple[bytes, bytes]) -> bytes:
    data = b"\x89PNG\r\n\x1a\n"
    for kind, body in chunks:
        data += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return data


def _png_size(width: int, height: int, depth: int = 8, kind: int = 6) -> tuple[bytes, bytes]:
    return b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)


def _text_bomb() -> bytes:
    packed = b"Comment\0\0" + zlib.compress(bytes(2**26), 9)
    return _png(
        _png_size(50_000, 50_000), (b"zTXt", packed), (b"IDAT", zlib.compress(b"\0" * 400)), (b"IEND", b"")
    )


def _gif(frames: int, width: int = 65_535, height: int = 65_535) -> bytes:
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    one = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    return head + one * frames + b"\x3b"


def _fits() -> bytes:
    cards = [
        "SIMPLE  =                    T",
        "BITPIX  =                    8",
        "NAXIS   =                    2",
    ]
    cards += [f"NAXIS{axis}  = {60_000:20d}" for axis in (1, 2)] + ["END"]
    return "".join(card.ljust(80) for card in cards).ljust(2880).encode()


def _tiff(width: int, height: int, next_ifd: int = 0) -> bytes:
    entries = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]
    entries += [(273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, HUGE)]
    body = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return (
        b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(entries)) + body + struct.pack("<I", next_ifd)
    )


def _long_film(folder: Path) -> Path:
    """An AVI that claims to last a hundred hours at one frame a second."""
    data = bytearray(media.video(folder, ".avi").read_bytes())
    (folder / "good.avi").unlink()
    place = data.index(b"avih") + 8
    struct.pack_into("<I", data, place, 1_000_000)
    struct.pack_into("<I", data, place + 16, 360_000)
    place = data.index(b"strh") + 8
    struct.pack_into("<II", data, place + 20, 1, 1)
    struct.pack_into("<I", data, place + 32, 360_000)
    (folder / "long.avi").write_bytes(data[: len(data) // 3])
    return folder / "long.avi"


def _youtube(claim: tuple[int, int], megabytes: int, within_cell: bool) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        write_youtube_faces(folder / "ytf", people=1, videos=1, frames=2, distractors=0)
        for path in (folder / "ytf" / "descriptors_DB").rglob("*.mat"):
            path.write_bytes(mat_bomb(claim, megabytes, within_cell))
        return folder / "ytf"

    return write


def _listed(name: str, line: bytes) -> Callable[[Path], Path]:
    """A list with one very long line, and features beside it."""
    write_list = _sparse(name, line, 2**30)

    def write(folder: Path) -> Path:
        np.save(folder / "features.npy", vectors()[:4])
        return write_list(folder)

    return write


def _features(data: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "features.npy").write_bytes(data)
        (folder / "list.csv").write_text("TEMPLATE_ID,SUBJECT_ID,FILENAME\n1,1,a.png\n1,1,b.png\n")
        return folder / "list.csv"

    return write


def _laughs() -> bytes:
    lines = ["<?xml version='1.0'?><!DOCTYPE l [<!ENTITY a0 'ha'>"]
    lines += [f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10)]
    return ("\n".join(lines) + "]><svg xmlns='http://www.w3.org/2000/svg'>&a9;</svg>").encode()


def _deep(folder: Path) -> Path:
    place = folder
    for _ in range(400):
        place = place / "d"
    place.mkdir(parents=True)
    (place / "x.jpg").write_bytes(_saved("jpeg")[:40])
    return folder


def _linked(target: str, name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).symlink_to(target)
        return folder / name

    return write


def _duplicate_rows(folder: Path) -> Path:
    return write_npz(folder / "x.npz", ["a"] * 1, embeddings=vectors(), image_set=np.full(36, 2**40))


SIZE_OF_JPEG: Final = struct.pack(">HH", 123, 321)


def _pictures(side: int) -> Callable[[Path], Path]:
    """An array of one picture, which packs into a few kilobytes."""

    def made(folder: Path) -> Path:
        picture = np.zeros((1, side, side), dtype=np.uint8)
        np.savez_compressed(folder / "x.npz", images=picture, image_set=[0], set_names=["a"])
        return folder / "x.npz"

    return made


BOMBS: Final[dict[str, Callable[[Path], Path]]] = {
    "png 50,000 x 50,000": media.bomb,
    "npz that claims 10^12 numbers": _file(
        "x.npz",
        lambda: _zipped(embeddings=_npy_header("(1000000, 1000000)"), image_set=bytes(9), set_names=b""),
    ),
    "csv with one line of 1 GB": _listed("list.csv", b"TEMPLATE_ID,SUBJECT_ID,FILENAME\n1,1,"),
    "mat that claims 30,000 x 30,000": _youtube((30_000, 30_000), 1, False),
    "film 16,000 x 16,000": media.huge_video,
    "film of 100 hours": _long_film,
    "npz of 1 GB of zeros": _zeros,
    "npz with 20,000 arrays": _file("x.npz", _many_members),
    "zip in zip in zip": _file("x.npz", _zip_in_zip),
    "npz of 10 GB of holes": _sparse("x.npz", b"PK\x03\x04", 10 * 2**30),
    "npz with set numbers up to 2^40": _duplicate_rows,
    "npz with a picture of 20,000 x 20,000": _pictures(20_000),
    "npz with a picture of 6,000 x 6,000": _pictures(6_000),
    "mat that hides 400 MB in a cell": _youtube((1, 1), 400, True),
    "mot with one line of 1 GB": _listed("list.txt", b"1,2,912,484.5,97,109,1,-1,-1,-1\n1,3,"),
    "npy that claims 10^12 numbers": _features(_npy_header("(1000000, 1000000)")),
    "npy with a header that never ends": _features(
        b"\x93NUMPY\x02\x00" + struct.pack("<I", HUGE) + b"{" * 999
    ),
    "npy whose header nests": _features(_npy_header("(" * 50 + ")" * 50)),
    "parquet of 10 GB of holes": _sparse(
        "x.parquet", b"PAR1", 10 * 2**30, struct.pack("<I", 2**30) + b"PAR1"
    ),
    "parquet with a footer of 2 GB": _file(
        "x.parquet", lambda: b"PAR1" + bytes(99) + struct.pack("<I", HUGE) + b"PAR1"
    ),
    "png with a text of 64 MB": _file("x.png", _text_bomb),
    "png with 200,000 chunks": _file(
        "x.png", lambda: _png(_png_size(40_000, 40_000), *[(b"tEXt", b"a\0b")] * 200_000, (b"IEND", b""))
    ),
    "png of 16 bits, 2^31 wide": _file("x.png", lambda: _png(_png_size(HUGE, HUGE, 16), (b"IEND", b""))),
    "gif with a million frames": _file("x.gif", lambda: _gif(1_000_000)),
    "gif 65,535 x 65,535": _file("x.gif", lambda: _gif(1)),
    "jpeg 65,500 x 65,500": _file(
        "x.jpg", lambda: _patched(_saved("jpeg"), SIZE_OF_JPEG, struct.pack(">HH", 65_500, 65_500))
    ),
    "bmp 2^31 x 2^31": _file(
        "x.bmp", lambda: _patched(_saved("bmp"), struct.pack("<ii", 321, 123), struct.pack("<ii", HUGE, HUGE))
    ),
    "tiff 60,000 x 60,000": _file("x.tiff", lambda: _tiff(60_000, 60_000)),
    "tiff that leads back to itself": _file("x.tiff", lambda: _tiff(60_000, 60_000, 8)),
    "webp 16,383 x 16,383": _file(
        "x.webp",
        lambda: (
            b"RIFF\x2a\0\0\0WEBPVP8X\x0a\0\0\0"
            + bytes(4)
            + b"\xfe\x3f\0\xfe\x3f\0"
            + b"VP8L\x08\0\0\0"
            + bytes(8)
        ),
    ),
    "fits 60,000 x 60,000": _file("x.fits", _fits),
    "fits in gzip, called jpeg": _file("x.jpg", lambda: gzip.compress(_fits() + bytes(2**26), 9)),
    "gd 65,535 x 65,535": _file(
        "x.gd", lambda: b"\xff\xfe" + struct.pack(">HHB", 65_535, 65_535, 1) + bytes(99)
    ),
    "eps that loops, called png": _file("x.png", lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n{ } loop\n" * 9),
    "svg of a billion laughs": _file("x.svg", _laughs),
    "svg of a billion laughs, called jpeg": _file("x.jpg", _laughs),
    "gzip of 1 GB, called mp4": _file("x.mp4", lambda: gzip.compress(bytes(2**24), 9) * 64),
    "mp4 of 100 GB of holes": _sparse(
        "x.mp4", b"\0\0\0\x18ftypisom\0\0\2\0isomiso2\0\0\0\1mdat", 100 * 2**30
    ),
    "mkv of 10 GB of holes": _sparse(
        "x.mkv", b"\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xfe", 10 * 2**30
    ),
    "jpeg of 10 GB of holes": _sparse("x.jpg", b"\xff\xd8\xff\xe0", 10 * 2**30),
    "folders 400 deep": _deep,
    "a link to /dev/zero, called jpeg": _linked("/dev/zero", "x.jpg"),
    "a link to itself": _linked("x.mp4", "x.mp4"),
}
