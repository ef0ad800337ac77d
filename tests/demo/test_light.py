"""Light: what the camera keeps."""

from __future__ import annotations

import numpy as np

from lookalike.demo.drawing import photographed
from lookalike.demo.people import View


def test_bytes_are_rounded_and_cut() -> None:
    picture = np.full((3, 2, 2), -5.0, dtype=np.float32)
    picture[1] = 99.6
    picture[2] = 400
    np.testing.assert_array_equal(photographed(picture, View()), np.broadcast_to((0, 100, 255), (2, 2, 3)))


def test_noise_has_its_strength() -> None:
    picture = np.full((3, 64, 64), 128, dtype=np.float32)
    grainy = photographed(picture, View(noise=10, grain=1)).astype(float)
    assert 9 < grainy.std() < 11
    assert abs(grainy.mean() - 128) < 1


def test_blur_keeps_the_mean() -> None:
    picture = np.zeros((3, 64, 64), dtype=np.float32)
    picture[:, 24:40, 24:40] = 200
    soft = photographed(picture, View(blur=0.03)).astype(float)
    assert soft.max() <= 200
    assert abs(soft.mean() - picture.mean()) < 0.5
