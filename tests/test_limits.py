"""What is too much is refused in a sentence, or thinned: pixels, faces; who is left out is counted."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lookalike import atomic
from lookalike.errors import BadInput
from lookalike.ingest import sourceset
from lookalike.ingest.files import find_files
from lookalike.ingest.readers.npz import read_npz
from lookalike.ingest.sourceset import SourceSet, limited
from lookalike.similarities.contract import MOST_COMPARED
from lookalike.similarities.max_max import MaxMax
from tests import media


def test_a_huge_picture_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.npz"
    picture = np.zeros((1, 2001, 2001), dtype=np.uint8)
    np.savez_compressed(path, images=picture, image_set=[0], set_names=["a"])
    with pytest.raises(BadInput, match="2001 x 2001 pixels"):
        read_npz(path)


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [("MOST_FACES", 2, "3 faces"), ("MOST_NUMBERS", 3, "4 numbers"), ("MOST_SETS", 0, "more than 0 sets")],
)
def test_every_reader_has_limits(limit: str, value: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sourceset, limit, value)
    one = SourceSet("a", "x", ("1", "2", "3"), np.ones((3, 4), dtype=np.float32))
    with pytest.raises(BadInput, match=said):
        list(limited(iter([one])))


def test_the_pixels_of_a_set_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sourceset, "MOST_PIXELS_OF_A_SET", 199)
    one = SourceSet("a", "x", ("1", "2"), pictures=(np.zeros((10, 10), dtype=np.uint8),) * 2)
    with pytest.raises(BadInput, match="million pixels in all"):
        list(limited(iter([one])))


def test_a_large_set_is_thinned_before_its_faces_are_compared() -> None:
    count = 3 * MOST_COMPARED
    faces = np.zeros((count, 2))
    faces[:, 0], faces[:, 1] = 1.0, np.linspace(0, 0.9, count)
    found = MaxMax(samples=3).prepare(faces)
    assert found["chosen"].max() > 2 * MOST_COMPARED, "faces are numbered as in the whole set"
    for row, face in zip(found["faces"], found["chosen"], strict=True):
        expected = faces[face] / np.linalg.norm(faces[face])
        assert np.allclose(row, expected, atol=1e-4)


def test_who_is_left_out_is_named_or_counted(tmp_path: Path) -> None:
    media.photo(tmp_path)
    os.mkfifo(tmp_path / "pipe.jpg")
    os.mkfifo(tmp_path / "pipe")
    for name in (".hidden.jpg", "Thumbs.db", "notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    found = find_files(tmp_path)
    assert [Path(path).name for path, _ in found.failed] == ["pipe.jpg"]
    assert dict(found.others) == {
        "hidden or of the system": 2,
        "neither photos nor videos": 1,
        "no files (pipes, sockets, devices, lost links)": 1,
    }
    assert found.reasons.endswith("cannot be read: 1")


def test_folders_of_the_dead_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "temporary_place", lambda: tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = atomic.temporary_folder()
    dead = tmp_path / f"{atomic.TEMPORARY}dead"
    dead.mkdir()
    (dead / "canary").write_bytes(b"x")
    (tmp_path / "lookalike-other").mkdir()
    atomic.sweep_temporary()
    assert own.is_dir()
    assert not dead.exists()
    assert (tmp_path / "lookalike-other").is_dir()
    atomic.delete_tree(own)
    assert not own.exists()


def test_a_disk_without_any_place_for_temporary_files_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", nowhere)
    atomic.sweep_temporary()
