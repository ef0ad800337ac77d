"""Appearance: likeness of drawn people to themselves and to others."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.ingest.tracks import look
from tests.ingest.drawn_frames import face


def test_a_face_is_like_itself_whatever_the_light() -> None:
    square = face(1, size=192)
    assert look(square).shape == (832,)
    assert look(square) @ look(square) == pytest.approx(1, abs=1e-5)
    assert look(square) @ look((square * 0.9).astype(np.uint8)) > 0.85


def test_people_are_more_like_themselves_turned_than_like_others() -> None:
    straight = [look(face(number, size=192)) for number in range(8)]
    turned = [look(face(number, yaw=15.0, size=192)) for number in range(8)]
    likeness = np.array(straight) @ np.array(turned).T
    assert (likeness.argmax(axis=1) == np.arange(8)).all()


def test_a_plain_square_is_like_nothing_by_its_patch() -> None:
    plain = look(np.full((192, 192, 3), 90, np.uint8))
    assert plain @ plain == pytest.approx(0.5)  # the colours alone


def test_by_hand() -> None:
    """Half black, half white, against its mirror image: the patches are opposite, the colours the same."""
    square = np.zeros((192, 192, 3), np.uint8)
    square[:, 96:] = 255
    assert look(square) @ look(square[:, ::-1]) == pytest.approx(-0.5 + 0.5, abs=1e-6)


def test_another_shape_is_refused() -> None:
    with pytest.raises(BadInput, match="aligned square"):
        look(np.zeros((96, 96, 3), np.uint8))
