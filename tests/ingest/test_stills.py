"""Stills: photos and moments of films, read in this process and in a child."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike.demo.footage import write_footage
from lookalike.errors import BadInput, NotFound
from lookalike.ingest.reading import read_still_apart
from lookalike.ingest.video import read_still
from tests import media

LEVELS = (20, 60, 100, 140, 180, 220)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two frames a second, each brighter than the one before."""
    path = tmp_path_factory.mktemp("film") / "levels.mp4"
    write_footage(path, (np.full((90, 160, 3), level, np.uint8) for level in LEVELS), 2.0)
    return path


@pytest.mark.parametrize(
    ("time", "level"), [(None, 20), (0.0, 20), (0.49, 20), (0.5, 60), (1.9, 140), (2.5, 220), (60.0, 220)]
)
def test_the_frame_that_is_on_the_screen_is_read(film: Path, time: float | None, level: int) -> None:
    assert read_still(film, time).mean() == pytest.approx(level, abs=4)


def test_a_child_reads_the_same(film: Path, tmp_path: Path) -> None:
    np.testing.assert_array_equal(read_still_apart(film, 1.0), read_still(film, 1.0))
    media.face(120, 0).save(tmp_path / "photo.png")
    np.testing.assert_array_equal(
        read_still_apart(tmp_path / "photo.png"), read_still(tmp_path / "photo.png")
    )


def test_a_turned_film_is_turned_back(tmp_path: Path) -> None:
    assert read_still(media.rotated_video(tmp_path)).shape == (180, 320, 3)


def test_what_shows_nothing_is_refused(tmp_path: Path) -> None:
    for wrong, words in ((media.headless_video(tmp_path), "video"), (media.text(tmp_path), "not a picture")):
        with pytest.raises(BadInput, match=words):
            read_still_apart(wrong, 1.0)
    with pytest.raises(BadInput, match="no frame"):
        read_still_apart(media.empty_video(tmp_path), 1.0)
    with pytest.raises(NotFound, match="no file or folder"):
        read_still_apart(tmp_path / "nothing.mp4", 1.0)
