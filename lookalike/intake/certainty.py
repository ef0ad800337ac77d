"""Certainty: which faces of a photo are sure enough to be kept.

A track of a film is dropped if the detector was never sure of it (`UNSURE`). A photo is looked at only once,
so its faces have to be sure by themselves: of 191 found in 84 real photos five were not, among them a coffee
machine and a shoulder. YuNet is unsure of faces that fill a large picture, too, or misses them, and knows
them better in a smaller one (a portrait, .64 at 1280 pixels and .91 at 640): so where it is unsure, or finds
nobody, it looks again at half the size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.intake.detector import Detector, Found
from lookalike.sighting import UNSURE

# Two boxes that overlap by more than this (intersection over union) are of one face.
SAME_FACE = 0.4


def sure_faces(picture: NDArray[np.uint8], detector: Detector, again: Detector) -> list[Found]:
    """Find the faces of a photo of which one of two detectors is sure.

    Parameters
    ----------
    picture : uint8 array (height, width, 3) or (height, width)
        RGB or gray.
    detector : Detector
        Looks first.
    again : Detector
        Looks where the first is unsure of somebody, or finds nobody; it reduces pictures further.

    Returns
    -------
    list of Found
        From left to right, nobody twice.
    """
    found = detector.find(picture)
    sure = [face for face in found if face.score >= UNSURE]
    if (found and len(sure) == len(found)) or max(picture.shape[:2]) <= again.longest:
        return sure
    for face in again.find(picture):
        if face.score >= UNSURE and all(_overlap(face, other) <= SAME_FACE for other in sure):
            sure.append(face)
    return sorted(sure, key=lambda face: (face.box, face.score))


def _overlap(one: Found, other: Found) -> float:
    """Intersection over union of the boxes of two faces."""
    first, second = np.array(one.box), np.array(other.box)
    start = np.maximum(first[:2], second[:2])
    end = np.minimum(first[:2] + first[2:], second[:2] + second[2:])
    common = float(np.clip(end - start, 0, None).prod())
    return common / max(float(first[2:].prod() + second[2:].prod()) - common, 1e-9)
