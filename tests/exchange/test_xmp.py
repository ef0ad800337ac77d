"""Sidecars: boxes on the right faces however a photo lies, read back by exiftool; and in again as names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from lookalike import Gallery
from lookalike.errors import BadInput, NotFound
from lookalike.exchange.names import read_names
from lookalike.faceset import Box
from lookalike.gallery import decisions
from lookalike.gallery.decisions import judged
from lookalike.gallery.export import export_as
from lookalike.ingest.header import AREA, REGION, REGIONS
from tests.exchange.samples import face_set, media, seen, write_photo
from tests.hostile_names import NAMES
from tests.ingest.test_header import ATTRIBUTES, BOMB, MICROSOFT, packet

EXIFTOOL = shutil.which("exiftool")
STORED: Box = (12, 8, 36, 24)


def upright(path: Path) -> Box:
    """Where the bright box is when the photo is turned the right way up, as we would have found it."""
    from lookalike.ingest.pictures import read_picture

    rows, columns = np.nonzero(read_picture(path)[..., 0] > 128)
    left, top = int(columns.min()), int(rows.min())
    return left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top


def photo_gallery(path: Path, photos: dict[str, Path], album: str = "album") -> Gallery:
    """A gallery of photos with one face each, and a set for each."""
    gallery = Gallery(path, create=True)
    for set_id, photo in photos.items():
        gallery.keep_file(media(photo, "photo"), [face_set(set_id, [seen(upright(photo))], [photo.name])])
    return gallery


def regions(sidecar: Path) -> list[tuple[str, Box]]:
    """Names and boxes (left, top, width, height from 0 to 1) of both kinds of regions, which must agree."""
    assert EXIFTOOL is not None or os.environ.get("LOOKALIKE_EXIFTOOL") != "required", "install exiftool"
    if EXIFTOOL is not None:
        said = subprocess.run(
            [EXIFTOOL, "-j", "-struct", "-RegionInfo", "-RegionInfoMP", str(sidecar)],
            capture_output=True,
            check=True,
        )
        [told] = json.loads(said.stdout)
        mwg = [(str(one.get("Name", "")), one["Area"]) for one in told["RegionInfo"]["RegionList"]]
        assert all(one["Type"] == "Face" for one in told["RegionInfo"]["RegionList"])
        found = [(name, [float(area[side]) for side in ("X", "Y", "W", "H")]) for name, area in mwg]
        microsoft = [
            (str(one.get("PersonDisplayName", "")), [float(side) for side in one["Rectangle"].split(",")])
            for one in told["RegionInfoMP"]["Regions"]
        ]
    else:
        tree = ElementTree.parse(sidecar)
        descriptions = [one for one in tree.iter() if f"{REGIONS}Type" in one.attrib]
        found = [
            (one.get(f"{REGIONS}Name", ""), [float(one[0].attrib[f"{AREA}{side}"]) for side in "xywh"])
            for one in descriptions
        ]
        microsoft = [
            (
                one.get(f"{REGION}PersonDisplayName", ""),
                [float(s) for s in one.attrib[f"{REGION}Rectangle"].split(",")],
            )
            for one in tree.iter()
            if f"{REGION}Rectangle" in one.attrib
        ]
    corners = [(name, (x - w / 2, y - h / 2, w, h)) for name, (x, y, w, h) in found]
    for (name, box), (other, rectangle) in zip(corners, microsoft, strict=True):
        assert name == other
        assert rectangle == pytest.approx(box, abs=2e-6)
    return corners


def test_regions_lie_on_the_face_however_the_photo_lies(tmp_path: Path) -> None:
    """The box as it is stored is the same in all eight; what we have found in each was turned."""
    folder = tmp_path / "photos"
    folder.mkdir()
    photos = {f"p{n}": write_photo(folder / f"{n}.jpg", STORED, n) for n in range(1, 9)}
    assert len({upright(photo) for photo in photos.values()}) > 4
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with photo_gallery(tmp_path / "g", photos) as gallery:
        decisions.name(gallery, ["p3", "p6"], "Ada & <Eve>")
        assert export_as(gallery, tmp_path / "out", "xmp").files == 8
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    for number in range(1, 9):
        [(name, box)] = regions(tmp_path / "out" / f"{number}.jpg.xmp")
        assert name == ("Ada & <Eve>" if number in (3, 6) else "")
        left, top, width, height = (side * scale for side, scale in zip(box, (120, 80) * 2, strict=True))
        # JPEG blurs the edge by a pixel.
        assert (left, top, width, height) == pytest.approx(STORED, abs=1.5), number


def test_out_and_in_again_gives_the_same_people(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    (folder / "more").mkdir(parents=True)
    photos = {
        f"p{n}": write_photo(folder / ("more" if n > 4 else "") / f"{n % 5}.jpg", (2 * n, n, 30 + n, 24), n)
        for n in range(1, 9)
    }
    with photo_gallery(tmp_path / "g", photos) as gallery:
        decisions.name(gallery, ["p1", "p2", "p6"], "Ada")
        decisions.name(gallery, ["p5"], "Grace Hopper")
        export_as(gallery, tmp_path / "out", "xmp")
        names = {one.name: one.sets for one in judged(gallery).people.values()}
    # By the hash of each photo, wherever the sidecars lie; and beside the photos, as others keep them.
    beside = tmp_path / "beside"
    shutil.copytree(folder, beside)
    for sidecar in (tmp_path / "out").rglob("*.xmp"):
        shutil.copy(sidecar, beside / sidecar.relative_to(tmp_path / "out"))
    for number, source in enumerate((tmp_path / "out", beside)):
        with photo_gallery(tmp_path / f"again{number}", photos) as gallery:
            done = read_names(gallery, [source])
            assert (done.unmatched, done.failed, done.regions, len(done.decided)) == ([], [], 4, 2)
            assert {one.name: one.sets for one in judged(gallery).people.values()} == names
            again = read_names(gallery, [source])
            assert (again.people, again.decided, again.known) == ({}, [], 4)
            decisions.undo_all(gallery, done.decided)
            assert judged(gallery).people == {}


def marked(photo: Path, body: str) -> Path:
    """Write marks into a photo, as photo libraries do."""
    with Image.open(photo) as image:
        image.load()
        image.save(photo, xmp=packet(body), exif=image.getexif(), quality=95)
    return photo


def at(box: Box, name: str = "Ada", size: tuple[int, int] = (120, 80), pattern: str = ATTRIBUTES) -> str:
    """The mark of a box in pixels of a picture of this size."""
    left, top, width, height = box
    x, y = (left + width / 2) / size[0], (top + height / 2) / size[1]
    text = pattern.replace('x="0.5"', f'x="{x}"').replace('y="0.25"', f'y="{y}"').replace("Ada", name)
    text = text.replace('w="0.2"', f'w="{width / size[0]}"').replace('h="0.1"', f'h="{height / size[1]}"')
    return text.replace('w="400"', f'w="{size[0]}"').replace('h="200"', f'h="{size[1]}"')


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_names_in_photos(orientation: int, tmp_path: Path) -> None:
    photo = marked(write_photo(tmp_path / "a.jpg", STORED, orientation), at(STORED))
    with photo_gallery(tmp_path / "g", {"one": photo}) as gallery:
        assert read_names(gallery, [photo]).people == {"Ada": ["one"]}


def test_marks_in_the_picture_as_it_is_seen(tmp_path: Path) -> None:
    """Some programs turn first: the sides that they name tell."""
    photo = write_photo(tmp_path / "a.jpg", STORED, 6)
    marked(photo, at(upright(photo), size=(80, 120)))
    with photo_gallery(tmp_path / "g", {"one": photo}) as gallery:
        assert read_names(gallery, [photo]).people == {"Ada": ["one"]}


def test_a_head_is_matched_and_a_neighbour_is_not(tmp_path: Path) -> None:
    """A box of three times the area around the same middle has an overlap of 1/3; one beside it of 0."""
    left, top, width, height = STORED
    root = 3**0.5
    head = (left - width * (root - 1) / 2, top - height * (root - 1) / 2, width * root, height * root)
    photo = marked(write_photo(tmp_path / "a.jpg", STORED), at(head))
    other = marked(write_photo(tmp_path / "b.jpg", STORED), at((left + width, top, width, height), "Eve"))
    with photo_gallery(tmp_path / "g", {"one": photo, "two": other}) as gallery:
        done = read_names(gallery, [tmp_path])
        assert done.people == {"Ada": ["one"]}
        assert done.unmatched == [(str(other), "Eve", "no face of ours lies there")]


def test_what_cannot_be_matched_is_listed(tmp_path: Path) -> None:
    album = tmp_path / "album"
    album.mkdir()
    first = marked(write_photo(album / "1.jpg", STORED), at(STORED, "Ada"))
    second = marked(write_photo(album / "2.jpg", (20, 8, 36, 24)), at((20, 8, 36, 24), "Eve"))
    stranger = marked(write_photo(album / "3.jpg", (40, 8, 36, 24)), at(STORED, "Nobody"))
    broken = album / "4.jpg"
    broken.write_bytes(b"\xff\xd8\xff nothing")
    (album / "bomb.xmp").write_bytes(BOMB)
    (album / "5.xmp").write_bytes(packet(MICROSOFT.replace("Ada", "Lost")))
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.keep_file(media(first, "photo"), [face_set("album#1", [seen(upright(first))], ["1.jpg"])])
        more = face_set("album#1", [seen(upright(second))], ["2.jpg"], 1)
        gallery.keep_file(media(second, "photo"), (), [more])
        done = read_names(gallery, [album])
        assert done.people == {}
        assert [(Path(one.file).name, one.name, one.reason.partition(":")[0]) for one in done.unmatched] == [
            ("3.jpg", "Nobody", "the gallery does not know this photo"),
            ("5.xmp", "Lost", "its photo does not lie beside it"),
            ("1.jpg", "Ada", "set 'album#1' has several names (Ada, Eve)"),
            ("2.jpg", "Eve", "set 'album#1' has several names (Ada, Eve)"),
        ]
        assert {Path(file).name for file, _ in done.failed} == {"4.jpg", "bomb.xmp"}
        assert stranger.exists()
        assert gallery.decisions() == []


def test_a_name_that_contradicts_decisions(tmp_path: Path) -> None:
    photos = {
        f"p{n}": marked(write_photo(tmp_path / f"{n}.jpg", (n, 8, 36, 24)), at((n, 8, 36, 24)))
        for n in range(3)
    }
    with photo_gallery(tmp_path / "g", photos) as gallery:
        decisions.name(gallery, ["p1"], "Grace")
        tried = read_names(gallery, [tmp_path], dry_run=True)
        assert (tried.people, tried.decided) == ({"Ada": ["p0", "p2"]}, [])
        assert len(gallery.decisions()) == 1
        done = read_names(gallery, [tmp_path])
        assert done.people == {"Ada": ["p0", "p2"]}
        [left] = done.unmatched
        assert "'p1' to 'Grace' (person 1): merge these two people" in left.reason
        assert judged(gallery).person_of("p1").name == "Grace"


def test_a_sidecar_counts_for_more_than_its_photo(tmp_path: Path) -> None:
    photo = marked(write_photo(tmp_path / "a.jpg", STORED), at(STORED, "Old"))
    (tmp_path / "a.xmp").write_bytes(packet(at(STORED, "New")))
    with photo_gallery(tmp_path / "g", {"one": photo}) as gallery:
        assert read_names(gallery, [photo]).people == {"New": ["one"]}


def test_hostile_names_out_and_in_again(tmp_path: Path) -> None:
    given = {}
    with Gallery(tmp_path / "g", create=True) as gallery:
        photo = write_photo(tmp_path / "a.jpg", STORED)
        for number, name in enumerate(NAMES):
            try:
                decisions.checked_name(name)
            except BadInput:
                continue
            given[f"s{number}"] = name
        # A grid of faces, side by side.
        boxes = [(8.0 * (n % 15), 5.0 * (n // 15), 8.0, 5.0) for n in range(len(given))]
        sets = [face_set(one, [seen(box)], ["a.jpg"]) for one, box in zip(given, boxes, strict=True)]
        gallery.keep_file(media(photo, "photo"), sets)
        for set_id, name in given.items():
            decisions.name(gallery, [set_id], name)
        people = {one.name: one.sets for one in judged(gallery).people.values()}
        export_as(gallery, tmp_path / "out", "xmp")
        decisions.undo_all(gallery, [one.number for one in gallery.decisions()])
        assert judged(gallery).people == {}
        done = read_names(gallery, [tmp_path / "out"])
        assert done.unmatched == []
        assert {one.name: one.sets for one in judged(gallery).people.values()} == people
    assert len(given) > 200
    assert sorted(name for name, _ in regions(tmp_path / "out" / "a.jpg.xmp")) == sorted(
        name for name, sets in people.items() for _ in sets
    )


def test_refusals(tmp_path: Path) -> None:
    photo = write_photo(tmp_path / "a.jpg", STORED)
    (tmp_path / "empty").mkdir()
    with photo_gallery(tmp_path / "g", {"one": photo}) as gallery:
        gallery.add(face_set("plain", [seen()]), "array")
        with pytest.raises(BadInput, match="holds no photo and no sidecar"):
            read_names(gallery, [tmp_path / "empty"])
        with pytest.raises(NotFound, match="no file or folder"):
            read_names(gallery, [tmp_path / "missing"])
        with pytest.raises(BadInput, match="none of the chosen sets is of a photo"):
            export_as(gallery, tmp_path / "out", "xmp", ids=["plain"])
        photo.unlink()
        with pytest.raises(BadInput, match="no photo of the chosen sets can be read"):
            export_as(gallery, tmp_path / "out", "xmp")
    assert not (tmp_path / "out").exists()
