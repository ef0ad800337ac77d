"""Sources: small files of every kind that faces are read from, good, or wrong as people write them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.cli_process import FRAMES, IDS, faces, vectors, write_npz
from tests.ingest.readers import test_lists, test_mot
from tests.ingest.youtube_miniature import write_youtube_faces

DIMENSION: Final = 16


@dataclass(frozen=True)
class Source:
    """A source on disk.

    Attributes
    ----------
    given : Path
        What is added.
    spoilt : Path
        The file to spoil: itself, or one that belongs to it.
    features : Path or None
        Of a list.
    dimension : int
        How many numbers its faces have.
    """

    given: Path
    spoilt: Path
    features: Path | None = None
    dimension: int = DIMENSION


def npz(folder: Path) -> Source:
    """Ready-made vectors."""
    path = write_npz(folder / "x.npz", embeddings=vectors())
    return Source(path, path)


def pictures(folder: Path) -> Source:
    """Crops in an .npz file."""
    crops = faces().reshape(-1, 30, 25)[:12]
    path = write_npz(folder / "p.npz", images=crops)
    return Source(path, path, dimension=0)


def parquet(folder: Path) -> Source:
    """A row for each face."""
    rows = vectors()
    ids = [name for name in IDS for _ in range(FRAMES)]
    table = pa.table({"set_id": ids, "embedding": [row.tolist() for row in rows]})
    pq.write_table(table, folder / "x.parquet")
    return Source(folder / "x.parquet", folder / "x.parquet")


def _listed(folder: Path, name: str, lines: list[str]) -> Source:
    (folder / name).write_text("\n".join(lines) + "\n")
    np.save(folder / "f.npy", vectors()[: len(test_lists.ROWS)])
    return Source(folder / name, folder / name, folder / "f.npy")


def ijb(folder: Path) -> Source:
    """A list of templates."""
    return _listed(folder, "ijb.csv", [test_lists.HEADER, *test_lists.ROWS])


def mot(folder: Path) -> Source:
    """A list of tracks."""
    return _listed(folder, "mot.txt", test_mot.LINES)


def features(folder: Path) -> Source:
    """A good list whose features are spoilt."""
    good = ijb(folder)
    return Source(good.given, folder / "f.npy", folder / "f.npy")


def youtube(folder: Path) -> Source:
    """The layout of YouTube Faces in .mat files, one of which is spoilt."""
    root = folder / "ytf"
    write_youtube_faces(root, people=2, videos=2, frames=3, distractors=0)
    return Source(root, sorted((root / "descriptors_DB").rglob("*.mat"))[0], dimension=0)


KINDS: Final[dict[str, Callable[[Path], Source]]] = {
    one.__name__: one for one in (npz, pictures, parquet, ijb, mot, features, youtube)
}


# Wrong in what they say, in a file that is whole.


def _npz(path: Path, **changes: Any) -> None:
    write_npz(path, **{"embeddings": vectors(), **changes})


def _with(value: float) -> np.ndarray:
    made = vectors()
    made[5, 3] = value
    return made


def _zero_face() -> np.ndarray:
    made = vectors()
    made[5] = 0
    return made


WRONG: Final[dict[str, Callable[[Path], object]]] = {
    "NaN": lambda path: _npz(path, embeddings=_with(np.nan)),
    "infinite": lambda path: _npz(path, embeddings=_with(np.inf)),
    "a face of zeros": lambda path: _npz(path, embeddings=_zero_face()),
    "all zero": lambda path: path.write_bytes(bytes(4096)),
    "transposed": lambda path: _npz(path, embeddings=vectors().T, ids=IDS),
    "three axes": lambda path: _npz(path, embeddings=vectors()[:, :, None]),
    "one number a face": lambda path: _npz(path, embeddings=vectors()[:, :1]),
    "texts": lambda path: _npz(path, embeddings=vectors().astype(str)),
    "complex": lambda path: _npz(path, embeddings=vectors() + 1j),
    "too large for float32": lambda path: _npz(path, embeddings=vectors().astype(np.float64) * 1e300),
    "duplicate ids": lambda path: _npz(path, ids=[IDS[0], *IDS[:-1]]),
    "ids with line breaks": lambda path: _npz(path, ids=[f"{one}\n\r\0x" for one in IDS]),
    "an id that is empty": lambda path: _npz(path, ids=["", *IDS[1:]]),
    "a set number too high": lambda path: _npz(path, image_set=np.arange(len(vectors()))),
    "a negative set number": lambda path: _npz(path, image_set=-np.ones(len(vectors()), int)),
    "too few set numbers": lambda path: _npz(path, image_set=np.zeros(3, int)),
    "no set numbers": lambda path: _npz(path, image_set=None),
    "no names": lambda path: _npz(path, set_names=None),
    "another key": lambda path: _npz(path, embeddings=None, x=vectors(), y=vectors()),
    "no face": lambda path: _npz(path, embeddings=vectors()[:0], ids=IDS),
    "objects": lambda path: _npz(path, embeddings=np.array([[None] * 4] * 36, dtype=object)),
}


def spoil_text(data: bytes, chance: random.Random) -> bytes:
    """Change a list as an editor or another system would."""
    way = chance.randrange(7)
    lines = data.split(b"\n")
    if way == 0:
        return b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")
    if way == 1:
        return data.replace(b"/", b"\\")
    if way == 2:
        chance.shuffle(lines)
    elif way == 3:
        lines.insert(chance.randrange(len(lines)), lines[chance.randrange(len(lines))])
    elif way == 4:
        del lines[chance.randrange(len(lines))]
    elif way == 5:
        return data.decode("latin-1").encode("utf-16")
    else:
        return data.replace(b",", chance.choice([b";", b"\t", b",,", b', "']))
    return b"\n".join(lines)
