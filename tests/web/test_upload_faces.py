"""Photos and clips dropped onto a collection of ready-made crops: faces are found, and cut as these are."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from lookalike.demo.footage import write_footage
from lookalike.ingest.add import holds_crops
from lookalike.ingest.pictures import read_picture
from lookalike.web import upload_faces
from tests.web.asking import Asker, asker
from tests.web.drawn import drawn_gallery
from tests.web.test_uploads import dropped, kept

Picture = NDArray[np.uint8]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crops of drawn people."""
    folder = tmp_path_factory.mktemp("crops")
    drawn_gallery(folder, people=12)
    return folder


@pytest.fixture
def server(made: Path, tmp_path: Path) -> Iterator[Asker]:
    shutil.copy(made / "drawn.gallery", tmp_path / "g.gallery")
    with asker(tmp_path / "g.gallery") as here:
        yield here


def face(made: Path, clip: str, frame: int = 3) -> Picture:
    """One of the crops."""
    return read_picture(made / "clips" / clip / f"{frame:02d}.png")


def room(textured: bool = True, size: tuple[int, int] = (640, 480)) -> Image.Image:
    """A picture of nobody."""
    rough = np.random.default_rng(5).integers(60, 200, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(rough if textured else rough[:1, :1]).resize(size, Image.Resampling.BICUBIC)


def photo(*shown: Picture, textured: bool = True, side: int = 200) -> Image.Image:
    """A room with faces side by side."""
    made = room(textured)
    for number, one in enumerate(shown):
        made.paste(Image.fromarray(one).resize((side, side)), (60 + 300 * number, 140 - 50 * number))
    return made


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    held = BytesIO()
    image.save(held, kind)
    return held.getvalue()


def first(server: Asker, key: str, person: int = 0) -> str:
    """The best answer for somebody in an upload."""
    found = server.post("/api/searches", {"upload": key, "person": person})
    return str(found["answers"][0]["set"]["id"])


@pytest.mark.parametrize("textured", [True, False])
@pytest.mark.parametrize("clip", ["clip-0004", "clip-0017", "clip-0030"])
def test_a_face_in_a_photo_is_found_and_leads_to_its_clip(
    server: Asker, made: Path, clip: str, textured: bool
) -> None:
    key = dropped(server, ("party.png", encoded(photo(face(made, clip), textured=textured))))
    told = server.get(f"/api/uploads/{key}")
    assert (len(told["people"]), told["remark"], told["left_out"]) == (1, "", [])
    assert first(server, key) == clip


def test_two_people_in_a_photo_are_two(server: Asker, made: Path) -> None:
    clips = ["clip-0004", "clip-0017"]
    key = dropped(server, ("two.png", encoded(photo(*(face(made, clip) for clip in clips)))))
    assert [first(server, key, person) for person in (0, 1)] == clips
    kept(server, key)
    assert server.parts.gallery.apart() == [("two.png#1", "two.png#2")]


def test_a_room_without_anybody_gives_no_answers(server: Asker) -> None:
    done = server.done(server.upload(("room.png", encoded(room()))).json["number"])
    assert (done["state"], done["error"]) == (
        "failed",
        "No face was found in 'room.png': give a picture that shows one",
    )


def test_a_crop_is_taken_as_it_is(server: Asker, made: Path) -> None:
    key = dropped(server, ("crop.png", encoded(Image.fromarray(face(made, "clip-0004")))))
    [person] = server.parts.uploads._get(key).people
    assert (person.faces[0] == server.parts.gallery.get("clip-0004").faces[3]).all()
    assert not person.sightings
    assert server.get(f"/api/uploads/{key}")["remark"] == ""


def test_a_crop_that_was_enlarged_leads_to_its_clip(server: Asker, made: Path) -> None:
    large = Image.fromarray(face(made, "clip-0004")).resize((300, 300), Image.Resampling.BICUBIC)
    assert first(server, dropped(server, ("large.png", encoded(large)))) == "clip-0004"


def test_a_picture_of_the_size_of_a_crop_may_show_two_people(server: Asker, made: Path) -> None:
    small = Image.new("RGB", (100, 100), (90, 90, 90))
    for number, clip in enumerate(("clip-0004", "clip-0017")):
        small.paste(Image.fromarray(face(made, clip)).resize((50, 50)), (50 * number, 25))
    key = dropped(server, ("small.png", encoded(small)))
    assert len(server.get(f"/api/uploads/{key}")["people"]) == 2


def test_a_crop_and_a_photo_dropped_together(server: Asker, made: Path) -> None:
    crop, large = face(made, "clip-0004"), photo(face(made, "clip-0017"))
    key = dropped(server, ("a.png", encoded(Image.fromarray(crop))), ("b.png", encoded(large)))
    assert [first(server, key, person) for person in (0, 1)] == ["clip-0004", "clip-0017"]


def test_a_clip_is_looked_through(server: Asker, made: Path, tmp_path: Path) -> None:
    frames = [np.asarray(photo(face(made, "clip-0017", number % 8))) for number in range(12)]
    write_footage(tmp_path / "clip.mp4", frames, 10.0)
    key = dropped(server, ("clip.mp4", (tmp_path / "clip.mp4").read_bytes()))
    assert first(server, key) == "clip-0017"
    assert server.get(f"/api/uploads/{key}")["people"][0]["faces"][0]["timecode"] is not None


def test_what_is_kept_of_a_photo_is_found_again_and_leaves_the_others_as_they_were(
    server: Asker, made: Path
) -> None:
    gallery = server.parts.gallery
    before = {one.id: one.faces for one in gallery.sets()}, gallery.descriptor, holds_crops(gallery)
    key = dropped(server, ("party.png", encoded(photo(face(made, "clip-0004")))))
    new = server.get(f"/api/sets/{kept(server, key)}")
    assert new["id"] == "party.png#1"
    after = {one.id: one.faces for one in gallery.sets() if one.id != new["id"]}
    assert (gallery.descriptor, holds_crops(gallery)) == before[1:]
    assert all((after[one] == faces).all() for one, faces in before[0].items())
    found = server.post("/api/searches", {"set": new["key"]})
    assert found["answers"][0]["set"]["id"] == "clip-0004"
    # How crops are cut is learnt from crops alone.
    again = dropped(server, ("again.png", encoded(photo(face(made, "clip-0017")))))
    assert first(server, again) == "clip-0017"


def test_without_a_detector_photos_are_crops_and_the_page_says_so(
    server: Asker, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_faces, "find_spec", lambda name: None)
    key = dropped(server, ("party.png", encoded(photo(face(made, "clip-0004")))))
    remark = server.get(f"/api/uploads/{key}")["remark"]
    assert remark.startswith("No face was looked for, since what finds faces is not installed")
    server.post("/api/searches", {"upload": key, "person": 0})
    assert "No face was looked for" in server("GET", f"/uploads/{key}/find").body.decode()
    assert not server.parts.uploads._get(key).people[0].sightings
    write_footage(tmp_path / "clip.mp4", [np.asarray(room())] * 3, 10.0)
    film = "clip.mp4", (tmp_path / "clip.mp4").read_bytes()
    done = server.done(server.upload(film).json["number"])
    assert (done["state"], done["error"]) == (
        "failed",
        "'clip.mp4' is a video, and what finds faces in videos is not installed: "
        "pip install 'lookalike[video]'",
    )
    both = dropped(server, ("party.png", encoded(photo(face(made, "clip-0004")))), film)
    assert [one.partition(" is")[0] for one in server.get(f"/api/uploads/{both}")["left_out"]] == [
        "'clip.mp4'"
    ]


def test_what_cannot_be_used_is_named_and_the_rest_is_taken(server: Asker, made: Path) -> None:
    good = encoded(photo(face(made, "clip-0017")))
    key = dropped(
        server,
        ("notes.txt", b"hello"),
        ("room.png", encoded(room())),
        ("cut.png", good[: len(good) // 2]),
        ("party.png", good),
        ("tiny.png", encoded(Image.new("L", (3, 3)))),
    )
    told = server.get(f"/api/uploads/{key}")
    assert (len(told["people"]), told["remark"]) == (1, "4 files were left out.")
    assert first(server, key) == "clip-0017"
    named = sorted(told["left_out"], key=lambda sentence: sentence.split("'")[1])
    for name, sentence in zip(("cut.png", "notes.txt", "room.png", "tiny.png"), named, strict=True):
        assert f"'{name}'" in sentence
        assert "file0" not in sentence
        assert "/" not in sentence
    assert any(one.startswith("No face was found in 'room.png'") for one in named)
    page = server("GET", f"/uploads/{key}/find").body.decode()
    assert page.count("<li><bdi>") == 4
