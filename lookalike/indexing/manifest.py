"""The manifest of a stored table: which arrays it has, in which files, with which SHA-256."""

from __future__ import annotations

import hashlib
import json
import mmap
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from lookalike import atomic
from lookalike.errors import BadInput
from lookalike.kernels.threads import in_order

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

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of what it says, however it is laid out."""
        arrays = {name: vars(entry) for name, entry in self.arrays.items()}
        said = {"format": FORMAT, **{field.name: getattr(self, field.name) for field in fields(self)}}
        text = json.dumps({**said, "arrays": arrays}, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, which is what makes a folder a table; it reaches the disk before this returns."""
    said = {"format": FORMAT, **asdict(manifest), "sha256": manifest.sha256}
    with atomic.new_file(folder / NAME) as file:
        text = json.dumps(said, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        # Names may come from files whose own names are not Unicode; json reads such bytes back.
        file.write(text.encode("utf-8", "surrogatepass"))
        atomic.to_disk(file)


def read(folder: Path) -> Manifest:
    """Read a manifest, or raise ValueError, KeyError, TypeError or OSError if it is not one of ours."""
    said = json.loads((folder / NAME).read_bytes())
    if said["format"] != FORMAT:
        raise ValueError(f"it has format {said['format']!r}, this version reads {FORMAT}")
    arrays = {name: _entry(**described) for name, described in said["arrays"].items()}
    found = Manifest(said["kind"], said["fingerprint"], str(said["saved"]), dict(said["facts"]), arrays)
    if said["sha256"] != found.sha256:
        raise ValueError("it is not as it was saved")
    return found


def _entry(file: str, dtype: str, shape: list[int], bytes: int, sha256: str) -> ArrayEntry:
    # A manifest may have been tampered with: it must not lead out of its own folder.
    if not ARRAY_FILE.fullmatch(file):
        raise ValueError(f"it names a file {file!r}, which is no array of ours")
    return ArrayEntry(file, str(dtype), tuple(int(length) for length in shape), int(bytes), str(sha256))


def checked_facts(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts as JSON gives them back, or refuse what JSON cannot hold."""
    try:
        facts: dict[str, Any] = json.loads(json.dumps(dict(given), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"the facts of a table must be JSON values ({error}): give text, numbers or lists"
        ) from None
    return facts


def checked_array(name: str, given: NDArray[Any]) -> NDArray[Any]:
    """Return the array in C order, or refuse a type that needs pickle: objects, records or dates."""
    array = np.asarray(given)
    if array.dtype.kind not in ALLOWED_KINDS:
        raise BadInput(
            f"array {name!r} is of type {array.dtype}: a table holds numbers, booleans or text only"
        )
    return np.asarray(array, order="C")


def write_array(folder: Path, number: int, array: NDArray[Any]) -> ArrayEntry:
    """Write one array as .npy; it reaches the disk before this returns."""
    path = folder / f"{number:04d}.npy"
    with atomic.new_file(path) as file:
        hashing = _HashingFile(file)
        np.lib.format.write_array(hashing, array, allow_pickle=False)
        atomic.to_disk(file)
    return ArrayEntry(path.name, array.dtype.str, array.shape, hashing.written, hashing.digest.hexdigest())


def open_array(folder: Path, entry: ArrayEntry) -> NDArray[Any]:
    """Map one array, without reading it; raise if it is not as the manifest says."""
    path = folder / entry.file
    if path.is_symlink() or path.stat().st_size != entry.bytes:
        raise ValueError(f"{entry.file} is a link or does not have its {entry.bytes} bytes")
    # An empty file section cannot be mapped; a single number is not worth it.
    small = 0 in entry.shape or entry.shape == ()
    if not small and (array := _mapped(path, entry)) is not None:
        return array
    array = np.load(path, mmap_mode=None if small else "r", allow_pickle=False)
    if (array.dtype.str, array.shape) != (entry.dtype, entry.shape):
        raise ValueError(f"{entry.file} is {array.dtype.str} {array.shape}, not {entry.dtype} {entry.shape}")
    array.setflags(write=False)
    return array


def _mapped(path: Path, entry: ArrayEntry) -> NDArray[Any] | None:
    """Map a file that begins as one of its type and shape does; None if it is laid out otherwise.

    NumPy parses the beginning as Python, which takes longer than a query.
    """
    header = _header(entry.dtype, entry.shape)
    with path.open("rb") as file:
        if file.read(len(header)) != header:
            return None
        held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.ndarray(entry.shape, np.dtype(entry.dtype), held, len(header))


@lru_cache(maxsize=256)
def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """How `write_array` begins the file of an array in C order."""
    written = BytesIO()
    described = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(written, described)
    return written.getvalue()


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


# Checked: in which state the files of a table were found good, so that they are not read on every start.
#
# A file whose inode, size and times are those of a file that was read and found good has not been written
# since. The note that remembers them lies beside the arrays; it can only save reading, never vouch for
# damage: one that is not readable, too old or not about these very files is passed over, and the arrays are
# read.
#
# The same note remembers that somebody looked through what the arrays say, which is more than that they are
# what was saved.


CHECKED_NAME: Final = "checked.json"
# The note itself, or what a killed process left of one.
FILE: Final = re.compile(r"checked\.json(\.[0-9a-f]{16})?")
# Disks lose bits without telling the file system: after a week it is time to read again.
SECONDS_OF_TRUST: Final = 7 * 24 * 3600.0
# Times of files move in ticks of up to 10 ms: a second change within one tick would not show.
TICK: Final = 0.02
LOOKED: Final = "looked through"


def damaged(folder: Path, described: Manifest) -> list[str]:
    """Names of the arrays whose bytes are not those that were saved; unless noted as good, all are read."""
    found = _state(folder, described)
    if found is not None and _is_noted(folder, found):
        return []
    is_settled = found is not None and _age(found) > TICK
    names = list(described.arrays)
    fit = list(in_order(lambda name: fits(folder, described.arrays[name]), names))
    # What changed while we read, or so lately that another change might not show, is read again next time.
    if all(fit) and found is not None and is_settled and found == _state(folder, described):
        _write(folder, found)
    return [name for name, fits in zip(names, fit, strict=True) if not fits]


def contradicted(folder: Path, described: Manifest, look: Callable[[], Iterable[str]]) -> str | None:
    """What is wrong with what the arrays say, or why that could not be told; None if nothing is.

    Files that were looked through, and found good, are not looked through again while they are noted as good.
    """
    found = _state(folder, described)
    if found is not None and _is_noted(folder, {**found, LOOKED: True}):
        return None
    try:
        wrong = next(iter(look()), None)
    except (BadInput, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return repr(error)
    if wrong is None and found is not None and _is_noted(folder, found):
        _write(folder, {**found, LOOKED: True})
    return wrong


def note(folder: Path, described: Manifest) -> None:
    """Note that files just written are good: what was saved is what was hashed."""
    found = _state(folder, described)
    if found is not None:
        time.sleep(max(0.0, TICK - _age(found)))
        _write(folder, found)


def _state(folder: Path, described: Manifest) -> dict[str, Any] | None:
    """All that the file system changes when a file is written or replaced; None if a file is missing."""
    files = {}
    try:
        for entry in described.arrays.values():
            one = (folder / entry.file).lstat()
            files[entry.file] = [one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns]
    except OSError:
        return None
    return {"manifest": described.sha256, "files": files}


def _age(found: dict[str, Any]) -> float:
    """Seconds since one of the files was last changed; 0 if a clock says that this is still to come."""
    changed = max((times[-1] for times in found["files"].values()), default=0)
    return max(0.0, time.time() - changed / 1e9)


def _is_noted(folder: Path, found: dict[str, Any]) -> bool:
    try:
        noted = json.loads((folder / CHECKED_NAME).read_bytes())
        age = time.time() - noted.pop("checked")
        return bool(noted | found == noted and 0 <= age < SECONDS_OF_TRUST)
    except Exception:  # no note, or none that says anything
        return False


def _write(folder: Path, found: dict[str, Any]) -> None:
    working = folder / f"{CHECKED_NAME}.{secrets.token_hex(8)}"
    # Where we may not write, or there is no room, nothing is remembered. Nor does a note that a power cut
    # takes back do harm, so nobody waits for the disk.
    with suppress(OSError):
        try:
            content = json.dumps({"checked": time.time(), **found}).encode()
            atomic.write_new(working, content, durable=False)
            atomic.rename(working, folder / CHECKED_NAME)
        except BaseException:
            atomic.delete(working)
            raise
