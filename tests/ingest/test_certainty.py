"""Certainty: what is unsure at both sizes is no face of a photo."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.faceset import UNSURE
from lookalike.ingest.detect import Detector, sure_faces
from tests.ingest.drawn_frames import face, frame

pytest.importorskip("cv2")
WHOLE, HALF = Detector(1280), Detector(640)


def unsure() -> np.ndarray:
    """A drawn face covered so far that the detector finds it, and is unsure."""
    for row in range(70, 40, -1):
        covered = face(1, size=120).copy()
        covered[row:] = 110
        picture = frame((covered, 80, 60))
        if 0.6 <= max((found.score for found in WHOLE.find(picture)), default=0.0) < UNSURE:
            return picture
    raise AssertionError("no part of the drawn face leaves the detector unsure")


def test_what_is_unsure_is_left_out_and_the_rest_kept() -> None:
    picture = unsure()
    assert len(WHOLE.find(picture)) == 1
    assert sure_faces(picture, WHOLE, HALF) == []
    both = np.hstack([picture, frame((face(0), 100, 60))])
    [kept] = sure_faces(both, WHOLE, HALF)
    assert kept.box[0] > 320


def test_faces_that_are_sure_are_those_of_one_look() -> None:
    picture = frame((face(0), 20, 60), (face(1), 190, 90))
    once, kept = WHOLE.find(picture), sure_faces(picture, WHOLE, HALF)
    assert [(one.box, one.score) for one in kept] == [(one.box, one.score) for one in once]
    assert len(kept) == 2


@pytest.mark.parametrize("person", range(4))
def test_a_face_that_fills_a_large_photo_is_found_once(person: int) -> None:
    picture = frame((face(person, size=1000), 140, 100), height=1200, width=1280)
    assert all(found.score < UNSURE for found in WHOLE.find(picture))
    [kept] = sure_faces(picture, WHOLE, HALF)
    assert kept.score >= UNSURE
    assert kept.box[2] > 400


def test_who_is_sure_is_not_found_again_at_the_other_size() -> None:
    """Somebody large of whom the detector is unsure, beside somebody small of whom it is sure."""
    picture = frame((face(1, size=1000), 240, 100), (face(2, size=200), 20, 900), height=1200, width=1280)
    assert len(sure_faces(picture, WHOLE, HALF)) == 2
