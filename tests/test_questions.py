"""Questions asked with photos, albums and films from outside the gallery."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike import Gallery, add
from lookalike.errors import BadInput, NotFound
from lookalike.questions import read_queries, read_query
from lookalike.worlds.footage import draw_footage, write_footage
from tests import media


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film with several people, a photo of two, an album of one."""
    folder = tmp_path_factory.mktemp("asked")
    drawn = draw_footage()
    write_footage(folder / "film.mp4", drawn.frames(), drawn.rate)
    left, right = (np.asarray(media.face(240, person)) for person in (0, 1))
    Image.fromarray(np.hstack([left, right])).save(folder / "two.png")
    (folder / "album").mkdir()
    for number in range(3):
        media.face(240 + 20 * number, 0).save(folder / "album" / f"{number}.png")
    return folder


@pytest.fixture(scope="module")
def gallery(folder: Path, tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    path = tmp_path_factory.mktemp("gallery") / "g.gallery"
    add(path, [folder / "two.png"])
    with Gallery(path) as opened:
        yield opened


def test_a_photo_of_one_person_is_a_question(gallery: Gallery, folder: Path) -> None:
    found = read_query(gallery, folder / "album" / "0.png")
    assert (found.id, len(found)) == ("0.png#1", 1)
    # It is the person on the left of the other photo.
    left, right = (gallery.get(f"two.png#{number}").faces[0] for number in (1, 2))
    assert found.faces[0] @ left > found.faces[0] @ right


def test_a_photo_of_two_needs_a_choice(gallery: Gallery, folder: Path) -> None:
    with pytest.raises(BadInput, match=r"several people: choose one with --face or --set .*'two.png#1'"):
        read_query(gallery, folder / "two.png")
    first, second = (read_query(gallery, folder / "two.png", face=number) for number in (1, 2))
    np.testing.assert_array_equal(first.faces, gallery.get("two.png#1").faces)
    np.testing.assert_array_equal(second.faces, read_query(gallery, folder / "two.png", "two.png#2").faces)
    for wrong in (0, 3, -1):
        with pytest.raises(NotFound, match="no face number"):
            read_query(gallery, folder / "two.png", face=wrong)


def test_times_and_places_that_make_no_sense_are_refused(gallery: Gallery, folder: Path) -> None:
    with pytest.raises(BadInput, match="photos, which have no times"):
        read_query(gallery, folder / "two.png", at=3.0)
    with pytest.raises(BadInput, match="say when, by --at"):
        read_query(gallery, folder / "film.mp4", face=1)
    with pytest.raises(BadInput, match="give one photo"):
        read_query(gallery, folder / "album", face=1)


def test_an_album_of_one_person_is_a_question(gallery: Gallery, folder: Path) -> None:
    found = read_query(gallery, folder / "album")
    assert (found.id, len(found)) == ("album#1", 3)


def test_a_photo_of_an_album_that_cannot_be_read_is_named(
    gallery: Gallery, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(folder / "album", tmp_path / "album")
    whole = (tmp_path / "album" / "1.png").read_bytes()
    (tmp_path / "album" / "1.png").write_bytes(whole[: len(whole) // 2])
    assert len(read_query(gallery, tmp_path / "album")) == 2
    assert "1.png" in caplog.text


def test_a_film_is_asked_by_time_and_place(gallery: Gallery, folder: Path) -> None:
    tracks = draw_footage().tracks
    pairs = [
        (first, second)
        for first in tracks
        for second in tracks
        if first is not second and max(first.start, second.start) + 0.6 < min(first.end, second.end) - 0.6
    ]
    first, second = pairs[0]
    time = (max(first.start, second.start) + min(first.end, second.end)) / 2
    with pytest.raises(BadInput, match="several people: choose one with --face, --at or --set") as every:
        read_query(gallery, folder / "film.mp4")
    assert "more)" in str(every.value)
    # Who is not seen then is not offered.
    with pytest.raises(BadInput, match="several people: choose one with --face or --set") as two:
        read_query(gallery, folder / "film.mp4", at=time)
    assert str(two.value).count(" from 00:00:") == 2
    one, other = (read_query(gallery, folder / "film.mp4", face=number, at=time) for number in (1, 2))
    assert one.id != other.id
    near = [min(asked.sightings, key=lambda seen: abs((seen.time or 0) - time)) for asked in (one, other)]
    assert near[0].box[0] < near[1].box[0]
    with pytest.raises(NotFound, match="shows no face at 01:00:00"):
        read_query(gallery, folder / "film.mp4", at=3600.0)


def test_every_face_of_a_source_can_be_asked_with(gallery: Gallery, folder: Path) -> None:
    assert [one.id for one in read_queries(gallery, folder / "two.png")] == ["two.png#1", "two.png#2"]


def test_what_shows_nobody_is_refused(gallery: Gallery, tmp_path: Path) -> None:
    Image.fromarray(np.full((200, 300, 3), 90, np.uint8)).save(tmp_path / "wall.png")
    with pytest.raises(BadInput, match="no face was found"):
        read_query(gallery, tmp_path / "wall.png")
    with pytest.raises(BadInput, match="damaged"):
        read_query(gallery, media.truncated_photo(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no photo and no film"):
        read_query(gallery, tmp_path / "empty")
