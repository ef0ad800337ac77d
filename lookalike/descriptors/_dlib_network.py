"""The face network of dlib, read from its own file and written as ONNX.

The file holds, layer after layer from the picture on, a name, sizes and numbers. The order of the layers is
that of the network [1]_, so the numbers are all that has to be read.

References
----------
.. [1] D. King, "High quality face recognition with deep metric learning", blog.dlib.net, 2017.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors._graph import Graph, Node, new_graph

SIDE: Final = 150
# Taken from red, green and blue before they are divided.
MEANS: Final = np.array([122.782, 117.001, 104.298], dtype=np.float64)
SCALE: Final = 256.0
# Channels of the residual blocks and whether they halve the sides, from the picture on.
BLOCKS: Final = (
    *[(32, False)] * 3,
    *[(64, True), *[(64, False)] * 3],
    *[(128, True), *[(128, False)] * 2],
    *[(256, True), *[(256, False)] * 2],
    (256, True),
)
# Sides of what a block that halves takes; where its branch becomes smaller than its shortcut, by one, it is
# filled up with zeros.
_FILLED: Final = (8, 4)
# What a layer is called, then, for the matrix, 128 and 256, then the mark of a tensor. Behind it come four
# sizes, each with its number of bytes before it.
_LAYER: Final = re.compile(rb"(?P<kind>con_4|affine_|fc_2)(?:\x01\x80\x02\x00\x01)?\x01\x02", re.DOTALL)

Numbers = NDArray[np.float32]


def as_graph(data: bytes) -> Graph:
    """Make the network an ONNX graph that takes (1, 3, 150, 150), red, green, blue from 0 to 255.

    The affine layer behind each convolution, the means and the scale of the colours become part of the
    convolutions: the vectors are the same up to rounding, 5e-7.

    Parameters
    ----------
    data : bytes
        The file ``dlib_face_recognition_resnet_model_v1.dat``; whoever calls made sure that it is that.
    """
    layers = list(_layers(data))
    convolutions = [numbers for kind, numbers in layers if kind == "con_4"]
    affine = [numbers for kind, numbers in layers if kind == "affine_"]
    [matrix] = [numbers for kind, numbers in layers if kind == "fc_2"]
    return _Written(list(zip(convolutions, affine, strict=True))).graph(matrix)


class _Written:
    """The nodes and weights that have been written so far."""

    def __init__(self, pairs: list[tuple[Numbers, Numbers]]) -> None:
        self.pairs = iter(pairs)
        self.nodes: list[Node] = []
        self.weights: dict[str, NDArray[np.generic]] = {}

    def graph(self, matrix: Numbers) -> Graph:
        taken = self.step("Relu", self.convolved("picture", 3, 32, 7, 2))
        taken = self.step("MaxPool", taken, kernel_shape=[3, 3], strides=[2, 2])
        channels, side = 32, 35
        for wanted, halves in BLOCKS:
            branch = self.step("Relu", self.convolved(taken, channels, wanted, 3, 2 if halves else 1))
            branch = self.convolved(branch, wanted, wanted, 3, 1)
            if halves:
                taken = self.step("AveragePool", taken, kernel_shape=[2, 2], strides=[2, 2])
                taken = self.filled(taken, wanted - channels, 0)
                branch = self.filled(branch, 0, int(side in _FILLED))
                side //= 2
            taken = self.step("Relu", self.step("Add", branch, taken))
            channels = wanted
        taken = self.step("Flatten", self.step("GlobalAveragePool", taken))
        self.weights["matrix"] = matrix.reshape(256, 128)
        self.nodes.append(Node("MatMul", [taken, "matrix"], ["vector"]))
        takes, gives = ("picture", (1, 3, SIDE, SIDE)), ("vector", (1, 128))
        return new_graph(self.nodes, self.weights, takes, gives)

    def step(self, operator: str, *takes: str, **numbers: int | list[int]) -> str:
        """Write a node, and return the name of what it gives."""
        given = f"step_{len(self.nodes)}"
        self.nodes.append(Node(operator, list(takes), [given], dict(numbers)))
        return given

    def convolved(self, taken: str, channels: int, wanted: int, side: int, stride: int) -> str:
        """Write the next convolution, with the affine layer behind it."""
        (kernel, bias), (factor, shift) = (
            np.split(numbers.astype(np.float64), [-wanted]) for numbers in next(self.pairs)
        )
        kernel = kernel.reshape(wanted, channels, side, side) * factor[:, None, None, None]
        bias = bias * factor + shift
        if not self.weights:
            # The first takes colours; it has no border, so what is taken from each is the same everywhere.
            kernel /= SCALE
            bias -= kernel.sum(axis=(2, 3)) @ MEANS
        name = f"convolution_{len(self.weights)}"
        self.weights[name] = kernel.astype(np.float32)
        self.weights[f"{name}_bias"] = bias.astype(np.float32)
        edge = side // 2 if stride == 1 else 0
        return self.step(
            "Conv",
            taken,
            name,
            f"{name}_bias",
            kernel_shape=[side, side],
            strides=[stride, stride],
            pads=[edge] * 4,
        )

    def filled(self, taken: str, channels: int, sides: int) -> str:
        """Write zeros behind the channels, and to the right of and below everything."""
        if not (channels or sides):
            return taken
        name = f"filled_{len(self.weights)}"
        self.weights[name] = np.array([0, 0, 0, 0, 0, channels, sides, sides], dtype=np.int64)
        return self.step("Pad", taken, name)


def _layers(data: bytes) -> Iterator[tuple[str, Numbers]]:
    """Kinds and numbers of the layers that have any."""
    for found in _LAYER.finditer(data):
        place, total = found.end(), 1
        for _ in range(4):
            width = data[place]
            total *= int.from_bytes(data[place + 1 : place + 1 + width], "little")
            place += 1 + width
        yield found["kind"].decode(), np.frombuffer(data, dtype="<f4", count=total, offset=place)
