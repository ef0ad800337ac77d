"""What is in an upload is called by its files, is kept by these names, and taken out again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike import FaceSet, Gallery
from lookalike.demo.footage import write_footage
from lookalike.faceset import Sighting
from lookalike.gallery.decisions import judge, judged, name
from lookalike.ingest.add import add
from lookalike.web.catalogue import key_of
from lookalike.web.uploads import Upload
from tests import media
from tests.cli_process import IDS
from tests.web.asking import Asker, asker
from tests.web.test_uploads import crop, dropped, kept, server

__all__ = ["server"]


def unkept(server: Asker, key: str) -> str:
    """Take an upload out again; the keys of what is gone."""
    done = server.done(server.post(f"/api/uploads/{key}/unkeep", {})["number"])
    assert done["state"] == "done", done
    return str(done["result"])


def somebody(*files: str, times: tuple[float, ...] = ()) -> FaceSet:
    sources = [f"{file} at {time}" for file in files for time in times] or list(files)
    sightings = [Sighting((0.0, 0.0, 1.0, 1.0), 1.0, 1.0, 0.5, 0.0, time) for time in times] if times else ()
    return FaceSet("x", np.tile([1.0, 2.0, 3.0], (len(sources), 1)), "", sources, (), sightings)


def upload(*people: tuple[tuple[str, ...], tuple[float, ...]]) -> Upload:
    """An upload whose files 0, 1, ... are called a.jpg, b.jpg, ..."""
    names = {str(number): f"{letter}.jpg" for number, letter in enumerate("abcde")}
    made = Upload("k", "5 photos", names=names)
    made.people = [somebody(*files, times=times) for files, times in people]
    made.files = [files for files, _ in people]
    return made


MORE = " One person may be among them more than once."


@pytest.mark.parametrize(
    ("people", "titles", "found"),
    [
        ([(("0",), ())], ["a.jpg"], "1 face on 1 photo was found in what you gave."),
        (
            [(("0",), ()), (("1",), ())],
            ["a.jpg", "b.jpg"],
            f"2 faces on 2 photos were found in what you gave.{MORE}",
        ),
        (
            [(("0",), ()), (("0",), ())],
            ["a.jpg, face 1 of 2", "a.jpg, face 2 of 2"],
            f"2 faces on 1 photo were found in what you gave.{MORE}",
        ),
        (
            [(("0", "2", "3"), ()), (("1",), ())],
            ["a.jpg and 2 others", "b.jpg"],
            f"4 faces on 4 photos were found in what you gave.{MORE}",
        ),
        ([(("0",), (1.0, 3.0))], ["a.jpg"], "1 appearance was found in what you gave."),
        (
            [(("0",), (1.0, 3.0)), (("0",), (4.0, 65.0)), (("1",), ())],
            ["a.jpg, 00:00:01 to 00:00:03", "a.jpg, 00:00:04 to 00:01:05", "b.jpg"],
            f"2 appearances and 1 face on 1 photo were found in what you gave.{MORE}",
        ),
        ([], [], "Nobody was found in what you gave."),
    ],
)
def test_everybody_is_called_by_file_and_time(
    people: list[tuple[tuple[str, ...], tuple[float, ...]]], titles: list[str], found: str
) -> None:
    made = upload(*people)
    assert [made.called(number) for number in range(len(people))] == titles
    assert made.found == found


def test_a_man_who_comes_again_is_two_appearances_and_not_two_people(tmp_path: Path) -> None:
    add(tmp_path / "g.gallery", [media.video(tmp_path)], descriptor="lbp")
    gap = [np.full_like(media.frames()[0], 90)] * 15
    write_footage(tmp_path / "again.mp4", [*media.frames(), *gap, *media.frames()], media.RATE)
    with asker(tmp_path / "g.gallery") as server:
        key = dropped(server, ("again.mp4", (tmp_path / "again.mp4").read_bytes()))
        told = server.get(f"/api/uploads/{key}")
        assert told["found"].startswith("2 appearances were found")
        titles = [one["title"] for one in told["people"]]
        assert all(one.startswith("again.mp4, 00:00:0") for one in titles)
        assert len(set(titles)) == 2
        page = server("GET", f"/uploads/{key}").body.decode()
        assert "2 appearances were found" in page
        assert "2 people" not in page


def test_photos_are_called_and_kept_by_their_own_names(tmp_path: Path) -> None:
    add(tmp_path / "g.gallery", [media.video(tmp_path)], descriptor="lbp")
    files = []
    for number, called in enumerate(("at home.png", "beach.png", "beach.png")):
        media.face(240, number).save(tmp_path / "one.png")
        files.append((called, (tmp_path / "one.png").read_bytes()))
    with asker(tmp_path / "g.gallery") as server:
        key = dropped(server, *files)
        [one] = server.get(f"/api/uploads/{key}")["people"]
        assert one["title"] == "at home.png and 2 others"
        told = server.post(f"/api/uploads/{key}/together", {"together": False})
        titles = ["at home.png", "beach.png, face 1 of 2", "beach.png, face 2 of 2"]
        assert [one["title"] for one in told["people"]] == titles
        assert told["found"].startswith("3 faces on 3 photos were found")
        assert server.parts.uploads.as_set(key, 0).origin == "at home.png"
        sets = [server.get(f"/api/sets/{one}") for one in kept(server, key).split(",")]
        assert [one["id"] for one in sets] == ["at home.png#1", "beach.png#1", "beach.png#2"]
        assert [one["title"] for one in sets] == ["at home.png #1", "beach.png #1", "beach.png #2"]


# Undo.


def test_what_was_kept_is_taken_out_again_and_nothing_else(server: Asker, tmp_path: Path) -> None:
    gallery, before = server.parts.gallery, server.parts.gallery.fingerprint()
    judge(gallery, "p1/v0", ["p1/v1"], "same")
    key, other = (dropped(server, ("new.png", crop(tmp_path))) for _ in range(2))
    first, second = kept(server, key), kept(server, other)
    name(gallery, ["new.png#1"], "Ada")
    assert unkept(server, key) == first
    assert server.get(f"/api/uploads/{key}")["kept"] == []
    assert "new.png#1" not in gallery
    assert server.get(f"/api/uploads/{other}")["kept"] == [second]
    assert unkept(server, other) == second
    assert gallery.fingerprint() == before
    assert not judged(gallery).people
    assert len(judged(gallery).confirmed("p1/v0")) == 1
    # There is nothing left to undo, but it can be kept once more.
    assert unkept(server, key) == ""
    assert kept(server, key) == first
    assert server("POST", f"/api/uploads/{'0' * 16}/unkeep", {}).status == 404


def test_only_what_the_last_keep_added_is_taken_out(server: Asker, tmp_path: Path) -> None:
    key = dropped(server, ("new.png", crop(tmp_path)))
    first = kept(server, key)
    assert kept(server, key) == first
    assert unkept(server, key) == ""
    assert len(server.parts.gallery) == len(IDS) + 1


def test_another_set_that_got_the_name_stays(server: Asker, tmp_path: Path) -> None:
    key = dropped(server, ("new.png", crop(tmp_path)))
    kept(server, key)
    server.parts.gallery.remove(["new.png#1"])
    with Gallery(tmp_path / "g.gallery") as gallery:
        whole = gallery.get("p1/v0", pictures=True)
        gallery.add(FaceSet("new.png#1", whole.faces, "", (), whole.pictures), gallery.descriptor or "")
    assert unkept(server, key) == ""
    assert key_of("new.png#1") in {key_of(one) for one in server.parts.gallery.ids()}


def test_keys_of_kept_people_are_all_there_or_none(tmp_path: Path) -> None:
    """The page looks for each by its place."""
    add(tmp_path / "g.gallery", [media.video(tmp_path)], descriptor="lbp")
    left, right = (np.asarray(media.face(240, person)) for person in (0, 1))
    Image.fromarray(np.hstack([left, right])).save(tmp_path / "two.png")
    with asker(tmp_path / "g.gallery") as server:
        key = dropped(server, ("two.png", (tmp_path / "two.png").read_bytes()))
        both = kept(server, key).split(",")
        assert server.get(f"/api/uploads/{key}")["kept"] == both
        server.parts.gallery.remove(["two.png#1"])
        assert server.get(f"/api/uploads/{key}")["kept"] == []
        assert server("GET", f"/uploads/{key}").status == 200
        assert kept(server, key).split(",") == both
        assert unkept(server, key) == both[0]
        assert "two.png#2" in server.parts.gallery
