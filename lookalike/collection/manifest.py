"""The manifest of a stored table: which arrays it has, in which files, with which SHA-256."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from lookalike import disk
from lookalike.errors import BadInput

FORMAT: Final = 2
NAME: Final = "manifest.json"
ARRAY_FILE: Final = re.compile(r"[0-9]{4,}\.npy")

# Booleans, integers, floats, complex numbers, text: everything that .npy holds without pickle or structure.
ALLOWED_KINDS: Final = "biufcSU"


@dataclass(frozen=True)
class ArrayEntry:
    """One array of a table as the manifest describes it."""

    file: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a table says about itself; `saved` is when, in UTC."""

    kind: str
    fingerprint: str
    saved: str
    facts: Mapping[str, Any]
    arrays: Mapping[str, ArrayEntry]


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, which is what makes a folder a table; it reaches the disk before this returns."""
    fields = {"format": FORMAT, **asdict(manifest), "sha256": digest(manifest)}
    with disk.new_file(folder / NAME) as file:
        text = json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        # Names may come from files whose own names are not Unicode; json reads such bytes back.
        file.write(text.encode("utf-8", "surrogatepass"))
        disk.to_disk(file)


def read(folder: Path) -> Manifest:
    """Read a manifest, or raise ValueError, KeyError, TypeError or OSError if it is not one of ours."""
    fields = json.loads((folder / NAME).read_bytes())
    if fields["format"] != FORMAT:
        raise ValueError(f"it has format {fields['format']!r}, this version reads {FORMAT}")
    arrays = {name: _entry(**described) for name, described in fields["arrays"].items()}
    found = Manifest(
        fields["kind"], fields["fingerprint"], str(fields["saved"]), dict(fields["facts"]), arrays
    )
    if fields["sha256"] != digest(found):
        raise ValueError("it is not as it was saved")
    return found


def digest(manifest: Manifest) -> str:
    """SHA-256 of what a manifest says, however it is laid out."""
    said = json.dumps({"format": FORMAT, **asdict(manifest)}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(said.encode()).hexdigest()


def _entry(file: str, dtype: str, shape: list[int], bytes: int, sha256: str) -> ArrayEntry:
    # A manifest may have been tampered with: it must not lead out of its own folder.
    if not ARRAY_FILE.fullmatch(file):
        raise ValueError(f"it names a file {file!r}, which is no array of ours")
    return ArrayEntry(file, str(dtype), tuple(int(length) for length in shape), int(bytes), str(sha256))


def checked_facts(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts as JSON gives them back, or refuse what JSON cannot hold.

    Raises
    ------
    BadInput
        If a value is not text, a finite number, a boolean, None, or a list or dictionary of these.
    """
    try:
        facts: dict[str, Any] = json.loads(json.dumps(dict(given), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"the facts of a table must be JSON values ({error}): give text, numbers or lists"
        ) from None
    return facts


def checked_array(name: str, given: NDArray[Any]) -> NDArray[Any]:
    """Return the array in C order, or refuse a type that needs pickle.

    Raises
    ------
    BadInput
        If it holds objects, records or dates.
    """
    array = np.asarray(given)
    if array.dtype.kind not in ALLOWED_KINDS:
        raise BadInput(
            f"array {name!r} is of type {array.dtype}: a table holds numbers, booleans or text only"
        )
    return np.asarray(array, order="C")


def write_array(folder: Path, number: int, array: NDArray[Any]) -> ArrayEntry:
    """Write one array as .npy; it reaches the disk before this returns."""
    path = folder / f"{number:04d}.npy"
    with disk.new_file(path) as file:
        hashing = _HashingFile(file)
        np.lib.format.write_array(hashing, array, allow_pickle=False)
        disk.to_disk(file)
    return ArrayEntry(path.name, array.dtype.str, array.shape, hashing.written, hashing.digest.hexdigest())


def open_array(folder: Path, entry: ArrayEntry) -> NDArray[Any]:
    """Map one array, without reading it; raise if it is not as the manifest says."""
    path = folder / entry.file
    if path.is_symlink() or path.stat().st_size != entry.bytes:
        raise ValueError(f"{entry.file} is a link or does not have its {entry.bytes} bytes")
    # An empty file section cannot be mapped; a single number is not worth it.
    small = 0 in entry.shape or entry.shape == ()
    array: NDArray[Any] = np.load(path, mmap_mode=None if small else "r", allow_pickle=False)
    if (array.dtype.str, array.shape) != (entry.dtype, entry.shape):
        raise ValueError(f"{entry.file} is {array.dtype.str} {array.shape}, not {entry.dtype} {entry.shape}")
    array.setflags(write=False)
    return array


def fits(folder: Path, entry: ArrayEntry) -> bool:
    """Whether the bytes of an array are still those that were written; this reads them all."""
    path = folder / entry.file
    try:
        if path.is_symlink() or path.stat().st_size != entry.bytes:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256
    except OSError:
        return False


def timestamp() -> str:
    """The time in UTC, fine enough to tell which of two tables was saved later."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class _HashingFile:
    """A file that keeps the SHA-256 of what goes into it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.written = 0

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        self.written += len(data)
        return self._file.write(data)
