"""A model file in ONNX format, opened once, checked, and ready to be asked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors._network import open_session
from lookalike.descriptors._rewriting import without_prelu
from lookalike.errors import BadInput, NotFound

# What the format itself allows a file that holds all its weights.
MOST_BYTES = 2**31 - 1
# How a tensor says that its numbers lie in another file: the key "location" of ONNX's external data. Tag and
# length may be written with more bytes than they need. A value called just that is taken for one too.
ELSEWHERE = re.compile(rb"(?:\x0a|\x8a\x80*\x00)(?:\x08|\x88\x80*\x00)location")


@dataclass(frozen=True)
class ModelFile:
    """A model that takes one picture (1, 3, size, size) and gives a vector.

    Parameters
    ----------
    sha256 : str
        Of the file, as 64 hexadecimal digits.
    session : object
        Of ONNX Runtime; several threads may ask it at a time.
    takes, gives : str
        Names of the input and of the output.
    is_first : bool
        Whether the output is the model's first.
    dimension : int
        How many numbers it gives.
    """

    sha256: str
    session: Any
    takes: str
    gives: str
    is_first: bool
    dimension: int

    def ask(self, numbers: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give the vector of one picture, (1, 3, size, size), as numbers (dimension,)."""
        return np.asarray(self.session.run([self.gives], {self.takes: numbers})[0], dtype=np.float32)[0]


def read_model(path: str, sha256: str, size: int, output: str) -> ModelFile:
    """Open a model file and find out what it takes and gives.

    Parameters
    ----------
    path : str
        The file.
    sha256 : str
        What the file must have; empty if any will do.
    size : int
        Side of the pictures it is to take.
    output : str
        Name of the output to take; empty for the first.

    Raises
    ------
    NotFound
        If there is no such file.
    BadInput
        If it is not such a model.
    """
    told = repr(path)
    data = _content(Path(path).expanduser(), told)
    found = hashlib.sha256(data).hexdigest()
    if sha256 and found != sha256:
        raise BadInput(
            f"the model {told} is another one than asked for: its SHA-256 starts with {found[:12]}, "
            f"asked for is {sha256[:12]}: give the file that made the gallery"
        )
    # The SHA-256 stands for the model in a gallery, so it must cover all of it.
    if b"location" in data and ELSEWHERE.search(data):
        raise BadInput(f"the model {told} keeps weights in other files: save it as one file")
    session = _session(data, told)
    takes = _input(session.get_inputs(), size, told)
    names = [one.name for one in session.get_outputs()]
    if output and output not in names:
        raise BadInput(f"the model {told} has no output {output!r}: choose one of {', '.join(names)}")
    gives = output or names[0]
    dimension = _dimension(session, takes, gives, size, told)
    return ModelFile(found, session, takes, gives, gives == names[0], dimension)


def _content(path: Path, told: str) -> bytes:
    try:
        if not path.is_file():
            raise NotFound(f"there is no model file {told}: give the path of an .onnx file")
        if path.stat().st_size > MOST_BYTES:
            raise BadInput(f"the model {told} has more than 2 GB, which no ONNX file of one piece has")
        data = path.read_bytes()
    except (OSError, ValueError) as reason:
        raise BadInput(f"the model {told} cannot be read: {reason}") from None
    if not data:
        raise BadInput(f"the model {told} is empty: give the path of an .onnx file")
    return data


def _session(data: bytes, told: str) -> Any:
    try:
        return open_session(without_prelu(data))
    except Exception as reason:  # its errors have no family
        raise BadInput(
            f"the model {told} is not an ONNX file that ONNX Runtime can use: {_first_line(reason)}"
        ) from None


def _input(inputs: Sequence[Any], size: int, told: str) -> str:
    if len(inputs) != 1:
        raise BadInput(f"the model {told} must take one input, a picture, but takes {len(inputs)}")
    [one] = inputs
    shape = list(one.shape)
    if one.type != "tensor(float)":
        raise BadInput(f"the model {told} must take 32-bit floats, but takes {one.type}")
    # A side that the model leaves open is a name or nothing.
    if len(shape) != 4 or (isinstance(shape[1], int) and shape[1] != 3):
        raise BadInput(f"the model {told} must take pictures as (batch, 3, height, width), but takes {shape}")
    if isinstance(shape[0], int) and shape[0] != 1:
        raise BadInput(f"the model {told} must take one picture at a time, but takes {shape[0]}")
    sides = [side for side in shape[2:] if isinstance(side, int)]
    if len(set(sides)) > 1:
        raise BadInput(f"the model {told} must take square pictures, but takes {sides[0]} x {sides[1]}")
    if sides and sides[0] != size:
        raise BadInput(
            f"the model {told} takes pictures of {sides[0]} x {sides[0]}, not {size} x {size}: "
            f"give size={sides[0]}"
        )
    return str(one.name)


def _dimension(session: Any, takes: str, gives: str, size: int, told: str) -> int:
    """How many numbers it gives, found by asking: shapes may be left open. Zeros are a gray picture."""
    try:
        [found] = session.run([gives], {takes: np.zeros((1, 3, size, size), dtype=np.float32)})
    except Exception as reason:
        raise BadInput(
            f"the model {told} cannot describe a picture of {size} x {size}: {_first_line(reason)}"
        ) from None
    numeric = isinstance(found, np.ndarray) and np.issubdtype(found.dtype, np.floating)
    if not numeric or found.ndim != 2 or found.shape[0] != 1 or not found.shape[1]:
        shape = found.shape if isinstance(found, np.ndarray) else type(found).__name__
        raise BadInput(
            f"the model {told} must give floats (1, dimension) for one picture, "
            f"but its output {gives!r} is {shape}: choose another by output=..."
        )
    return int(found.shape[1])


def _first_line(reason: Exception) -> str:
    # "[ONNXRuntimeError] : 7 : INVALID_PROTOBUF : Failed to load model because protobuf parsing failed."
    lines = str(reason).strip().splitlines() or [type(reason).__name__]
    return lines[0].rpartition(" : ")[2][:200].rstrip(".")
