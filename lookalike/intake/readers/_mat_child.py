"""Child process that decodes .mat files: SciPy may crash here, or fill the memory, and harm nobody.

Run as a script with one argument, the limits as JSON. A request is a line of JSON; an answer is as
`restricted.send` writes it. `mat.py` is the other end.
"""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy.io

from lookalike.intake.restricted import limit_seconds, restrict, send, take_pipes

NUMBERS: Final = frozenset(
    f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)
) | frozenset({"double", "single", "logical"})
NEWER: Final = (
    "is a .mat file of version 7.3 (HDF5), and versions 4 to 7 are read: open it in MATLAB and save it again "
    "with -v7"
)
OTHER: Final = "is no .mat file of version 4 to 7: give a file that MATLAB saved with -v7, -v6 or -v4"
TEXTS: Final = frozenset({"char", "cell"})


class Refused(Exception):
    """What a file cannot be read for; its text follows the name of the file in a sentence."""


def main() -> None:
    """Answer requests until the other end goes away."""
    limits = json.loads(sys.argv[1])
    requests, answers = take_pipes()
    warnings.simplefilter("ignore")
    restrict(limits["memory"])
    send(answers, {"ready": True}, [])
    for line in requests:
        limit_seconds(limits["seconds"])
        request = json.loads(line)
        try:
            header, body = answer(request, limits["bytes"])
        except Refused as reason:
            header, body = {"refused": str(reason)}, []
        except MemoryError:
            header, body = {"refused": too_large(limits["memory"]), "ended": True}, []
        # So SciPy says that it is of version 7.3.
        except NotImplementedError:
            header, body = {"refused": NEWER}, []
        # A damaged file can make SciPy raise anything.
        except Exception as reason:
            said = " ".join(f"{type(reason).__name__}: {reason}".split())[:200]
            refused = (
                OTHER if "Unknown mat file type" in said else f"is damaged ({said}): copy or save it again"
            )
            header, body = {"refused": refused}, []
        send(answers, header, body)
        # What was left behind when the memory ran out is not worth finding out.
        if "ended" in header:
            return


def answer(request: dict[str, Any], most: int) -> tuple[dict[str, Any], list[Any]]:
    """Read what is asked for; return the header of the answer and what follows it."""
    needed, optional = request["needed"], request["optional"]
    with Path(request["path"]).open("rb") as file:
        listing = scipy.io.whosmat(file, appendmat=False, chars_as_strings=False)
        there = {name: shape for name, shape, _ in listing}
        if needed is None:
            return {"names": {name: list(map(int, shape)) for name, shape in there.items()}}, []
        for name in needed:
            if name not in there:
                raise Refused(f"has no {name!r}: it has {', '.join(sorted(there)) or 'no variables'}")
        wanted = [name for name in dict.fromkeys([*needed, *optional]) if name in there]
        for name, shape, kind in listing:
            if name in wanted:
                check_claim(name, shape, kind, most)
        file.seek(0)
        read = scipy.io.loadmat(file, appendmat=False, variable_names=wanted)
    pieces = [packed(name, read[name]) for name in wanted]
    if sum(len(data) for _, data in pieces) > most:
        raise Refused(too_large(most))
    return {"arrays": [head for head, _ in pieces]}, [data for _, data in pieces]


def check_claim(name: str, shape: tuple[int, ...], kind: str, most: int) -> None:
    """Refuse a variable by what its header says, before memory is taken for it."""
    if kind not in NUMBERS | TEXTS:
        raise Refused(
            f"has an array of kind {kind!r} in {name!r}, and only numbers, text and cells of text are read: "
            f"save it as one of these"
        )
    # Text becomes four bytes a character, a cell is a pointer; no number is longer than eight bytes.
    if prod(map(int, shape)) * (4 if kind == "char" else 8) > most * (2 if kind in TEXTS else 1):
        raise Refused(f"{too_large(most)} ({name!r} claims shape {tuple(map(int, shape))})")


def packed(name: str, array: Any) -> tuple[dict[str, Any], Any]:
    """Return what is said of an array, and its bytes."""
    if not isinstance(array, np.ndarray):
        raise Refused(f"has a {type(array).__name__} in {name!r}: save it as a full array")
    if array.dtype.kind in "fiub":
        # MATLAB keeps columns together: turned round, nothing has to be copied.
        columns = np.ascontiguousarray(array.T, dtype=array.dtype.newbyteorder("="))
        data = columns.reshape(-1).view(np.uint8)
        return {"name": name, "shape": array.shape, "dtype": columns.dtype.str, "bytes": len(data)}, data
    if array.dtype.kind in "UO":
        texts = [text_of(name, item) for item in array.ravel(order="F")]
        listed = json.dumps(texts).encode()
        return {"name": name, "texts": len(texts), "bytes": len(listed)}, listed
    raise Refused(f"has numbers of type {array.dtype} in {name!r}: save real numbers or text")


def text_of(name: str, item: Any) -> str:
    """Return one text of a cell array or of the rows of a text array."""
    if isinstance(item, np.ndarray) and item.dtype.kind == "U" and item.size <= 1:
        return str(item.item()) if item.size else ""
    # MATLAB writes '' as an empty array of numbers.
    if isinstance(item, np.ndarray) and item.size == 0 and item.dtype.kind in "fiub":
        return ""
    if isinstance(item, str):
        return str(item)
    raise Refused(f"has a cell in {name!r} that is no text: only cells of text are read, save them so")


def too_large(most: int) -> str:
    """Say that a limit of so many bytes was reached."""
    return (
        f"takes more than {most / 2**20:,.0f} MiB when it is unpacked, more than any video needs: "
        f"it is damaged or made to do harm, leave it out or split it"
    )


if __name__ == "__main__":
    # The parent may go away while it is answered: that is how it ends us, and no error.
    with contextlib.suppress(BrokenPipeError):
        main()
