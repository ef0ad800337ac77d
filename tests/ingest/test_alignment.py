"""Alignment: transforms worked by hand, and drawn faces that end where the template says."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lookalike.errors import BadInput
from lookalike.ingest.align import SIDE, TEMPLATE, align, encode_square, similarity
from lookalike.ingest.detect import Detector
from tests.ingest.drawn_frames import face, frame

pytest.importorskip("cv2")


def moved(scale: float, angle: float, shift: tuple[float, float]) -> np.ndarray:
    """The template's landmarks in a picture where the face is `scale` times as large, turned, and moved."""
    turn = scale * np.exp(1j * math.radians(angle))
    points = turn * (TEMPLATE @ (1, 1j)) + complex(*shift)
    return np.column_stack([points.real, points.imag])


def test_the_template_is_the_one_of_arcface_enlarged() -> None:
    assert TEMPLATE.shape == (5, 2)
    np.testing.assert_allclose(TEMPLATE[2], [56.0252 * 1.5 + 12, 71.7366 * 1.5 + 8])
    assert (TEMPLATE > 0).all()
    assert (TEMPLATE < SIDE).all()


def test_a_face_on_the_template_stays() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    np.testing.assert_array_equal(align(picture, TEMPLATE), picture)
    np.testing.assert_array_equal(align(picture[:, :, 0], TEMPLATE)[:, :, 2], picture[:, :, 0])


def test_a_shift_by_whole_pixels_moves_pixels() -> None:
    picture = np.random.default_rng(1).integers(0, 256, (300, 260, 3), dtype=np.uint8)
    np.testing.assert_array_equal(align(picture, TEMPLATE + np.array([40, 70])), picture[70:262, 40:232])
    outside = align(picture, TEMPLATE - np.array([10, 0]))
    assert not outside[:, :10].any()  # black where the picture does not reach
    np.testing.assert_array_equal(outside[:, 10:], picture[:192, :182])


def test_blocks_are_averaged() -> None:
    """A face three times as large: every pixel of the square is the mean of nine."""
    picture = np.random.default_rng(2).integers(0, 256, (576, 576, 3), dtype=np.uint8)
    means = picture.reshape(192, 3, 192, 3, 3).mean(axis=(1, 3))
    square = align(picture, TEMPLATE * 3 + 1)  # the centre of the first block is pixel 1
    np.testing.assert_allclose(square, means, atol=1.01)


def test_no_patterns_that_are_not_there() -> None:
    """Fine stripes, seen from ten times as far, are gray; without averaging they would be black or white."""
    stripes = np.zeros((2000, 2000, 3), np.uint8)
    stripes[:, ::2] = 255
    square = align(stripes, moved(10, 0, (0, 0)))
    assert np.abs(square[5:-5, 5:-5].astype(int) - 127).max() <= 2


@given(st.floats(0.2, 12), st.floats(-180, 180), st.floats(-500, 500), st.floats(-500, 500))
def test_the_similarity_is_undone(scale: float, angle: float, x: float, y: float) -> None:
    there = moved(scale, angle, (x, y))
    move = similarity(there)
    np.testing.assert_allclose(there @ move[:, :2].T + move[:, 2], TEMPLATE, atol=1e-6)
    assert np.linalg.det(move[:, :2]) == pytest.approx(scale**-2)


def test_least_squares() -> None:
    """Landmarks that do not fit: no nearby similarity fits better."""
    landmarks = TEMPLATE * 1.3 + np.random.default_rng(3).normal(0, 5, (5, 2))
    best = similarity(landmarks)

    def error(move: np.ndarray) -> float:
        return float(((landmarks @ move[:, :2].T + move[:, 2] - TEMPLATE) ** 2).sum())

    for turn, slant, x, y in np.vstack([np.eye(4), -np.eye(4)]) * 1e-3:
        assert error(best) < error(best + np.array([[turn, -slant, x], [slant, turn, y]]))


def test_drawn_faces_end_on_the_template() -> None:
    detector = Detector()
    for number, size in ((0, 64), (1, 96), (2, 200), (3, 600)):
        picture = frame((face(number, size=size), 30, 20), height=size + 80, width=size + 100)
        square = align(picture, detector.find(picture)[0].landmarks)
        again = detector.find(square)[0]
        # The detector itself is no surer of a drawn landmark than this.
        assert np.abs(again.landmarks - TEMPLATE).max() < 16, size
        assert np.abs(again.landmarks.mean(axis=0) - TEMPLATE.mean(axis=0)).max() < 6, size


def test_a_tilted_head_stands_upright() -> None:
    picture = frame((face(1), 120, 60))
    turned = np.ascontiguousarray(np.rot90(picture))
    landmarks = Detector().find(picture)[0].landmarks
    upright = align(picture, landmarks)
    # A quarter turn against the clock takes (x, y) to (y, width - 1 - x).
    same = align(turned, np.column_stack([landmarks[:, 1], 319 - landmarks[:, 0]]))
    assert np.abs(upright.astype(int) - same).mean() < 1.5


@pytest.mark.parametrize(
    "wrong",
    [
        np.ones((5, 2)),
        np.full((5, 2), np.nan),
        np.full((5, 2), 1e300),
        TEMPLATE[:4],
        np.where(np.arange(10).reshape(5, 2) == 3, np.inf, TEMPLATE),
    ],
)
def test_landmarks_of_no_face_are_refused(wrong: np.ndarray) -> None:
    with pytest.raises(BadInput, match="landmarks"):
        align(np.zeros((200, 200, 3), np.uint8), wrong)


def test_landmarks_away_from_the_picture_are_refused() -> None:
    with pytest.raises(BadInput, match="away from the picture"):
        align(np.zeros((50, 50, 3), np.uint8), TEMPLATE + 1000)


def test_a_square_is_kept_small_and_nearly_the_same() -> None:
    picture = face(1, size=192)
    kept = encode_square(picture)
    assert len(kept) < 8000
    with Image.open(io.BytesIO(kept)) as image:
        assert image.format == "WEBP"
        assert np.abs(np.asarray(image.convert("RGB")).astype(int) - picture).mean() < 5
    assert encode_square(picture) == kept
