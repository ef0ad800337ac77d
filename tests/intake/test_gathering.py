"""Gathering: tracks are described on several threads, as if one had described them one after the other."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike.descriptors.contract import Descriptor, Picture, Vector
from lookalike.errors import BadInput
from lookalike.intake.files import find_files
from lookalike.intake.gathering import Gathered, gather
from lookalike.intake.seen import Settings
from lookalike.intake.workers import Workers
from lookalike.worlds.footage import draw_footage, write_footage
from tests import media

pytest.importorskip("cv2")


class Means(Descriptor):
    """The mean colour of a face; some are refused."""

    def __init__(self, refused: int = -1) -> None:
        self.refused = refused
        self.seen: list[int] = []
        self._counting = threading.Lock()

    @property
    def dimension(self) -> int:
        return 3

    def describe(self, picture: Picture) -> Vector:
        with self._counting:
            self.seen.append(threading.get_ident())
            if len(self.seen) == self.refused:
                raise BadInput("this face cannot be described")
        return picture.mean(axis=(0, 1)).astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    drawn = draw_footage(4, 9.0, size=(320, 180), rate=10.0)
    write_footage(tmp_path / "film.mp4", drawn.frames(), drawn.rate)
    media.photo(tmp_path)
    (tmp_path / "zzz.mp4").write_bytes((tmp_path / "film.mp4").read_bytes()[:3000])
    return tmp_path


def gathered(folder: Path, part: Descriptor) -> list[Gathered]:
    files = find_files(folder).media
    with Workers(Settings(), 1) as workers:
        return [told for _, told in gather(workers, files, part) if isinstance(told, Gathered)]


def told(found: list[Gathered]) -> list[Any]:
    return [[(track.number, track.pictures, faces.tolist()) for track, faces in one.tracks] for one in found]


def test_the_number_of_threads_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", "1")
    alone, part = gathered(folder, Means()), Means()
    monkeypatch.setenv("LOOKALIKE_THREADS", "3")
    several = gathered(folder, part)
    assert told(alone) == told(several)
    assert [one.reason is None for one in several] == [True, True, False]
    assert len(several[0].tracks) > 2
    assert threading.get_ident() not in part.seen
    # Every face once.
    assert len(part.seen) == sum(len(faces) for one in several for _, faces in one.tracks)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("refused", [1, 40])
def test_a_face_that_cannot_be_described_refuses_its_file_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, threads: str, refused: int
) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", threads)
    film, photo, _ = gathered(folder, Means(refused))
    assert "this face cannot be described" in str(film.reason)
    assert not film.tracks
    assert photo.reason is None
    assert len(photo.tracks) == 1
