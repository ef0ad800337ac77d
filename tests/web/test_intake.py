"""A folder that is taken in while its page is looked at: what appears, what is told, pauses and ends."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, add
from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.ingest.footage import Added
from lookalike.web.intake import GROWTH, Intake, alone_at, check_folder, check_gallery
from lookalike.web.search import Method
from tests import media
from tests.once import made_once
from tests.waiting import until
from tests.web.asking import Asker, asker, fill


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of three people in albums, a video, and a photo that is cut off."""

    def draw(place: Path) -> None:
        for person in range(3):
            (place / f"album {person}").mkdir()
            for number in range(2):
                media.face(220 + 10 * number, person).save(place / f"album {person}" / f"{number}.png")
        media.video(place)
        media.truncated_photo(place)

    return made_once(tmp_path_factory, "intake", draw)


@pytest.fixture
def folder(drawn: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(drawn, tmp_path / "holiday"))


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def server(folder: Path, tmp_path: Path, told: list[str]) -> Iterator[Asker]:
    """A page whose intake has not begun."""
    Gallery(tmp_path / "g.gallery", create=True).close()
    with asker(tmp_path / "g.gallery", folder=folder, tell=told.append) as asking:
        yield asking


def taking(server: Asker) -> Intake:
    assert server.parts.intake is not None
    return server.parts.intake


def over(server: Asker) -> dict[str, object]:
    """How it ended."""
    until(lambda: server.get("/api/intake")["job"]["state"] not in ("waiting", "running"))
    found: dict[str, object] = server.get("/api/intake")
    return found


def page(server: Asker) -> str:
    said = server("GET", "/")
    assert said.status == 200
    return " ".join(re.sub(r"<[^>]*>", " ", said.body.decode()).split())


def test_a_folder_appears_on_the_page_and_nothing_twice(
    server: Asker, folder: Path, told: list[str], tmp_path: Path
) -> None:
    server.parts.begin()
    ended = over(server)
    assert ended["job"]["state"] == "done"  # type: ignore[index]
    summary = "4 sets added from 7 files; 1 file could not be read"
    assert ended["words"] == f"All of this folder is taken in: {summary}."
    assert (ended["sets"], ended["files"], ended["known"], ended["button"]) == (4, 7, 0, "Look for new files")
    [unread] = ended["unread"]  # type: ignore[misc]
    assert unread["file"] == str(folder / "truncated.jpg")
    assert "is a damaged picture" in unread["words"]
    assert told == [f"lookalike: {unread['words']}", f"all of {str(folder)!r} is taken in: {summary}"]
    shown = page(server)
    assert "1 file could not be read" in shown
    assert unread["words"].replace("'", "&#39;") in shown
    assert "album 2 #1" in shown
    # The same as `add` finds, and each of them once.
    add(tmp_path / "added.gallery", [folder])
    with Gallery(tmp_path / "added.gallery") as added:
        assert server.parts.gallery.contents() == added.contents()
    # What the page is searched by was made ready without being asked.
    until(lambda: server.get("/api/gallery")["ready"] and not server.get("/api/gallery")["newer"])
    # Again: only what is new.
    media.face(200, 5).save(folder / "new.png")
    assert server.post("/api/intake", {"paused": False})["button"] == "Pause"
    again = over(server)
    assert (again["sets"], again["files"], again["known"]) == (1, 1, 7)
    server.post("/api/intake", {"paused": False})
    assert "nothing new, 8 files known already" in str(over(server)["words"])
    assert len(server.parts.gallery) == 5


def test_it_rests_and_goes_on(server: Asker, folder: Path) -> None:
    intake = taking(server)
    intake.begin()
    held = server.post("/api/intake", {"paused": True})
    assert (held["job"]["paused"], held["button"]) == (True, "Go on")
    assert held["words"].startswith("Paused: ")
    shown = page(server)
    assert "Nobody was found yet Faces appear here as they are found." in shown
    assert "Folder holiday Go on Paused: " in shown
    # The page goes on meanwhile.
    for address in ("/people", "/history", "/api/sets", "/api/gallery"):
        assert server("GET", address).status == 200
    assert server.get("/api/intake")["job"]["state"] in ("waiting", "running")
    server.post("/api/intake", {"paused": False})
    assert over(server)["files"] == 7


def test_the_end_of_the_server_does_not_wait_for_one_that_rests(server: Asker) -> None:
    taking(server).begin()
    server.post("/api/intake", {"paused": True})
    server.parts.jobs.close()
    assert taking(server).view().job.state == "cancelled"
    assert not taking(server).is_complete


def test_a_folder_that_vanishes_is_told_and_what_was_found_stays(
    server: Asker, folder: Path, told: list[str]
) -> None:
    taking(server).begin()
    server.post("/api/intake", {"paused": True})
    folder.rename(folder.with_name("away"))
    server.post("/api/intake", {"paused": False})
    ended = over(server)
    assert ended["job"]["state"] == "failed"  # type: ignore[index]
    assert str(folder) in str(ended["words"])
    assert str(ended["words"]).startswith(("The folder ", "There is no file or folder "))
    assert told[-1].startswith("lookalike: ")
    assert ended["button"] == "Go on"
    folder.with_name("away").rename(folder)
    server.post("/api/intake", {"paused": False})
    assert over(server)["files"] == 7


def test_the_folder_is_looked_for_at_every_step(server: Asker, folder: Path) -> None:
    intake = taking(server)
    intake.begin()
    over(server)
    shutil.rmtree(folder)
    with pytest.raises(NotFound, match="is not there any more: what was found in it is kept; go on when"):
        intake._notice()


def test_a_page_without_a_folder_says_so(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", 2, 2)) as server:
        for said in (server("GET", "/api/intake"), server("POST", "/api/intake", {"paused": True})):
            assert said.status == 404
            assert said.error == "No folder is taken in here: this page was started by `lookalike serve`"
        assert "Folder" not in page(server)


def test_a_stranger_cannot_ask(server: Asker) -> None:
    taking(server).begin()
    assert server("GET", "/api/intake", Cookie="").status == 401
    assert server("POST", "/api/intake", {"paused": True}, **{"X-Lookalike": "0"}).status == 403
    assert not server.get("/api/intake")["job"]["paused"]


def test_searches_are_renewed_by_growth_not_by_every_set(server: Asker) -> None:
    intake, begun = taking(server), []
    intake.begin()
    over(server)

    class Counted:
        """Ready at once, with all there is."""

        def held(self, method: Method) -> SimpleNamespace | None:
            return SimpleNamespace(search=SimpleNamespace(tables=range(begun[-1]))) if begun else None

        def begin(self, method: Method) -> None:
            begun.append(len(intake._done.added))

    intake._searches = Counted()  # type: ignore[assignment]
    intake._done, intake._before = Added(), 0
    for number in range(1000):
        intake._done.added.append(f"{number}")
        intake._notice()
    assert begun[:6] == [1, 2, 3, 4, 6, 8]
    assert all(later > GROWTH * sooner for sooner, later in pairwise(begun))
    assert sum(begun) < 5 * 1000


# What can be taken in, and into what.


def test_what_is_no_folder_of_films_and_photos(drawn: Path, tmp_path: Path) -> None:
    check_folder(drawn)
    with pytest.raises(NotFound, match=r"there is no file or folder '.*nowhere': check the path"):
        check_folder(tmp_path / "nowhere")
    with pytest.raises(BadInput, match=r"good.mp4' is a file, not a folder: give the folder"):
        check_folder(drawn / "good.mp4")
    fill(tmp_path / "g.gallery", 1, 1)
    with pytest.raises(BadInput, match="is a gallery, not a folder: `lookalike serve` shows it"):
        check_folder(tmp_path / "g.gallery")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("hello")
    with pytest.raises(BadInput, match="holds no photo and no video: give a folder that does"):
        check_folder(tmp_path / "texts")
    # Something that cannot be read is worth a page that says why.
    (tmp_path / "texts" / "a.jpg").write_text("hello")
    check_folder(tmp_path / "texts")


def test_a_gallery_of_something_else_is_not_mixed_with(drawn: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "g.gallery", Path(shutil.copytree(drawn, tmp_path / "other"))
    with Gallery(path, create=True) as gallery:
        check_gallery(gallery, drawn)
    add(path, [other / "album 0"])
    with Gallery(path) as gallery:
        check_gallery(gallery, other)
        with pytest.raises(
            Conflict, match=r"holds files of other folders, as '.*0.png': choose another --gal"
        ):
            check_gallery(gallery, drawn)
        # A folder that was moved is the same one.
        other.rename(tmp_path / "moved")
        check_gallery(gallery, tmp_path / "moved")
    with Gallery(tmp_path / "h.gallery", create=True) as gallery:
        gallery.add(FaceSet("a", np.eye(2, 4)))
        with pytest.raises(Conflict, match="holds ready-made faces: choose another --gallery"):
            check_gallery(gallery, drawn)


def test_one_at_a_time(drawn: Path) -> None:
    before = set(os.listdir(drawn))
    told = r"another `lookalike open` has .*: use its page, or end it first"
    with alone_at(drawn):
        with pytest.raises(Conflict, match=told), alone_at(drawn):
            raise AssertionError("two at a time")
        assert set(os.listdir(drawn)) == before
    with alone_at(drawn):
        pass
