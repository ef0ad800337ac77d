"""Deep: a face as 128 numbers of a network that was trained to tell people apart."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from lookalike.descriptors.contract import Descriptor, Picture, Vector, checked_picture
from lookalike.errors import BadInput

LANDMARKS = "shape_predictor_5_face_landmarks.dat"
NETWORK = "dlib_face_recognition_resnet_model_v1.dat"
# What the network was trained on: side in pixels, and room around the landmarks as a share of the face.
SIDE, ROOM = 150, 0.25
# Where the face lies in such a crop: the box, as shares of the side, in which its landmarks are looked for.
BOX = (0.05, 0.043, 0.964, 0.957)


class Deep(Descriptor):
    """The ResNet of dlib [1]_ with 29 layers: 128 numbers a face.

    The five landmarks of dlib are looked for in the picture, and the crop on which the network was trained is
    cut by them: small differences in how a face was aligned are put right. The picture should show what such
    a crop shows, from the forehead to below the mouth; gray becomes RGB.

    A face takes about 0.1 s on one processor. dlib lets no second thread of a process compute meanwhile.

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

    @property
    def dimension(self) -> int:
        """How many numbers describe a face."""
        return 128

    def check(self) -> None:
        """Say what to install if dlib or its models are missing."""
        _models()

    def describe(self, picture: Picture) -> Vector:
        """Ask the network about one face.

        Parameters
        ----------
        picture : uint8 array (height, width) or (height, width, 3)
            It is stretched to a square.

        Returns
        -------
        float32 array (128,)
            Of length 1.2 to 1.7.

        Raises
        ------
        BadInput
            If dlib is missing or the picture cannot be used.
        """
        picture = checked_picture(picture)
        image = Image.fromarray(np.ascontiguousarray(picture)).convert("RGB")
        whole = np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BILINEAR))
        dlib, landmarks, network = _models()
        # The network keeps what it computed last: one at a time.
        with _asking:
            box = dlib.rectangle(*(round(share * SIDE) for share in BOX))
            chip = dlib.get_face_chip(whole, landmarks(whole, box), SIDE, ROOM)
            return np.array(network.compute_face_descriptor(chip), dtype=np.float32)


_asking = threading.Lock()
_loading = threading.Lock()


class _Models(NamedTuple):
    dlib: Any
    landmarks: Any
    network: Any


def _models() -> _Models:
    with _loading:
        return _loaded()


@cache
def _loaded() -> _Models:
    """Load the models, once a process: a failure is not kept.

    Raises
    ------
    BadInput
        If dlib or the files are missing.
    """
    try:
        dlib = importlib.import_module("dlib")
    except ImportError:
        raise BadInput(_needs("dlib, which cannot be imported")) from None
    # Its code is not run: it imports what Python no longer brings along.
    package = importlib.util.find_spec("face_recognition_models")
    if package is None or not package.origin:
        raise BadInput(_needs("face_recognition_models, which is not installed"))
    folder = Path(package.origin).parent / "models"
    try:
        landmarks = dlib.shape_predictor(str(folder / LANDMARKS))
        return _Models(dlib, landmarks, dlib.face_recognition_model_v1(str(folder / NETWORK)))
    except RuntimeError as reason:
        raise BadInput(
            _needs(f"the files of face_recognition_models, which cannot be read ({reason})")
        ) from None


def _needs(what: str) -> str:
    return f"the descriptor deep needs {what}: pip install 'lookalike[footage]'"
