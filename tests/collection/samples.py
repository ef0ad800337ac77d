"""Small sets for the tests of the collection, and ways to damage what holds them."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import numpy as np

from lookalike.collection import manifest
from lookalike.collection.tables import StoredTables
from lookalike.faceset import FaceSet

SEED = 20240611

# Most tests say nothing about durability: where there is a disk in memory, they use it.
QUICK = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def a_set(name: str = "a", seed: int = 0, count: int = 3, dimension: int = 4, **more) -> FaceSet:
    return FaceSet(name, np.random.default_rng(seed).normal(size=(count, dimension)), **more)


def edit(path: Path, *statements: str) -> None:
    """Change a closed gallery behind its back."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def raw(path: Path) -> bytes:
    """Every byte of every file beside a gallery, its own included."""
    return b"".join(each.read_bytes() for each in sorted(path.parent.iterdir()) if each.is_file())


def some_arrays(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "prepared/faces": rng.normal(size=(50, 8)).astype(np.float32),
        "neighbours": rng.integers(0, 50, size=(50, 10)),
        "empty": np.zeros((0, 8)),
        "one": np.float64(3.5),
        "ids": np.array(["a", "größer"]),
    }


def flip(path: Path, place: int = -1, bit: int = 1) -> None:
    """Change one bit of a file and nothing else about it."""
    content = bytearray(path.read_bytes())
    content[place] ^= bit
    path.write_bytes(content)


def wrong(stored: StoredTables) -> list[str]:
    """Names of the arrays whose files do not hold what was saved, all of them read."""
    return [name for name, entry in stored.manifest.arrays.items() if not manifest.fits(stored.path, entry)]


def files(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())
