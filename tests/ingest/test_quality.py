"""Quality: what is measured of a face moves the right way, and only by what it is about."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.faceset import Sighting
from lookalike.ingest.align import TEMPLATE, align, judge, turn
from lookalike.ingest.detect import Detector
from tests.ingest.drawn_frames import face, frame

cv2 = pytest.importorskip("cv2")

BOX = (10.0, 20.0, 80.0, 90.0)
PEOPLE = range(6)


def judged(square: np.ndarray) -> Sighting:
    return judge(square, TEMPLATE, BOX, 0.9, 1.5)


def test_what_is_given_is_passed_on() -> None:
    seen = judged(face(0, size=192))
    assert (seen.box, seen.score, seen.time) == (BOX, 0.9, 1.5)
    assert judge(face(0, size=192), TEMPLATE, BOX, 0.9).time is None


@pytest.mark.parametrize("number", PEOPLE)
def test_blur_takes_sharpness(number: int) -> None:
    square = face(number, size=192)
    blurred = [square, *(cv2.GaussianBlur(square, (0, 0), sigma) for sigma in (2, 4, 8, 16))]
    sharpness = [judged(one).sharpness for one in blurred]
    assert sharpness == sorted(sharpness, reverse=True)
    assert len(set(sharpness)) == len(sharpness)
    assert "blurred" not in judged(square).weaknesses
    assert "blurred" in judged(blurred[-1]).weaknesses
    assert all(0 < one < 1 for one in sharpness)


@pytest.mark.parametrize("number", PEOPLE)
def test_few_pixels_take_sharpness(number: int) -> None:
    found = []
    for side in (192, 96, 48, 24):
        picture = cv2.resize(face(number, size=192), (side, side), interpolation=cv2.INTER_AREA)
        scale = side / 192
        found.append(judged(align(picture, (TEMPLATE + 0.5) * scale - 0.5)).sharpness)
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.8 * found[0]


def test_brightness_does_not_change_sharpness() -> None:
    for number in PEOPLE:
        square = face(number, size=192)
        dim = (square * 0.4 + 30).astype(np.uint8)
        assert judged(dim).sharpness == pytest.approx(judged(square).sharpness, abs=0.02)


def test_exposure_by_hand() -> None:
    square = np.zeros((192, 192, 3), np.uint8)
    assert judged(square).exposure == 0
    assert judged(square).sharpness == 0
    assert judged(square + np.uint8(255)).exposure == pytest.approx(1)
    square[:, :, 1] = 255  # green is 587 thousandths of the luma
    assert judged(square).exposure == pytest.approx(0.587)
    square[48:174, 36:156] = 51  # only the face counts
    assert judged(square).exposure == pytest.approx(0.2)
    assert "dark" in judged(np.full((192, 192, 3), 20, np.uint8)).weaknesses


def test_turn_by_hand() -> None:
    eyes_and_nose = np.array([[0, 0], [40, 0], [20, 25], [5, 50], [35, 50]], dtype=float)
    assert turn(eyes_and_nose) == 0
    eyes_and_nose[2] = 25, 25  # a quarter of half the distance beside the middle
    assert turn(eyes_and_nose) == pytest.approx(0.25)
    eyes_and_nose[2] = 15, 60
    assert turn(eyes_and_nose) == pytest.approx(0.25)
    angle = math.radians(30)
    tilt = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    assert turn(eyes_and_nose @ tilt.T * 3 + 7) == pytest.approx(0.25)
    eyes_and_nose[2] = 55, 25
    assert turn(eyes_and_nose) == 1
    assert turn(np.zeros((5, 2))) == 1


def test_a_head_that_turns() -> None:
    detector = Detector()
    found = {yaw: detector.find(frame((face(2, yaw, 160), 60, 40)))[0].landmarks for yaw in (0.0, 20.0, 40.0)}
    assert turn(found[0.0]) < turn(found[20.0]) < turn(found[40.0])
    assert turn(found[0.0]) < 0.25


def test_another_shape_is_refused() -> None:
    with pytest.raises(BadInput, match="aligned square"):
        judged(face(0, size=96))
