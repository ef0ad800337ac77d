"""Archive: the named arrays of an .npz file, read without trusting it."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable
from lzma import LZMAError
from math import prod
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.intake.paths import readable, unreadable

# No array of a set of faces is larger; a file that claims more is damaged or means harm.
MOST_BYTES: Final = 8 * 2**30

# Damage, encryption (RuntimeError) and compression that Python cannot undo.
ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)


class Header(NamedTuple):
    """What an array says of itself."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Archive:
    """An opened .npz file; use it in a ``with`` statement.

    Only the members asked for are opened, nothing is unpickled, and no memory is taken before
    an array's claimed shape was found to agree with the size of its data.

    Parameters
    ----------
    path : Path
        A file that starts like a zip file.

    Raises
    ------
    NotFound, BadInput
        If there is no such file, or it is not a whole zip file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as reason:
            raise unreadable(path, reason) from None
        except ZIP_ERRORS as reason:
            raise self.refusal(f"is not a whole .npz file ({reason}): copy or save it again") from None

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def names(self) -> list[str]:
        """Names of the arrays, in the order of the file."""
        return [name.removesuffix(".npy") for name in self._zip.namelist() if name.endswith(".npy")]

    def header(self, name: str) -> Header:
        """Return shape and type of an array without reading it.

        Raises
        ------
        BadInput
            If the array is missing, is made of Python objects, or its claim cannot be true.
        """
        with self._open(name) as member:
            return self._checked_header(name, member)

    def read(self, name: str) -> NDArray[Any]:
        """Return an array.

        Raises
        ------
        BadInput
            As for `header`, or if the data are damaged or do not fit in memory.
        """
        shape, dtype = self.header(name)
        with self._open(name) as member:
            try:
                array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
            except MemoryError:
                needed = prod(shape) * dtype.itemsize / 2**30
                raise self.refusal(f"needs {needed:.1f} GiB of memory for {name!r}: split it") from None
            except ZIP_ERRORS as reason:
                raise self._damaged(name, reason) from None
        return array

    def refusal(self, text: str) -> BadInput:
        """Return an error whose sentence begins with the name of this file."""
        return BadInput(f"{readable(self.path)!r} {text}")

    def _open(self, name: str) -> IO[bytes]:
        try:
            return self._zip.open(f"{name}.npy")
        except KeyError:
            there = ", ".join(self.names()) or "no arrays at all"
            raise self.refusal(f"has no array {name!r}: it has {there}") from None
        except ZIP_ERRORS as reason:
            raise self._damaged(name, reason) from None

    def _checked_header(self, name: str, member: IO[bytes]) -> Header:
        size = self._zip.getinfo(f"{name}.npy").file_size
        header = npy_header(member, size, repr(name), self.refusal)
        if size > MOST_BYTES:
            raise self.refusal(
                f"has {size / 2**30:.0f} GiB in {name!r}, more than {MOST_BYTES >> 30} GiB: split it"
            )
        return header

    def _damaged(self, name: str, reason: Exception) -> BadInput:
        return _damaged(repr(name), reason, self.refusal)


def npy_header(stream: IO[bytes], size: int, what: str, refusal: Callable[[str], BadInput]) -> Header:
    """Read what an array in the .npy format says of itself, and hold it against its size.

    Parameters
    ----------
    stream : binary stream
        At the start of the array; afterwards at the start of its numbers.
    size : int
        How many bytes the array has, its header included.
    what : str
        What a sentence calls the array.
    refusal : callable
        Makes an error of a sentence without its subject.

    Raises
    ------
    BadInput
        If it is made of Python objects, or its claim cannot be true.
    """
    try:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(stream)
        start = stream.tell()
    # The header is text that is parsed: what can go wrong there has no family.
    except Exception as reason:
        raise _damaged(what, reason, refusal) from None
    if dtype.hasobject:
        raise refusal(f"has Python objects in {what}, which are not safe to read: save plain numbers or text")
    if min(shape, default=0) < 0 or dtype.itemsize == 0 or start + prod(shape) * dtype.itemsize != size:
        raise refusal(
            f"is damaged: {what} claims shape {shape} of type {dtype}, which is not the "
            f"{size:,} bytes it has: save it again"
        )
    return Header(shape, dtype)


def _damaged(what: str, reason: Exception, refusal: Callable[[str], BadInput]) -> BadInput:
    text = " ".join(str(reason).split())[:200]
    return refusal(f"is damaged: {what} cannot be read ({text or type(reason).__name__}): save it again")
