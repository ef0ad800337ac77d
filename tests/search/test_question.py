"""Questions asked with photos, albums and films from outside the gallery."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike import Gallery, add, open_search
from lookalike.demo.footage import draw_footage, write_footage
from lookalike.errors import BadInput, NotFound
from lookalike.faceset import box_at
from lookalike.search import question
from lookalike.search.query import Several
from lookalike.search.question import AROUND, read_queries, read_query
from tests import media

FILM = draw_footage(seconds=6)
# When two people are seen side by side.
BOTH = 4.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film of one person and then two, a photo of two, an album of one."""
    folder = tmp_path_factory.mktemp("asked")
    write_footage(folder / "film.mp4", FILM.frames(), FILM.rate)
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
    with pytest.raises(
        Several, match=r"several people: choose one with --face .*1 is 'two.png#1', 2"
    ) as both:
        read_query(gallery, folder / "two.png")
    (left, *_), (right, *_) = both.value.boxes
    assert 0 < left < 240 < right < 480
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
    with pytest.raises(Several, match="several people: choose one with --at, --face or --set") as every:
        read_query(gallery, folder / "film.mp4")
    assert str(every.value).count(" from 00:00:") == 3
    assert not every.value.boxes  # they are in no one picture
    # Who is not seen then is not offered, and numbers of sets that were not all looked for are not named.
    with pytest.raises(Several, match=r"at 00:00:04.0: choose one with --face \(1 to 2 from the left\)"):
        read_query(gallery, folder / "film.mp4", at=BOTH)
    one, other = (read_query(gallery, folder / "film.mp4", face=number, at=BOTH) for number in (1, 2))
    assert one.id == other.id == "film.mp4 at 00:00:04.0"
    assert box_at(one.sightings, BOTH)[0] < box_at(other.sightings, BOTH)[0]
    # Only what lies around the time is looked at.
    times = [seen.time or 0.0 for asked in (one, other) for seen in asked.sightings]
    assert min(times) >= BOTH - AROUND - 0.1
    assert max(times) <= BOTH + AROUND + 0.1
    with pytest.raises(NotFound, match=r"no face number 3 to choose at 00:00:04.0 \(1 to 2 from the left\)"):
        read_query(gallery, folder / "film.mp4", face=3, at=BOTH)
    with pytest.raises(NotFound, match="shows no face at 01:00:00"):
        read_query(gallery, folder / "film.mp4", at=3600.0)


# Films that the gallery holds are not looked at again.


@pytest.fixture(scope="module")
def kept(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    path = tmp_path_factory.mktemp("kept") / "g.gallery"
    add(path, [folder / "film.mp4"])
    with Gallery(path) as opened:
        yield opened


@pytest.fixture
def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question, "seen_in", lambda *given: pytest.fail("the film was looked at"))


@pytest.mark.usefixtures("nobody_looks")
def test_the_kept_faces_are_the_question(kept: Gallery, folder: Path) -> None:
    found = read_query(kept, folder / "film.mp4", at=1.0)
    own = kept.get("film.mp4#1", pictures=True)
    # Asked by its id or by its film, it is not its own answer.
    assert "film.mp4#1" not in open_search(kept).find(found, None).ids
    np.testing.assert_array_equal(found.faces, own.faces)
    assert (found.id, found.pictures, found.sightings) == (own.id, own.pictures, own.sightings)


@pytest.mark.usefixtures("nobody_looks")
def test_people_are_numbered_from_the_left(kept: Gallery, folder: Path) -> None:
    ordered = sorted(["film.mp4#2", "film.mp4#3"], key=lambda one: box_at(kept.get(one).sightings, BOTH)[0])
    words = rf"choose one with --face \(1 to 2 from the left: 1 is '{ordered[0]}', 2 is '{ordered[1]}'"
    with pytest.raises(Several, match=words) as several:
        read_query(kept, folder / "film.mp4", at=BOTH)
    # Where the drawn faces are.
    drawn = sorted(track.box(BOTH) for track in FILM.tracks if track.start <= BOTH <= track.end)
    for (left, top, width, height), truth in zip(several.value.boxes, drawn, strict=True):
        assert truth[0] < left + width / 2 < truth[0] + truth[2]
        assert truth[1] < top + height / 2 < truth[1] + truth[3]
    for number, set_id in enumerate(ordered, start=1):
        assert read_query(kept, folder / "film.mp4", face=number, at=BOTH).id == set_id


def test_who_is_nearest_is_named_first_and_a_film_has_an_end(
    kept: Gallery, gallery: Gallery, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in (kept, gallery):
        with pytest.raises(NotFound, match=r"shows no face at 00:01:39\.0: it ends at 00:00:\d\d"):
            read_query(one, folder / "film.mp4", at=99.0)
    # As if the film went on, and nobody were seen any more.
    monkeypatch.setattr(question, "length_of", lambda path: 100.0)
    last = max(kept.listing(), key=lambda one: one.end or 0.0)
    with pytest.raises(NotFound, match=f"at 00:01:39.0: it holds '{last.id}' from"):
        read_query(kept, folder / "film.mp4", at=99.0)


@pytest.mark.usefixtures("nobody_looks")
def test_a_name_of_the_gallery_chooses_too(kept: Gallery, folder: Path) -> None:
    assert read_query(kept, folder / "film.mp4", "film.mp4#3").id == "film.mp4#3"
    with pytest.raises(NotFound, match=r"no set called 'film.mp4#9'"):
        read_query(kept, folder / "film.mp4", "film.mp4#9")


@pytest.mark.usefixtures("nobody_looks")
def test_a_moment_after_a_cut_offers_nobody_of_before(kept: Gallery, folder: Path) -> None:
    cut = FILM.cuts[0]
    with pytest.raises(Several) as several:
        read_query(kept, folder / "film.mp4", at=cut + 0.1)
    assert "film.mp4#1" not in str(several.value)


@pytest.mark.usefixtures("nobody_looks")
def test_a_moved_film_is_known_by_its_content(kept: Gallery, folder: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copyfile(folder / "film.mp4", tmp_path / "elsewhere.mp4"))
    assert read_query(kept, moved, at=1.0).id == "film.mp4#1"


@pytest.mark.usefixtures("nobody_looks")
def test_another_film_of_the_same_length_is_looked_at(kept: Gallery, folder: Path, tmp_path: Path) -> None:
    content = bytearray((folder / "film.mp4").read_bytes())
    content[-1] ^= 1
    (tmp_path / "film.mp4").write_bytes(content)
    with pytest.raises(pytest.fail.Exception, match="was looked at"):
        read_query(kept, tmp_path / "film.mp4", at=1.0)


def test_every_face_of_a_source_can_be_asked_with(gallery: Gallery, folder: Path) -> None:
    assert [one.id for one in read_queries(gallery, folder / "two.png")] == ["two.png#1", "two.png#2"]


def test_what_shows_nobody_is_refused(gallery: Gallery, tmp_path: Path) -> None:
    Image.fromarray(np.full((200, 300, 3), 90, np.uint8)).save(tmp_path / "wall.png")
    with pytest.raises(BadInput, match="no face was found"):
        read_query(gallery, tmp_path / "wall.png")
    with pytest.raises(BadInput, match="damaged"):
        read_query(gallery, media.truncated_photo(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no photo and no video"):
        read_query(gallery, tmp_path / "empty")
