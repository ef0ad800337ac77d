"""Faces described by a model file of your own, in ONNX format."""

from __future__ import annotations

import importlib
import math
import os
import re
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors._model_file import ModelFile, read_model
from lookalike.descriptors._network import give_back_memory, planes, square
from lookalike.descriptors._threaded import Threaded
from lookalike.descriptors.contract import Picture, Vector
from lookalike.errors import BadInput
from lookalike.parameters import is_positive, is_whole

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
