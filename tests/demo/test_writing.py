"""Writing: what is written can be read back, and what cannot be written is refused."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.demo.footage import CONTAINERS, draw_footage, write_footage
from lookalike.errors import BadInput, StorageFailed

SMALL: dict[str, Any] = {"size": (320, 180), "rate": 10.0}


@pytest.mark.parametrize("suffix", list(CONTAINERS))
def test_written_and_read_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"film{suffix.upper()}"
    frames = list(itertools.islice(draw_footage(seconds=2.2, **SMALL).frames(), 6))
    write_footage(path, frames, 12.5)
    times, read = _read(path)
    assert np.diff(times) == pytest.approx([0.08] * 5, abs=0.002)
    assert np.abs(read.astype(float) - np.stack(frames)).mean() < 5


def test_better_quality_is_nearer_and_longer(tmp_path: Path) -> None:
    frames = list(itertools.islice(draw_footage(seconds=2.2, **SMALL).frames(), 3))
    for quality in (10, 40):
        write_footage(tmp_path / f"{quality}.mp4", frames, quality=quality)
    assert (tmp_path / "10.mp4").stat().st_size > 2 * (tmp_path / "40.mp4").stat().st_size


@pytest.mark.parametrize(
    ("name", "shapes", "wrong", "says"),
    [
        ("film.xyz", [(4, 4, 3)], {}, "named .mp4"),
        ("film.mp4", [], {}, "got none"),
        ("film.mp4", [(5, 4, 3)], {}, "even"),
        ("film.mp4", [(4, 4)], {}, "even"),
        ("film.mp4", [(16, 16, 3), (32, 16, 3)], {}, "frame 1 has the size"),
        ("film.mp4", [(16, 16, 3)], {"rotation": 45}, "rotation 45"),
        ("film.mp4", [(16, 16, 3)] * 2, {"times": [0.0]}, "times has 1"),
    ],
)
def test_frames_that_cannot_be_written(
    tmp_path: Path, name: str, shapes: list[tuple[int, ...]], wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        write_footage(tmp_path / name, [np.zeros(shape, dtype=np.uint8) for shape in shapes], **wrong)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="cannot write the video"):
        write_footage(tmp_path / "none" / "film.mp4", [np.zeros((16, 16, 3), dtype=np.uint8)])


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(BadInput, match=r"pip install 'lookalike\[video\]'"):
        write_footage(tmp_path / "film.mp4", [])


def _read(path: Path) -> tuple[list[float], NDArray[np.uint8]]:
    import av

    with av.open(str(path)) as file:
        frames = list(file.decode(video=0))
    return [float(frame.time or 0) for frame in frames], np.stack(
        [frame.to_ndarray(format="rgb24") for frame in frames]
    )
