"""Networks in ONNX format, who computes them, and faces described by them on several threads."""

from __future__ import annotations

import ctypes
import importlib
import sys
import threading
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike.descriptors._graph import Graph, split_prelu, write_graph
from lookalike.descriptors.contract import Descriptor, Picture, Vector, checked_picture, keep_runtime_quiet
from lookalike.kernels.threads import in_order

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
        A network that is known to work; it is rewritten for whoever computes it, and its weights are taken
        out.
    """
    keep_runtime_quiet()
    try:
        importlib.import_module("onnxruntime")
    except ImportError:
        return _by_opencv(write_graph(graph))
    split_prelu(graph)
    data = write_graph(graph)
    # They would be in memory twice while the network is opened.
    graph.weights.clear()
    session = open_session(data)
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
    keep_runtime_quiet()
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


class Threaded(Descriptor):
    """A descriptor that several threads may ask at a time; vectors do not depend on how many there are."""

    def describe(self, picture: Picture) -> Vector:
        """Ask the network about one face.

        Parameters
        ----------
        picture : uint8 array (height, width) or (height, width, 3)
            Cut as the network expects; it is stretched to a square.

        Returns
        -------
        float32 array (dimension,)

        Raises
        ------
        BadInput
            If the network or an option is missing or wrong, or the picture cannot be used.
        NotFound
            If there is no file of such a name.
        """
        self.check()
        return self._vector(checked_picture(picture))

    @abstractmethod
    def _vector(self, picture: Picture) -> Vector:
        """What the network says of a picture, which is one."""

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe many faces, one a row; threads share them out, each picture is asked for alone."""
        vectors = np.empty((len(pictures), self.dimension), dtype=np.float32)
        rows = range(len(pictures))
        for row, vector in enumerate(in_order(partial(self.describe_one_of, pictures), rows)):
            vectors[row] = vector
        return vectors
