"""The photo behind a face: found, the right way up, with everybody in it; or why it cannot be shown."""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from lookalike import Gallery, add
from lookalike.faceset import Sighting
from lookalike.web.catalogue import key_of
from lookalike.web.films import looks_between, photos_of_faces
from lookalike.web.pages import _TEMPLATES
from tests import media
from tests.gallery.samples import a_file
from tests.web.asking import Asker, asker


def test_a_face_is_of_the_photo_whose_path_ends_like_its_source() -> None:
    files = [a_file("2019/a.jpg"), a_file("2020/a.jpg"), a_file("b.jpg")]
    assert photos_of_faces(["2020/a.jpg", "b.jpg", "2019/a.jpg"], files) == [files[1], files[2], files[0]]
    # The folder was renamed; a photo was; two were, and nobody knows which is which.
    assert photos_of_faces(["2018/b.jpg"], files[2:]) == files[2:]
    assert photos_of_faces(["2019/a.jpg", "old.jpg"], files[::2]) == files[::2]
    assert photos_of_faces(["x.jpg", "y.jpg"], files[:2]) == [None, None]
    # Two photos of one name in two folders that were added.
    assert photos_of_faces(["a.jpg", "a.jpg"], files[:2]) == [None, None]
    assert photos_of_faces(["C:\\album\\b.jpg"], files[2:]) == files[2:]
    assert photos_of_faces(["b.jpg"], []) == [None]


def looks(*times: float) -> list[Sighting]:
    return [Sighting((time, 0, 1, 1), 0.9, 0.5, 0.5, 0.1, time) for time in times]


@pytest.mark.parametrize(
    ("since", "until", "found"),
    [
        (0.0, 9.0, [1, 2, 3]),
        (1.5, 1.6, [1, 2]),
        (2.0, 2.0, [2]),
        (2.5, 9.0, [2, 3]),
        (3.0, 3.0, [3]),
        (3.1, 9.0, []),
        (0.0, 0.9, []),
    ],
)
def test_looks_of_a_stretch(since: float, until: float, found: list[float]) -> None:
    assert [one.time for one in looks_between(looks(3, 1, 2), since, until)] == found


SIDE = 280


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A photo of two people side by side, lying in each of the eight ways that EXIF knows."""
    folder = tmp_path_factory.mktemp("photos") / "turned"
    folder.mkdir()
    upright = Image.open(media.group_photo(folder, 2)).convert("RGB")
    (folder / "group.png").unlink()
    flips = Image.Transpose
    undo = (None, None, 0, 3, 1, 5, 2, 6, 4)  # the transposition that lays it so, by orientation
    ways = {number: flips(way) for number, way in enumerate(undo) if way is not None}
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        laid = upright.transpose(ways[orientation]) if orientation in ways else upright
        laid.save(folder / f"{orientation}.jpg", exif=exif, quality=95)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    path = tmp_path_factory.mktemp("gallery") / "g"
    add(path, [folder], "lbp")
    with asker(path) as made:
        yield made


@pytest.mark.parametrize("orientation", range(1, 9))
def test_boxes_are_on_the_right_faces_however_the_photo_lies(
    server: Asker, folder: Path, orientation: int, tmp_path: Path
) -> None:
    upright = np.asarray(Image.open(media.group_photo(tmp_path, 2)).convert("RGB"), dtype=float)
    for number in (1, 2):
        told = server.get(f"/api/sets/{key_of(f'{orientation}.jpg#{number}')}/photos/0")
        assert (told["width"], told["height"]) == (2 * SIDE, SIDE)
        assert [face["asked"] for face in told["faces"]] == [number == 1, number == 2]
        for place, face in enumerate(told["faces"]):
            left, top, width, height = face["box"]
            # The middle of a drawn face is that of its half, or nearly.
            assert left + width / 2 == pytest.approx((place + 0.5) * SIDE, abs=SIDE / 6)
            assert top + height / 2 == pytest.approx(SIDE / 2, abs=SIDE / 4)
        shown = server("GET", told["picture"])
        assert shown.header("content-type") == "image/jpeg"
        there = np.asarray(Image.open(io.BytesIO(shown.body)).convert("RGB"), dtype=float)
        assert np.abs(there - upright).mean() < 6.0


def test_the_view_links_everybody(server: Asker) -> None:
    shown = server("GET", f"/sets/{key_of('1.jpg#1')}/photos/0").body.decode()
    assert f'href="/sets/{key_of("1.jpg#2")}" class="other"' in shown
    assert f'href="/sets/{key_of("1.jpg#1")}" class="asked"' in shown


def test_what_cannot_be_shown_is_said(folder: Path, tmp_path: Path) -> None:
    album = tmp_path / "album"
    shutil.copytree(folder, album)
    path = tmp_path / "g"
    add(path, [album], "lbp")
    keys = {name: key_of(f"{name}.jpg#1") for name in "1234"}
    os.utime(album / "1.jpg", (1, 1))
    (album / "2.jpg").unlink()
    (album / "3.jpg").write_bytes((album / "3.jpg").read_bytes()[:-1])
    with asker(path) as server:
        for name in "123":
            for place in (f"/api/sets/{keys[name]}/photos/0", f"/sets/{keys[name]}/photos/0"):
                said = server("GET", place)
                assert said.status == 404
                assert b"is not where it was when it was added, or was changed since" in said.body
        for place in ("photos/1", "photos/4096"):
            assert server("GET", f"/api/sets/{keys['4']}/{place}").status == 404
        assert server("GET", f"/api/sets/{keys['4']}/photos/-1").status == 422
        assert server("GET", f"/api/sets/{'0' * 16}/photos/0").status == 404
        before = (album / "4.jpg").stat()
        told = server.get(f"/api/sets/{keys['4']}/photos/0")
        assert server("GET", told["picture"]).status == 200
        assert (album / "4.jpg").stat() == before
        (album / "4.jpg").unlink()
        assert server("GET", told["picture"]).status == 404
    with Gallery(path) as gallery:
        assert len(gallery) == 16


@pytest.mark.parametrize(("widths", "size"), [((90.0, 60.0), 20.0), ((30.0, 60.0), 15.0), ((9.0,), 280 / 24)])
def test_numbers_do_not_hide_small_faces(widths: tuple[float, ...], size: float) -> None:
    """By hand: a 28th of 560 is 20, a 48th is 280 / 24, and half of the smallest face is 30, 15 or 4.5."""
    faces = [
        SimpleNamespace(box=(50.0, 99.0, width, 9.0), number=1, title="who", person=0) for width in widths
    ]
    photo = SimpleNamespace(width=560, height=300, picture="", file="a.jpg", faces=faces)
    drawn = str(_TEMPLATES.get_template("pieces.html").module.boxes(photo, "/sets/"))  # type: ignore[attr-defined]
    [first, *_] = re.findall(r'class="label"[^>]* height="([0-9.]+)"', drawn)
    assert float(first) == pytest.approx(size)
