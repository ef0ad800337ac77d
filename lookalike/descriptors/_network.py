"""Networks in ONNX format: read, rewritten to be quicker, written, and run on several threads.

Only what is changed is understood; every other field of a model, a graph or a node stays as it was.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import sys
import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike.descriptors.contract import Descriptor, Picture, Vector, checked_picture
from lookalike.kernels.protobuf import (
    BYTES,
    VARINT,
    Field,
    Pieces,
    content,
    pieces_of,
    read,
    varints,
    whole,
    write,
)
from lookalike.kernels.threads import in_order
from lookalike.resources import keep_runtime_quiet

# Numbers of the fields, as onnx.proto has them.
_MODEL: Final = {"ir_version": 1, "graph": 7, "opset": 8}
_GRAPH: Final = {"node": 1, "name": 2, "weights": 5, "input": 11, "output": 12}
_NODE: Final = {"input": 1, "output": 2, "name": 3, "operator": 4, "attribute": 5, "domain": 7}
_ATTRIBUTE: Final = {"name": 1, "number": 3, "numbers": 8, "type": 20}
_TENSOR: Final = {"dims": 1, "type": 2, "floats": 4, "int32s": 5, "int64s": 7, "name": 8, "raw": 9}
# What numbers of a tensor are, by its type, and in which field they lie if not raw.
_FLOAT, _INT8, _INT64 = 1, 3, 7
_TYPES: Final[dict[int, str]] = {_FLOAT: "<f4", _INT8: "<i1", _INT64: "<i8"}
_NUMBER, _NUMBERS = 2, 7  # types of an attribute
# Old enough for every ONNX Runtime and OpenCV that we allow.
_IR_VERSION, _OPSET = 8, 13

Array = NDArray[Any]


@dataclass
class Node:
    """One step: an operator, the names of what it takes and gives, and its whole-number attributes.

    Other attributes, and whatever else a node of a file has, are kept in `rest` as they were written.
    """

    operator: str
    takes: list[str]
    gives: list[str]
    numbers: dict[str, int | list[int]] = field(default_factory=dict)
    rest: list[Field] = field(default_factory=list)
    is_foreign: bool = False  # an operator that ONNX itself does not define


@dataclass
class Graph:
    """The steps of a model in order, its weights by name, the names of what it takes and gives.

    `around` and `fields` are what else the file holds, outside and inside the graph.
    """

    nodes: list[Node]
    weights: dict[str, Array]
    inputs: dict[str, Field]
    outputs: dict[str, Field]
    fields: list[Field] = field(default_factory=list)
    around: list[Field] = field(default_factory=list)


def read_graph(data: bytes) -> Graph:
    """Read a model; ValueError if this is no ONNX file.

    Weights of types other than float32, int8 and int64 stay in `Graph.fields`.
    """
    around = list(read(data))
    graphs = [one for one in around if one.number == _MODEL["graph"]]
    if len(graphs) != 1:
        raise ValueError("the file must hold one graph")
    found = Graph([], {}, {}, {}, around=[one for one in around if one.number != _MODEL["graph"]])
    for one in read(_bytes(graphs[0])):
        if one.number == _GRAPH["node"]:
            found.nodes.append(_read_node(one))
        elif one.number == _GRAPH["weights"]:
            named = _read_tensor(one)
            if named is None:
                found.fields.append(one)
            else:
                found.weights[named[0]] = named[1]
        elif one.number in (_GRAPH["input"], _GRAPH["output"]):
            side = found.inputs if one.number == _GRAPH["input"] else found.outputs
            [name] = [_text(part) for part in read(_bytes(one)) if part.number == 1]
            side[name] = one
        else:
            found.fields.append(one)
    return found


def write_graph(graph: Graph) -> bytes:
    """Write a model; what is not in `Graph` is written as it was read."""
    inside = [
        *(content(_GRAPH["node"], _written_node(node)) for node in graph.nodes),
        *graph.fields,
        *(content(_GRAPH["weights"], _written_tensor(*named)) for named in graph.weights.items()),
        *graph.inputs.values(),
        *graph.outputs.values(),
    ]
    return write([*graph.around, content(_MODEL["graph"], pieces_of(inside))])


def new_graph(
    nodes: Sequence[Node],
    weights: Mapping[str, Array],
    takes: tuple[str, Sequence[int]],
    gives: tuple[str, Sequence[int]],
) -> Graph:
    """Make a model of one input and one output of 32-bit floats, each a name and a shape."""
    around = [whole(_MODEL["ir_version"], _IR_VERSION), content(_MODEL["opset"], write([whole(2, _OPSET)]))]
    return Graph(
        list(nodes),
        dict(weights),
        {takes[0]: content(_GRAPH["input"], _written_value(*takes))},
        {gives[0]: content(_GRAPH["output"], _written_value(*gives))},
        [content(_GRAPH["name"], "network")],
        around,
    )


def _read_node(given: Field) -> Node:
    node = Node("", [], [])
    for one in read(_bytes(given)):
        if one.number == _NODE["operator"]:
            node.operator = _text(one)
        elif one.number in (_NODE["input"], _NODE["output"]):
            (node.takes if one.number == _NODE["input"] else node.gives).append(_text(one))
        elif one.number == _NODE["attribute"]:
            named = _read_attribute(one)
            if named is None:
                node.rest.append(one)
            else:
                node.numbers[named[0]] = named[1]
        else:
            node.is_foreign |= one.number == _NODE["domain"] and _text(one) not in ("", "ai.onnx")
            node.rest.append(one)
    return node


def _written_node(node: Node) -> bytes:
    attributes = []
    for name, value in node.numbers.items():
        listed = isinstance(value, list)
        attributes.append(
            write(
                [
                    content(_ATTRIBUTE["name"], name),
                    *(
                        whole(_ATTRIBUTE["numbers" if listed else "number"], one)
                        for one in (value if isinstance(value, list) else [value])
                    ),
                    whole(_ATTRIBUTE["type"], _NUMBERS if listed else _NUMBER),
                ]
            )
        )
    return write(
        [
            *(content(_NODE["input"], name) for name in node.takes),
            *(content(_NODE["output"], name) for name in node.gives),
            content(_NODE["operator"], node.operator),
            *(content(_NODE["attribute"], one) for one in attributes),
            *node.rest,
        ]
    )


def _read_attribute(given: Field) -> tuple[str, int | list[int]] | None:
    """Name and value of an attribute of whole numbers; None for any other."""
    name, several, numbers = "", False, []
    for one in read(_bytes(given)):
        if one.number == _ATTRIBUTE["name"]:
            name = _text(one)
        elif one.number == _ATTRIBUTE["number"]:
            numbers = [_whole(one)]
        elif one.number == _ATTRIBUTE["numbers"]:
            several = True
            numbers += varints(_bytes(one)) if one.kind == BYTES else [_whole(one)]
        elif one.number != _ATTRIBUTE["type"]:
            return None
    if not numbers:
        return None
    signed = [one - 2**64 if one >= 2**63 else one for one in numbers]
    return name, signed if several else signed[0]


def _read_tensor(given: Field) -> tuple[str, Array] | None:
    """Name and numbers of a tensor; None if they are of a type that nobody here reads."""
    name, kind, dims = "", 0, []
    typed: list[memoryview] = []
    raw: memoryview | None = None
    for one in read(_bytes(given)):
        if one.number == _TENSOR["name"]:
            name = _text(one)
        elif one.number == _TENSOR["type"]:
            kind = _whole(one)
        elif one.number == _TENSOR["dims"]:
            dims += varints(_bytes(one)) if one.kind == BYTES else [_whole(one)]
        elif one.number == _TENSOR["raw"]:
            raw = _bytes(one)
        elif one.number in (_TENSOR["floats"], _TENSOR["int32s"], _TENSOR["int64s"]) and one.kind == BYTES:
            typed.append(_bytes(one))
        else:
            return None
    if kind not in _TYPES:
        return None
    if raw is not None:
        numbers: Array = np.frombuffer(raw, dtype=_TYPES[kind])
    elif kind == _FLOAT:
        numbers = np.frombuffer(b"".join(typed), dtype="<f4")
    else:
        # Numbers below zero are written as 64-bit numbers.
        numbers = np.array([n for one in typed for n in varints(one)], dtype=np.uint64)
        numbers = numbers.astype(np.int64).astype(_TYPES[kind])
    if numbers.size != math.prod(dims):
        raise ValueError(f"the weights {name!r} are {numbers.size} numbers for a shape of {dims}")
    return name, numbers.reshape(dims)


def _written_tensor(name: str, numbers: Array) -> Pieces:
    [kind] = [kind for kind, written in _TYPES.items() if np.dtype(written) == numbers.dtype]
    raw = np.ascontiguousarray(numbers, dtype=_TYPES[kind]).reshape(-1).view(np.uint8)
    return pieces_of(
        [
            *(whole(_TENSOR["dims"], side) for side in numbers.shape),
            whole(_TENSOR["type"], kind),
            content(_TENSOR["name"], name),
            content(_TENSOR["raw"], raw.data),
        ]
    )


def _written_value(name: str, shape: Sequence[int]) -> bytes:
    sides = write([content(1, write([whole(1, side)])) for side in shape])
    tensor = write([whole(1, _FLOAT), content(2, sides)])
    return write([content(1, name), content(2, write([content(1, tensor)]))])


def _bytes(given: Field) -> memoryview:
    if given.kind != BYTES or isinstance(given.value, int | list):
        raise ValueError("a field of the file is written in another way than ONNX writes it")
    return memoryview(given.value)


def _whole(given: Field) -> int:
    if given.kind != VARINT or not isinstance(given.value, int):
        raise ValueError("a field of the file is written in another way than ONNX writes it")
    return given.value


def _text(given: Field) -> str:
    return bytes(_bytes(given)).decode()


# Networks rewritten so that they give the same vectors sooner.

# Rewriting takes a few times the memory of a file: larger ones stay as they are.
MOST_BYTES = 2**29
# Operators whose result has as many dimensions as what they take first, and those that take several alike.
_ONE = {"AveragePool", "BatchNormalization", "Clip", "Dropout", "Identity", "LeakyRelu", "MaxPool", "PRelu"}
_ONE |= {"Relu", "Sigmoid"}
_SEVERAL = {"Add", "Div", "Mul", "Sub"}


def without_prelu(data: bytes) -> bytes:
    """Rewrite PReLU as two depthwise convolutions, which ONNX Runtime computes without leaving its layout.

    PReLU(x) = a x + (1 - a) ReLU(x), with one slope a for each channel. It holds up to rounding: 2e-6 of
    the length of a vector. ArcFace-like networks take 1.4 to 1.8 times as long without it. What is not
    certainly such a PReLU, of pictures in channels, stays as it is; so does what is no ONNX file.
    """
    if b"PRelu" not in data or len(data) > MOST_BYTES:
        return data
    try:
        graph = read_graph(data)
    except ValueError:
        return data  # whoever opens it says what is wrong with it
    split_prelu(graph)
    return write_graph(graph)


def split_prelu(graph: Graph) -> None:
    """Rewrite every PReLU of a graph, in place; see `without_prelu`."""
    nodes: list[Node] = []
    pictures: set[str] = set()  # names of what is (batch, channels, height, width)
    for node in graph.nodes:
        if _gives_picture(node, graph, pictures):
            pictures.add(node.gives[0])
        slopes = _slopes(node, graph)
        if slopes is None or node.takes[0] not in pictures:
            nodes.append(node)
            continue
        [taken, _], [given] = node.takes, node.gives
        positive, below, above = (f"{given}/{part}" for part in ("positive", "below", "above"))
        for name, weights in ((f"{below}_slopes", slopes), (f"{above}_slopes", 1 - slopes)):
            graph.weights[name] = weights.reshape(-1, 1, 1, 1)
        by_channel: dict[str, int | list[int]] = {"group": slopes.size, "kernel_shape": [1, 1]}
        upper = [
            Node("Relu", [taken], [positive]),
            Node("Conv", [positive, f"{above}_slopes"], [above], by_channel),
        ]
        if slopes.max() <= 1:
            # The same to the last bit, and computed in one step: a ReLU behind a convolution.
            upper = [
                Node("Conv", [taken, f"{above}_slopes"], [positive], by_channel),
                Node("Relu", [positive], [above]),
            ]
        nodes += [
            *upper,
            Node("Conv", [taken, f"{below}_slopes"], [below], by_channel),
            Node("Add", [below, above], [given]),
        ]
    graph.nodes = nodes


def _gives_picture(node: Node, graph: Graph, pictures: set[str]) -> bool:
    """Whether what a node gives first certainly has four dimensions."""
    if node.is_foreign or not node.takes or not node.gives:
        return False
    first, *others = node.takes
    if node.operator == "Conv":
        return any(graph.weights[name].ndim == 4 for name in others[:1] if name in graph.weights)
    if node.operator in _SEVERAL:
        known = [
            name in pictures or (name in graph.weights and graph.weights[name].ndim <= 4) for name in others
        ]
        return first in pictures and all(known)
    return node.operator in _ONE and first in pictures


def _slopes(node: Node, graph: Graph) -> NDArray[np.float32] | None:
    """The slopes of a PReLU that has one for each of several channels; None for everything else."""
    if node.operator != "PRelu" or node.is_foreign or len(node.takes) != 2 or len(node.gives) != 1:
        return None
    slopes = graph.weights.get(node.takes[1])
    if slopes is None or slopes.dtype != np.float32:
        return None
    shape = slopes.shape[1:] if slopes.ndim == 4 and slopes.shape[0] == 1 else slopes.shape
    return slopes if len(shape) == 3 and shape[0] > 1 and shape[1:] == (1, 1) else None


def fold_weights(graph: Graph) -> None:
    """Compute what depends on weights alone, in place: weights kept as bytes with scales become floats.

    What is no picture is no longer told among the inputs, and weights that nobody uses any more are dropped.
    """
    nodes = []
    for node in graph.nodes:
        known = [graph.weights[name] for name in node.takes if name in graph.weights]
        if node.operator == "DequantizeLinear" and len(known) == 3:
            graph.weights[node.gives[0]] = _dequantised(*known)
        elif node.operator == "Reshape" and len(known) == 2:
            graph.weights[node.gives[0]] = known[0].reshape(known[1])
        else:
            nodes.append(node)
    used = {name for node in nodes for name in node.takes}
    graph.nodes = nodes
    graph.weights = {name: weights for name, weights in graph.weights.items() if name in used}
    graph.inputs = {name: graph.inputs[name] for name in graph.inputs if name in used - set(graph.weights)}


def _dequantised(
    numbers: NDArray[np.int8], scales: NDArray[np.float32], zeros: NDArray[np.int8]
) -> NDArray[np.float32]:
    """Scale numbers by blocks: each scale is for as many neighbours along the last axis."""
    blocks = numbers.reshape(*scales.shape, -1).astype(np.float32)
    return ((blocks - zeros[..., None]) * scales[..., None]).reshape(numbers.shape)


Numbers = NDArray[np.float32]
# Gives the vector of one picture (1, 3, side, side); several threads may ask at a time.
Network = Callable[[Numbers], Numbers]
Model = TypeVar("Model")


class Once(Generic[Model]):
    """A model that whoever needs it first loads, once a process, on any thread; a failure is not kept."""

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

    The graph is known to work; it is rewritten for whoever computes it, and its weights are taken out.
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

    No library of custom operators is registered, so a model that needs one is refused, and no format but
    ONNX is read. Raises ImportError if ONNX Runtime is not installed, and any Exception if it cannot use
    the model: its errors have no family.
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
        """Ask the network about one face, cut as it expects; it is stretched to a square.

        Raises BadInput or NotFound if the network or an option is missing or wrong, or the picture
        cannot be used.
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
