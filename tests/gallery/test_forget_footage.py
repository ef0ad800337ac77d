"""What was barred stays out of films and photos too, and so does who was barred."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lookalike import Gallery, add
from lookalike.gallery.forget import forget, unbar
from tests import media


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An album of two people, of whom one is in two photos."""
    folder = tmp_path / "archive"
    (folder / "album").mkdir(parents=True)
    for number, person in enumerate((0, 0, 1)):
        media.face(240 + 10 * number, person).save(folder / "album" / f"{number}.png")
    return folder


def test_barred_files_are_left_out_wherever_they_lie(archive: Path, tmp_path: Path) -> None:
    gallery = tmp_path / "g.gallery"
    add(gallery, [archive], media.DRAWN)
    with Gallery(gallery) as opened:
        receipt = forget(opened, ["album#1"], bar=True)
    assert receipt.gone.barred == {"file": 2, "set": 1, "face": 2}
    assert [Path(one).name for one in receipt.originals] == ["0.png", "1.png"]
    assert all(Path(one).exists() for one in receipt.originals)
    shutil.copy(archive / "album" / "0.png", archive / "copy.png")
    again = add(gallery, [archive], media.DRAWN)
    assert (again.added, again.grown, again.known) == ([], [], 1)
    assert sorted(Path(one).name for one in again.barred) == ["0.png", "1.png", "copy.png"]
    assert all("was left out: it was forgotten" in sentence for _, sentence in again.remarks)
    assert b"0.png" not in gallery.read_bytes(), "nor is it written down where they lie"
    with Gallery(gallery) as opened:
        unbar(opened, receipt.gone.event)
    # The copy is one of the two.
    assert add(gallery, [archive], media.DRAWN).files == 2


def test_a_barred_person_is_left_out_of_new_photos(archive: Path, tmp_path: Path) -> None:
    gallery = tmp_path / "g.gallery"
    add(gallery, [archive], media.DRAWN)
    with Gallery(gallery) as opened:
        forget(opened, ["album#1"], bar_alike=True)
    media.face(265, 0).save(archive / "album" / "8.png")
    media.face(265, 1).save(archive / "album" / "9.png")
    again = add(gallery, [archive], media.DRAWN)
    assert (again.added, again.grown) == ([], ["album#2"])
    assert sorted(Path(one).name for one in again.barred) == ["0.png", "1.png", "8.png"]
    [sentence] = [said for name, said in again.remarks if name.endswith("8.png")]
    assert "1 of 1 people" in sentence
    assert "closely resembles somebody who was forgotten" in sentence
    assert b"8.png" not in gallery.read_bytes()
    assert b"9.png" in gallery.read_bytes()
