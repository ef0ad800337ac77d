"""Faces described by a model file of your own, in ONNX format."""

from __future__ import annotations

import hashlib
import importlib
import math
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors._network import (
    Threaded,
    give_back_memory,
    open_session,
    planes,
    square,
    without_prelu,
)
from lookalike.descriptors.contract import Picture, Vector
from lookalike.errors import BadInput, NotFound, is_positive, is_whole
from lookalike.resources import keep_runtime_quiet

# What the format itself allows a file that holds all its weights.
MOST_BYTES = 2**31 - 1
# How a tensor says that its numbers lie in another file: the key "location" of ONNX's external data. Tag and
# length may be written with more bytes than they need. A value called just that is taken for one too.
ELSEWHERE = re.compile(rb"(?:\x0a|\x8a\x80*\x00)(?:\x08|\x88\x80*\x00)location")


@dataclass(frozen=True)
class ModelFile:
    """A model that takes one picture (1, 3, size, size) and gives a vector of so many numbers.

    It is known by its SHA-256, as 64 hexadecimal digits, and asked by a session of ONNX Runtime, which
    several threads may do at a time; the names of its input and output, and whether that is the model's
    first.
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

    It must have the SHA-256, if one is given, and is to take pictures with sides of this size; the first
    output is taken unless another is named. Raises NotFound or BadInput if there is no such file, or it
    is no such model.
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


MOST_SIDE = 1024
_opening = threading.Lock()


class Onnx(Threaded):
    """What a network in a file says about a face, computed by ONNX Runtime.

    A picture is brought to `size` x `size`, gray becomes RGB, every value becomes ``(value - mean) / std``.
    The defaults are those of ArcFace [1]_ and most networks after it; where the model comes from, others may
    be told.

    Use models that you trust: a model is a program, though one that can only compute.

    Parameters
    ----------
    model : str
        The file. Without it nothing can be described.
    sha256 : str
        SHA-256 of the file, if it must be a certain one.
    size : int
        Side of the square picture that the model takes.
    mean, std : float
        Taken from every value, 0 to 255, and what it is then divided by.
    channels : str
        Order of the colours: ``rgb`` or ``bgr``.
    output : str
        Name of the output to take; the first if empty.
    same_person : float, optional
        Cosine from which two faces are almost surely one person, if you measured it.

    References
    ----------
    .. [1] J. Deng, J. Guo, N. Xue, S. Zafeiriou, "ArcFace: additive angular margin loss for deep face
       recognition", CVPR 2019.
    """

    stored_name = "onnx"
    takes_file = True
    # The 112 x 112 crop of ArcFace: the template of the aligned crop is its own, 1.5 times, moved by (12, 8).
    region = (12 / 192, 8 / 192, 180 / 192, 176 / 192)

    def __init__(
        self,
        model: str = "",
        sha256: str = "",
        size: int = 112,
        mean: float = 127.5,
        std: float = 127.5,
        channels: str = "rgb",
        output: str = "",
        same_person: float | None = None,
    ) -> None:
        self.model = model
        self.sha256 = sha256
        self.size = size
        self.mean = mean
        self.std = std
        self.channels = channels
        self.output = output
        self.same_person = same_person
        self._opened: ModelFile | None = None

    @property
    def model_file(self) -> str:  # type: ignore[override]
        """The file, by its whole path: it shall be found from any folder."""
        return os.path.abspath(self.model) if self.model else ""

    @property
    def dimension(self) -> int:
        """How many numbers the model gives."""
        return self._file().dimension

    @property
    def identity(self) -> str:
        """The SHA-256 of the model and how pictures are given to it; where the file lies does not matter."""
        sha256, output = self.sha256, self.output
        if self.model or not sha256:
            file = self._file()
            sha256, output = file.sha256, "" if file.is_first else file.gives
        self._check_options()
        how = f"size={self.size},mean={float(self.mean)},std={float(self.std)},channels={self.channels}"
        return f"onnx:sha256={sha256},{how},output={output}"

    def check(self) -> None:
        """Refuse options out of range, a missing library, and a file that is no such model."""
        self._file()

    def _vector(self, picture: Picture) -> Vector:
        file = self._file()
        vector = file.ask(self._numbers(picture))
        if vector.shape != (file.dimension,) or not np.isfinite(vector).all():
            raise BadInput(f"the model {str(self.model)!r} gives no finite numbers for this picture")
        return vector

    def _numbers(self, picture: Picture) -> NDArray[np.float32]:
        colours = square(picture, self.size)
        if self.channels == "bgr":
            colours = colours[:, :, ::-1]
        return (planes(colours) - np.float32(self.mean)) / np.float32(self.std)

    def _file(self) -> ModelFile:
        """The model, opened by whoever needs it first."""
        with _opening:
            if self._opened is None:
                self._opened = self._read()
                give_back_memory()
            return self._opened

    def _read(self) -> ModelFile:
        keep_runtime_quiet()
        try:
            importlib.import_module("onnxruntime")
        except ImportError:
            raise BadInput(
                "the descriptor onnx needs onnxruntime, which cannot be imported: "
                "pip install 'lookalike[onnx]'"
            ) from None
        self._check_options()
        if not self.model:
            which = (
                f"the model whose SHA-256 starts with {self.sha256[:12]}" if self.sha256 else "a model file"
            )
            raise BadInput(f"the descriptor onnx needs {which}: give it as --descriptor onnx:model=FILE")
        return read_model(self.model, self.sha256, self.size, str(self.output))

    def _check_options(self) -> None:
        # Options written as text become numbers where they look like numbers: an output may be called 683.
        if not isinstance(self.model, str) or set(self.model) & set(",\n\r"):
            raise BadInput(
                f"option 'model' of onnx must be the path of a file, without commas, which separate options, "
                f"and in one line, got {self.model!r}: rename it, or put ./ before a number"
            )
        if not isinstance(self.sha256, str) or not re.fullmatch("([0-9a-f]{64})?", self.sha256):
            raise BadInput(
                f"option 'sha256' of onnx must be 64 digits 0 to 9 and a to f, got {self.sha256!r}"
            )
        if not is_whole(self.size, 1, MOST_SIDE):
            raise BadInput(
                f"option 'size' of onnx must be a whole number from 1 to {MOST_SIDE}, got {self.size!r}"
            )
        if not _is_finite(self.mean):
            raise BadInput(f"option 'mean' of onnx must be a finite number, got {self.mean!r}")
        if not is_positive(self.std):
            raise BadInput(f"option 'std' of onnx must be a number greater than 0, got {self.std!r}")
        if self.channels not in ("rgb", "bgr"):
            raise BadInput(f"option 'channels' of onnx must be rgb or bgr, got {self.channels!r}")
        if not isinstance(self.output, str | int) or set(str(self.output)) & set(",\n\r"):
            raise BadInput(f"option 'output' of onnx must be a name without commas, got {self.output!r}")
        if self.same_person is not None and not (_is_finite(self.same_person) and abs(self.same_person) <= 1):
            raise BadInput(
                f"option 'same_person' of onnx must be a cosine, -1 to 1, got {self.same_person!r}"
            )


def _is_finite(given: Any) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
