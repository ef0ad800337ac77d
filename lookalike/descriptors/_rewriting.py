"""Networks rewritten so that they give the same vectors sooner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors._graph import Graph, Node, read_graph, write_graph

# Rewriting takes a few times the memory of a file: larger ones stay as they are.
MOST_BYTES = 2**29
# Operators whose result has as many dimensions as what they take first, and those that take several alike.
_ONE = {"AveragePool", "BatchNormalization", "Clip", "Dropout", "Identity", "LeakyRelu", "MaxPool", "PRelu"}
_ONE |= {"Relu", "Sigmoid"}
_SEVERAL = {"Add", "Div", "Mul", "Sub"}


def without_prelu(data: bytes) -> bytes:
    """Rewrite PReLU as two depthwise convolutions, which ONNX Runtime computes without leaving its layout.

    PReLU(x) = a x + (1 - a) ReLU(x), with one slope a for each channel. It holds up to rounding: 2e-6 of the
    length of a vector. ArcFace-like networks take 1.4 to 1.8 times as long without it. What is not
    certainly such a PReLU, of pictures in channels, stays as it is; so does what is no ONNX file.

    Parameters
    ----------
    data : bytes
        A model file.
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
        nodes += [
            Node("Relu", [taken], [positive]),
            Node("Conv", [taken, f"{below}_slopes"], [below], by_channel),
            Node("Conv", [positive, f"{above}_slopes"], [above], by_channel),
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
