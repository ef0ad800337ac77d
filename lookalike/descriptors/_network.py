"""Networks in ONNX format, and who computes them: ONNX Runtime, or OpenCV where that is missing."""

from __future__ import annotations

import ctypes
import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike.descriptors._graph import Graph, write_graph
from lookalike.descriptors._rewriting import split_prelu
from lookalike.descriptors.contract import Picture

Numbers = NDArray[np.float32]
# Gives the vector of one picture (1, 3, side, side); several threads may ask at a time.
Network = Callable[[Numbers], Numbers]
Model = TypeVar("Model")


class Once(Generic[Model]):
    """A model that whoever needs it first loads, once a process, on any thread; a failure is not kept.

    Parameters
    ----------
    load : callable
        Loads it.
    """

    def __init__(self, load: Callable[[], Model]) -> None:
        self._load = load
        self._loading = threading.Lock()
        self._loaded: list[Model] = []

    def __call__(self) -> Model:
        """The model."""
        with self._loading:
            if not self._loaded:
                self._loaded.append(self._load())
                give_back_memory()
            return self._loaded[0]

    def forget(self) -> None:
        """Load it anew when it is needed again."""
        with self._loading:
            self._loaded.clear()


def open_network(graph: Graph) -> Network | None:
    """Open a network of one input and one output; None where neither ONNX Runtime nor OpenCV is installed.

    Parameters
    ----------
    graph : Graph
        A network that is known to work; it is rewritten for whoever computes it.
    """
    try:
        importlib.import_module("onnxruntime")
    except ImportError:
        return _by_opencv(write_graph(graph))
    split_prelu(graph)
    session = open_session(write_graph(graph))
    [takes], [gives] = session.get_inputs(), session.get_outputs()

    def ask(numbers: Numbers) -> Numbers:
        found: Numbers = session.run([gives.name], {takes.name: numbers})[0][0]
        return found

    return ask


def open_session(data: bytes) -> Any:
    """Load a model into ONNX Runtime, which computes its outputs on the processor.

    No library of custom operators is registered, so a model that needs one is refused, and no format
    but ONNX is read.

    Raises
    ------
    ImportError
        If ONNX Runtime is not installed.
    Exception
        If it cannot use the model: its errors have no family.
    """
    onnxruntime = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.load_model_format", "ONNX")
    # One thread a picture: sums do not depend on how many there are. Several pictures go on several threads.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # what is wrong is said by our own sentence
    # Every thread would keep a piece of memory as large as all steps together.
    options.enable_mem_pattern = False
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    # It keeps the file beside the weights, to open it once more by somebody else: there is nobody else.
    vars(session).pop("_model_bytes", None)
    return session


def give_back_memory() -> None:
    """Give back to the system what loading a model took and left: three times its size.

    The C library of GNU keeps it otherwise, for what may be asked for next; others give back by themselves.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _by_opencv(data: bytes) -> Network | None:
    try:
        cv2 = importlib.import_module("cv2")
    except ImportError:
        return None
    net, asking = cv2.dnn.readNetFromONNX(np.frombuffer(data, np.uint8)), threading.Lock()

    def ask(numbers: Numbers) -> Numbers:
        # It keeps what it was given last: one at a time.
        with asking:
            net.setInput(numbers)
            return np.array(net.forward()[0], dtype=np.float32)

    return ask


def square(picture: Picture, side: int) -> Picture:
    """Bring a picture, gray or RGB, to RGB of `side` x `side`."""
    colours = picture if picture.ndim == 3 else np.repeat(picture[:, :, None], 3, axis=2)
    if colours.shape[:2] == (side, side):
        return colours
    image = Image.fromarray(np.ascontiguousarray(colours))
    return np.asarray(image.resize((side, side), Image.Resampling.BILINEAR))


def planes(picture: Picture) -> Numbers:
    """Lay the colours of a picture (side, side, 3) one behind the other: (1, 3, side, side)."""
    return np.ascontiguousarray(picture.transpose(2, 0, 1)[None], dtype=np.float32)
