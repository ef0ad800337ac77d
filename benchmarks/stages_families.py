"""Further families of galleries: weak descriptors, strong light, near copies, mixed qualities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.stages_shapes import Photos
from lookalike import registry

Counts = dict[str, tuple[int, ...]]

PICTURES = "actors_pictures"
# Preparations learn from 100 sets on, so no shape of pictures that are prepared is smaller.
OF_SIXTEEN: Counts = {
    "8x16": (16,) * 8,
    "10x16": (16,) * 10,
    "20x12": (12,) * 20,
    "40x4": (4,) * 40,
    "uneven": (*[16] * 6, *[8] * 5, *[1] * 20),
}
OF_EIGHT: Counts = {
    "14x8": (8,) * 14,
    "20x8": (8,) * 20,
    "25x5": (5,) * 25,
    "40x3": (3,) * 40,
    "uneven": (*[8] * 10, *[3] * 10, *[1] * 20),
}
LIT: Counts = {
    "38x8": (8,) * 38,
    "10x16": (16,) * 10,
    "5x60": (60,) * 5,
    "20x30": (30,) * 20,
    "uneven": (60, 45, 30, *[8] * 10, *[1] * 20),
}
FRAMES: Counts = {
    "3x15": (15,) * 3,
    "10x15": (15,) * 10,
    "30x15": (15,) * 30,
    "60x5": (5,) * 60,
    "uneven": (*[15] * 5, *[5] * 10, *[1] * 30),
}
EXPRESSIONS: Counts = {
    "10x12": (12,) * 10,
    "20x9": (9,) * 20,
    "40x6": (6,) * 40,
    "80x3": (3,) * 80,
    "uneven": (*[12] * 5, *[6] * 10, *[1] * 30),
}
BLURRED: Counts = {
    "39x4": (4,) * 39,
    "20x4": (4,) * 20,
    "39x3": (3,) * 39,
    "39x2": (2,) * 39,
    "uneven": (*[4] * 12, *[2] * 12, *[1] * 15),
}


class Family(NamedTuple):
    """Galleries of one kind, one draw of each shape."""

    name: str
    words: str
    needs: str  # the file or folder among the data
    read: Callable[[Path], Photos]
    shapes: Counts
    faces: int = 1
    preparation: str = "none"


def families(data: Path) -> Iterator[Family]:
    """Every family whose pictures or embeddings are at hand."""
    return (one for one in FAMILIES if (data / one.needs).exists())


def pictures_of_people(path: Path) -> Photos:
    """Pictures in one folder for each person, described by `lbp`."""
    files = sorted(path.glob("*/*.jpg"))
    pictures = [np.asarray(Image.open(file).convert("L")) for file in files]
    return Photos(_described(pictures), np.array([file.parent.name for file in files]))


def pictures_of_sets(path: Path) -> Photos:
    """The pictures of a file, each by itself, described by `lbp`."""
    with np.load(path, allow_pickle=False) as arrays:
        return Photos(_described(list(arrays["images"])), _people(arrays))


def embeddings_of_sets(path: Path) -> Photos:
    """The embeddings of a file, each by itself."""
    with np.load(path, allow_pickle=False) as arrays:
        return Photos(arrays["embeddings"].astype(np.float32), _people(arrays))


def _people(arrays: np.lib.npyio.NpzFile) -> NDArray[np.str_]:
    return arrays["set_person"][arrays["image_set"]].astype(str)


def _described(pictures: list[NDArray[np.uint8]]) -> NDArray[np.float32]:
    return registry.build("descriptors", "lbp").describe_many(pictures)


def _default() -> str:
    return registry.part_class("descriptors", "lbp").prepared_by


_pictures, _sets = cache(pictures_of_people), cache(pictures_of_sets)
_YTF, _YALE, _CK = "ytf_dev.npz", "extyaleb_sets.npz", "ck48_sequences.npz"
FAMILIES = (
    Family("actors, LBP", "web photos, a weak descriptor as it is", PICTURES, _pictures, OF_SIXTEEN),
    Family("actors, LBP, pairs", "the same, two photos a set", PICTURES, _pictures, OF_EIGHT, 2),
    Family(
        "actors, LBP prepared",
        "the same photos with the default preparation",
        PICTURES,
        _pictures,
        OF_SIXTEEN,
        1,
        _default(),
    ),
    Family(
        "actors, LBP prepared, pairs",
        "the same, two photos a set",
        PICTURES,
        _pictures,
        OF_EIGHT,
        2,
        _default(),
    ),
    Family("Yale, LBP", "single photos under strong light", _YALE, _sets, LIT),
    Family("frames, LBP", "frames of YouTube Faces as sets of one: near copies", _YTF, _sets, FRAMES),
    Family("frames, dlib", "the same frames by deep embeddings", _YTF, embeddings_of_sets, FRAMES),
    Family("CK+, LBP", "frames of expressions as sets of one", _CK, _sets, EXPRESSIONS),
    Family(
        "34 pixels mixed",
        "half of the photos reduced to 34 pixels",
        "actors_mixed_34px_dev.npz",
        Photos.read,
        BLURRED,
    ),
    Family(
        "22 pixels mixed",
        "half of the photos reduced to 22 pixels",
        "actors_mixed_22px_dev.npz",
        Photos.read,
        BLURRED,
    ),
)
