"""Answers of the child that decodes .mat files: taken from its pipe, checked, and not believed."""

from __future__ import annotations

import json
import re
import subprocess
from math import prod
from typing import IO, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.intake.children import Ended, pipe_of, take_header, taken

Values = NDArray[Any] | list[str]

DTYPE: Final = re.compile(r"[<>|=]([fiu][1248]|b1)")


class Answer(NamedTuple):
    """What the child found: why the file is refused, the shapes of its variables, or some of them."""

    refused: str
    names: dict[str, tuple[int, ...]]
    arrays: dict[str, Values]


def exchange(child: subprocess.Popen[bytes], request: bytes, most: int) -> Answer:
    """Send a request and take the answer.

    Parameters
    ----------
    child : Popen
        A child that waits for requests.
    request : bytes
        One line.
    most : int
        Most bytes to take.

    Raises
    ------
    Ended
        If the child is gone before all is there, or its answer contradicts itself.
    """
    try:
        pipe_of(child.stdin).write(request)
        pipe_of(child.stdin).flush()
    except OSError:
        raise Ended from None
    header = take_header(child)
    answers = pipe_of(child.stdout)
    # Whoever took over the child may write anything: any error of these lines means that.
    try:
        refused = " ".join(str(header.get("refused", "")).split())[:1000]
        names = {str(name): tuple(map(int, shape)) for name, shape in header.get("names", {}).items()}
        announced = header.get("arrays", [])
        lengths = [int(said["bytes"]) for said in announced]
        if min(lengths, default=0) < 0 or sum(lengths) > most:
            raise Ended
        arrays = {
            str(said["name"]): _texts(answers, said) if "texts" in said else _array(answers, said)
            for said in announced
        }
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise Ended from None
    return Answer(refused, names, arrays)


def _array(answers: IO[bytes], said: dict[str, Any]) -> NDArray[Any]:
    shape = tuple(map(int, said["shape"]))
    if not DTYPE.fullmatch(said["dtype"]) or min(shape, default=0) < 0:
        raise Ended
    dtype: np.dtype[Any] = np.dtype(said["dtype"])
    if prod(shape) * dtype.itemsize != said["bytes"]:
        raise Ended
    # MATLAB keeps columns together, and so it is sent.
    return taken(answers, said["bytes"]).view(dtype).reshape(shape, order="F")


def _texts(answers: IO[bytes], said: dict[str, Any]) -> list[str]:
    texts = json.loads(taken(answers, said["bytes"]).tobytes())
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise Ended
    # Half a surrogate pair could not be stored or shown.
    return [text.encode("utf-8", "replace").decode() for text in texts]
