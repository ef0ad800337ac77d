"""Reader of MATLAB .mat files of version 4 to 7: named arrays of numbers, and texts.

SciPy's reader is not made for files one does not trust: a damaged file can crash it. So it is called in a
sandbox only, whose limits hold; what a file claims is checked before memory is taken for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_folder, readable, unreadable
from lookalike.ingest.sandbox import Ended, Message, less_memory

# The longest video of YouTube Faces has 6,070 frames of 1,770 doubles: 82 MiB.
MOST_BYTES: Final = 192 * 2**20
# What decoding may take: an array twice, unpacked and arranged, and some more.
MOST_MEMORY: Final = 2 * MOST_BYTES + 64 * 2**20
NUMBERS: Final = frozenset(
    f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)
) | frozenset({"double", "single", "logical"})
TEXTS: Final = frozenset({"char", "cell"})
NEWER: Final = (
    "is a .mat file of version 7.3 (HDF5), and versions 4 to 7 are read: open it in MATLAB and save it again "
    "with -v7"
)
OTHER: Final = "is no .mat file of version 4 to 7: give a file that MATLAB saved with -v7, -v6 or -v4"
DTYPE: Final = re.compile(r"[<>|=]([fiu][1248]|b1)")

Values = NDArray[Any] | list[str]


class _Refused(Exception):
    """What a file cannot be read for; its text follows the name of the file in a sentence."""


def mat_names(path: Path) -> list[str]:
    """Names of the variables of a file, in its order; raises as `read_mat`."""
    with _opened(path) as file:
        return [name for name, _, _ in _listing(file)]


def read_mat(path: Path, names: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Values]:
    """Return variables of a file: all of some names, and those of others that are there.

    Numbers come as they are stored, in two dimensions or more; text and cells of text as a list of str,
    column by column. Raises NotFound, or BadInput if it is no whole .mat file, a variable is missing, is
    neither numbers nor text, or takes more memory than allowed.
    """
    import scipy.io

    with _opened(path) as file:
        listing = _listing(file)
        there = [name for name, _, _ in listing]
        for name in names:
            if name not in there:
                raise _Refused(f"has no {name!r}: it has {', '.join(sorted(there)) or 'no variables'}")
        wanted = [name for name in dict.fromkeys([*names, *optional]) if name in there]
        for name, shape, kind in listing:
            if name in wanted:
                _check_claim(name, shape, kind)
        file.seek(0)
        read = scipy.io.loadmat(file, appendmat=False, variable_names=wanted)
        found = {name: _values(name, read[name]) for name in wanted}
        sizes = (sum(map(len, one)) if isinstance(one, list) else one.nbytes for one in found.values())
        if sum(sizes) > MOST_BYTES:
            raise _Refused(_too_large(MOST_BYTES))
        return found


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """A file, with less memory while it is read; whatever SciPy finds wrong with it becomes a sentence."""
    import scipy.io  # noqa: F401  (its own memory is not the file's)

    if is_folder(path):
        raise BadInput(f"{readable(path)!r} is a folder: give a MATLAB .mat file")
    try:
        file = path.open("rb")
    except OSError as reason:
        raise unreadable(path, reason) from None
    try:
        with file, less_memory(MOST_MEMORY):
            yield file
        return
    except _Refused as reason:
        refused = str(reason)
    except MemoryError:
        refused = _too_large(MOST_MEMORY)
    # So SciPy says that it is of version 7.3.
    except NotImplementedError:
        refused = NEWER
    # A damaged file can make SciPy raise anything.
    except Exception as reason:
        said = " ".join(f"{type(reason).__name__}: {reason}".split())[:200]
        refused = OTHER if "Unknown mat file type" in said else f"is damaged ({said}): copy or save it again"
    raise BadInput(f"{readable(path)!r} {refused}")


def _listing(file: IO[bytes]) -> list[tuple[str, tuple[int, ...], str]]:
    """Name, shape and kind of every variable, as the file claims them."""
    import scipy.io

    listed: list[tuple[str, tuple[int, ...], str]] = scipy.io.whosmat(
        file, appendmat=False, chars_as_strings=False
    )
    return listed


def _check_claim(name: str, shape: tuple[int, ...], kind: str) -> None:
    """Refuse a variable by what its header says, before memory is taken for it."""
    if kind not in NUMBERS | TEXTS:
        raise _Refused(
            f"has an array of kind {kind!r} in {name!r}, and only numbers, text and cells of text are read: "
            f"save it as one of these"
        )
    # Text becomes four bytes a character, a cell is a pointer; no number is longer than eight bytes.
    if prod(map(int, shape)) * (4 if kind == "char" else 8) > MOST_BYTES * (2 if kind in TEXTS else 1):
        raise _Refused(f"{_too_large(MOST_BYTES)} ({name!r} claims shape {tuple(map(int, shape))})")


def _values(name: str, array: Any) -> Values:
    """A variable as SciPy read it, as numbers of this machine or a list of texts."""
    if not isinstance(array, np.ndarray):
        raise _Refused(f"has a {type(array).__name__} in {name!r}: save it as a full array")
    if array.dtype.kind in "fiub":
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind in "UO":
        texts = [_text(name, item) for item in array.ravel(order="F")]
        # Half a surrogate pair could not be stored or shown.
        return [text.encode("utf-8", "replace").decode() for text in texts]
    raise _Refused(f"has numbers of type {array.dtype} in {name!r}: save real numbers or text")


def _text(name: str, item: Any) -> str:
    """One text of a cell array or of the rows of a text array."""
    if isinstance(item, np.ndarray) and item.dtype.kind == "U" and item.size <= 1:
        return str(item.item()) if item.size else ""
    # MATLAB writes '' as an empty array of numbers.
    if isinstance(item, np.ndarray) and item.size == 0 and item.dtype.kind in "fiub":
        return ""
    if isinstance(item, str):
        return str(item)
    raise _Refused(f"has a cell in {name!r} that is no text: only cells of text are read, save them so")


def _too_large(most: int) -> str:
    """Say that a limit of so many bytes was reached."""
    return (
        f"takes more than {most / 2**20:,.0f} MiB when it is unpacked, more than any video needs: "
        f"it is damaged or made to do harm, leave it out or split it"
    )


def packed(variables: Mapping[str, Values]) -> tuple[dict[str, Any], list[Any]]:
    """The header of a message about variables, and its parts; `unpacked` is the other end."""
    said: list[dict[str, Any]] = []
    parts: list[Any] = []
    for name, values in variables.items():
        if isinstance(values, list):
            said.append({"name": name})
            parts.append(json.dumps(values).encode())
        else:
            # MATLAB keeps columns together: turned round, nothing has to be copied.
            said.append({"name": name, "dtype": values.dtype.str, "shape": values.shape})
            parts.append(np.ascontiguousarray(values.T).reshape(-1).view(np.uint8))
    return {"arrays": said}, parts


def unpacked(message: Message) -> dict[str, Values]:
    """The variables of a message; Ended if it contradicts itself."""
    # Whoever took over the child may write anything: any error of these lines means that.
    try:
        announced = zip(message.header["arrays"], message.parts, strict=True)
        return {str(said["name"]): _taken(said, part) for said, part in announced}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise Ended from None


def _taken(said: dict[str, Any], part: NDArray[np.uint8]) -> Values:
    if "dtype" not in said:
        texts = json.loads(part.tobytes())
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise Ended
        return texts
    if not DTYPE.fullmatch(said["dtype"]):
        raise Ended
    return part.view(np.dtype(said["dtype"])).reshape([int(side) for side in said["shape"]], order="F")
