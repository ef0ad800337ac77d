"""Photos and clips dropped onto the page: looked through as `add` does, gone unless they are kept."""

from __future__ import annotations

import io
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike import Gallery, registry, resources
from lookalike.ingest import describe
from lookalike.ingest.add import add
from lookalike.search.question import read_everybody, read_queries
from lookalike.web import upload_faces
from lookalike.web.films import FILM
from lookalike.web.jobs import Cancelled
from lookalike.web.keys import Key, Keys, hashed
from lookalike.web.load import Quota
from lookalike.web.uploads import KEPT, shown_name
from tests import media
from tests.cli_process import IDS, faces, write_pictures
from tests.waiting import PATIENCE
from tests.web.asking import Asker, asker, picture


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asker]:
    """A collection of crops, which takes photos of faces as crops too."""
    crops = write_pictures(tmp_path / "crops", faces())
    add(tmp_path / "g.gallery", [crops], cropped=True)
    with asker(tmp_path / "g.gallery") as made:
        yield made


def crop(folder: Path, name: str = "p1/v0/0.png") -> bytes:
    return (folder / "crops" / name).read_bytes()


def dropped(server: Asker, *files: tuple[str, bytes]) -> str:
    said = server.upload(*files)
    assert said.status == 202, said
    done = server.done(said.json["number"])
    assert done["state"] == "done", done
    return str(done["result"])


def test_a_photo_is_asked_with_and_not_kept(server: Asker, tmp_path: Path) -> None:
    before = server.parts.gallery.fingerprint()
    key = dropped(server, ("holiday.png", crop(tmp_path)))
    [person] = server.get(f"/api/uploads/{key}")["people"]
    assert (person["person"], person["title"], len(person["faces"])) == (0, "holiday.png", 1)
    assert server("GET", person["faces"][0]["picture"]).header("content-type") == "image/jpeg"
    found = server.post("/api/searches", {"upload": key, "person": 0})
    assert found["query"]["title"] == "holiday.png"
    assert {one["set"]["id"] for one in found["answers"][:2]} == {"p1/v0", "p1/v1"}
    assert found["total"] == len(IDS)
    target = found["answers"][0]["set"]["key"]
    why = server.post("/api/searches/evidence", {"ask": {"upload": key, "person": 0}, "target": target})
    assert why["direct"]["query_face"]["picture"].startswith("/pictures/")
    assert server.parts.gallery.fingerprint() == before
    folder = server.parts.uploads._folder
    assert folder is not None
    assert os.listdir(folder) == []
    assert folder.stat().st_mode & 0o777 == 0o700
    server.parts.close()
    assert not folder.exists()


def test_the_faces_are_those_that_add_would_find(server: Asker, tmp_path: Path) -> None:
    key = dropped(server, ("a.png", crop(tmp_path)), ("b.png", crop(tmp_path, "p1/v0/1.png")))
    [person] = server.parts.uploads._get(key).people
    with Gallery(tmp_path / "g.gallery") as gallery:
        kept = gallery.get("p1/v0")
        alone = next(read_queries(gallery, tmp_path / "crops" / "p1" / "v0"))
    assert (person.faces == kept.faces[:2]).all()
    assert (person.faces == alone.faces[:2]).all()
    asked = {"upload": key, "person": 0, "faces": [1]}
    assert server.post("/api/searches", asked)["answers"][0]["set"]["id"] == "p1/v0"
    for wrong, status in (({**asked, "person": 1}, 404), ({**asked, "faces": [2]}, 404)):
        assert server("POST", "/api/searches", wrong).status == status


def kept(server: Asker, key: str) -> str:
    """Keep an upload; the keys of its sets."""
    done = server.done(server.post(f"/api/uploads/{key}/keep", {})["number"])
    assert done["state"] == "done", done
    return str(done["result"])


def test_keeping_adds_a_set_whose_name_is_free(server: Asker, tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        key = dropped(server, ("new.png", crop(tmp_path)))
        assert server.get(f"/api/uploads/{key}")["kept"] == []
        ids.append(server.get(f"/api/sets/{kept(server, key)}")["id"])
    assert ids == ["new.png#1", "new.png~2#1"]
    with Gallery(tmp_path / "g.gallery") as gallery:
        assert gallery.get("new.png#1").origin == "new.png"
    assert server("POST", f"/api/uploads/{'0' * 16}/keep", {}).status == 404


def test_keeping_twice_adds_nothing_twice(server: Asker, tmp_path: Path) -> None:
    key = dropped(server, ("new.png", crop(tmp_path)))
    first = kept(server, key)
    assert (kept(server, key), server.get(f"/api/uploads/{key}")["kept"]) == (first, [first])
    assert len(server.parts.gallery) == len(IDS) + 1
    server.parts.gallery.remove(["new.png#1"])
    assert server.get(f"/api/uploads/{key}")["kept"] == []
    assert kept(server, key) == first
    assert len(server.parts.gallery) == len(IDS) + 1


def test_keeping_begins_an_empty_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What made the faces is known from then on, so that more can be added; who stands beside whom too."""
    monkeypatch.setattr(describe, "FOOTAGE_DESCRIPTOR", "lbp")
    Gallery(tmp_path / "g.gallery", create=True).close()
    left, right = (np.asarray(media.face(240, person)) for person in (0, 1))
    Image.fromarray(np.hstack([left, right])).save(tmp_path / "two.png")
    with asker(tmp_path / "g.gallery") as server:
        key = dropped(server, ("two.png", (tmp_path / "two.png").read_bytes()))
        assert len(server.get(f"/api/uploads/{key}")["people"]) == 2
        assert len(kept(server, key).split(",")) == 2
        gallery = server.parts.gallery
        assert gallery.descriptor == registry.build("descriptors", "lbp").identity
        assert gallery.apart() == [("two.png#1", "two.png#2")]
        other = dropped(server, ("two.png", (tmp_path / "two.png").read_bytes()))
        kept(server, other)
        assert gallery.apart()[-1] == ("two.png~2#1", "two.png~2#2")
    media.face(240, 2).save(tmp_path / "more.png")
    assert add(tmp_path / "g.gallery", [tmp_path / "more.png"], cropped=False).added == ["more.png#1"]


KEY = "a" * 22


def added(server: Asker, *files: tuple[str, bytes]) -> tuple[list[str], str]:
    """Add files as a program does; the ids of the sets, and what was said of them."""
    said = server.upload(*files, to="/api/files", key=KEY)
    assert said.status == 202, said
    done = server.done(said.json["number"])
    assert done["state"] == "done", done
    ids = {key: one for one, key in server.keys().items()}
    return [ids[key] for key in done["result"].split(",") if key], done["text"]


def test_a_program_adds_photos_and_a_clip_by_a_job(tmp_path: Path) -> None:
    film = media.video(tmp_path)
    add(tmp_path / "g.gallery", [media.photo(tmp_path)])
    keys = Keys([Key("nightly", frozenset({"add", "read"}), hashed(KEY))])
    with asker(tmp_path / "g.gallery", keys=keys) as server:
        group = media.group_photo(tmp_path, 3).read_bytes()
        ids, text = added(server, ("club.jpg", group), ("notes.txt", b"nothing"))
        assert ids == ["club.jpg#1", "club.jpg#2", "club.jpg#3"]
        assert "3 faces on 1 photo were found" in text
        assert "'notes.txt' is neither a photo nor a video" in text
        # Who got no answer asks again; another file of the same name is another one.
        assert added(server, ("club.jpg", group))[0] == ids
        other = media.oriented_photo(tmp_path, 1).read_bytes()
        assert added(server, ("club.jpg", other))[0] == ["club.jpg~2#1"]
        clip, text = added(server, ("evening.mp4", film.read_bytes()))
        assert (clip, text) == (["evening.mp4#1"], "1 appearance was found in what you gave.")
        with Gallery(tmp_path / "g.gallery") as gallery:
            evening = gallery.get("evening.mp4#1")
            assert evening.origin == "evening.mp4"
            assert len({one.time for one in evening.sightings}) > 1
            # Two people of one picture are two people.
            assert set(pairwise(ids)) <= {tuple(sorted(pair)) for pair in gallery.apart()}
            before = gallery.fingerprint()
        blank = io.BytesIO()
        Image.new("RGB", (200, 200)).save(blank, "png")
        said = server.upload(("blank.png", blank.getvalue()), to="/api/files", key=KEY)
        failed = server.done(said.json["number"])
        assert (failed["state"], "no face was found" in failed["error"].lower()) == ("failed", True), failed
        refused = server.upload(("a.txt", b"nothing"), to="/api/files", key=KEY)
        assert (refused.status, "neither a photo nor a video" in refused.error) == (400, True)
        assert server.parts.gallery.fingerprint() == before
        assert not server.parts.uploads._held
        folder = server.parts.uploads._folder
        assert folder is not None
        assert os.listdir(folder) == []


def test_an_upload_that_is_stopped_before_it_begins_leaves_no_file(server: Asker, tmp_path: Path) -> None:
    parts, go = server.parts, threading.Event()
    parts.jobs.start("busy", "something else", lambda job: str(go.wait(PATIENCE)), lane="uploads")
    waiting = server.upload(("a.png", crop(tmp_path))).json
    folder = parts.uploads._folder
    assert folder is not None
    assert (waiting["state"], len(os.listdir(folder))) == ("waiting", 1)
    assert server("DELETE", f"/api/jobs/{waiting['number']}").json["state"] == "cancelled"
    assert os.listdir(folder) == []
    go.set()
    dropped(server, ("b.png", crop(tmp_path)))
    assert os.listdir(folder) == []


def test_an_upload_says_how_far_it_is_and_can_be_stopped(tmp_path: Path) -> None:
    film = media.video(tmp_path)
    add(tmp_path / "g.gallery", [film], descriptor="lbp")
    with asker(tmp_path / "g.gallery") as server:
        steps: list[tuple[str, int | None]] = []

        def track(items: Iterable[None], text: str, total: int | None) -> Iterator[None]:
            for item in items:
                steps.append((text, total))
                yield item

        found = read_everybody(server.parts.gallery, film, track)  # type: ignore[arg-type]
        assert (len(found), set(steps)) == (1, {("looking for faces", len(steps))})
        done = server.done(server.upload(("clip.mp4", film.read_bytes())).json["number"])
        assert (done["done"], done["total"]) == (len(steps), len(steps))

        def stopped(items: Iterable[None], text: str, total: int | None) -> Iterator[None]:
            for _ in items:
                raise Cancelled
            yield None

        with pytest.raises(Cancelled):
            read_everybody(server.parts.gallery, film, stopped)  # type: ignore[arg-type]


def test_uploads_that_wait_have_a_limit(
    server: Asker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, go, content = server.parts, threading.Event(), crop(tmp_path)
    parts.uploads.quota = Quota(waiting=2, size=3 * len(content))
    parts.jobs.start("busy", "something else", lambda job: str(go.wait(PATIENCE)), lane="uploads")
    assert server.upload(("a.png", content)).status == 202
    large = server.upload(("b.png", content + bytes(2 * len(content))))
    assert (large.status, large.error.startswith("An upload of")) == (409, True)
    last = server.upload(("c.png", content))
    assert last.status == 202
    assert server.upload(("d.png", content)).status == 409
    assert parts.uploads._folder is not None
    assert len(os.listdir(parts.uploads._folder)) == 2
    go.set()
    server.done(last.json["number"])
    monkeypatch.setattr(resources, "free_disk", lambda path: len(content) - 1)
    said = server.upload(("e.png", content))
    assert (said.status, "free some space" in said.error) == (507, True)
    monkeypatch.undo()
    dropped(server, ("f.png", content))


def test_an_upload_can_be_forgotten(server: Asker, tmp_path: Path) -> None:
    key = dropped(server, ("new.png", crop(tmp_path)))
    shown = server.get(f"/api/uploads/{key}")["people"][0]["faces"][0]["picture"]
    assert server("DELETE", f"/api/uploads/{key}").status == 200
    assert server("GET", f"/api/uploads/{key}").status == 404
    assert server("GET", shown).status == 404
    assert server("DELETE", f"/api/uploads/{key}").status == 404


def test_only_the_last_few_are_remembered(server: Asker, tmp_path: Path) -> None:
    keys = [dropped(server, (f"{number}.png", crop(tmp_path))) for number in range(KEPT + 2)]
    there = [server("GET", f"/api/uploads/{key}").status for key in keys]
    assert there == [404] * 2 + [200] * KEPT


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"PK\x03\x04" + bytes(100), b"SQLite format 3\0" + bytes(100), b"#EXTM3U\n/etc/passwd"],
)
def test_what_is_neither_photo_nor_film_is_refused(server: Asker, content: bytes) -> None:
    said = server.upload(("trick.jpg", content))
    assert said.status == 400
    assert said.error.startswith("'trick.jpg' is neither a photo nor a video")
    assert server.get("/api/jobs")["jobs"] == []


def test_a_photo_that_is_cut_short_says_so(server: Asker, tmp_path: Path) -> None:
    said = server.upload(("cut.png", crop(tmp_path)[:200]))
    done = server.done(said.json["number"])
    assert done["state"] == "failed"
    assert "cut.png" in done["error"]
    assert tempfile.gettempdir() not in done["error"]
    assert "file0000" not in done["error"]


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..\\..\\boot.ini",
        "C:\\x.png",
        "a\0b.png",
        ".",
        "..",
        "",
        "x" * 999,
    ],
)
def test_no_name_of_a_file_is_a_place(server: Asker, tmp_path: Path, name: str) -> None:
    key = dropped(server, (name, crop(tmp_path)))
    title = server.get(f"/api/uploads/{key}")["people"][0]["title"]
    assert "/" not in title
    assert "\\" not in title
    assert len(title) <= 100
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(
        {one.name for one in tmp_path.iterdir() if one.name.startswith(("g.gallery", "crops"))}
    )


def test_names_are_shown_without_their_folders() -> None:
    assert shown_name("a/b/c.jpg") == "c.jpg"
    assert shown_name("c:\\x\\y.jpg") == "y.jpg"
    assert shown_name("a\nb\u202e.jpg") == "a_b_.jpg"
    assert shown_name("..") == "upload"


def test_too_many_files(server: Asker) -> None:
    assert server.upload(*((f"{n}.png", picture(n)) for n in range(201))).status == 400
    assert server.upload().status in (400, 422)


def test_a_clip_shows_who_is_in_it_and_when(tmp_path: Path) -> None:
    """Footage: the same sets as `add` makes of it, with times."""
    film = media.video(tmp_path)
    add(tmp_path / "g.gallery", [film], descriptor="lbp")
    with Gallery(tmp_path / "g.gallery") as gallery:
        [known] = gallery.listing()
    with asker(tmp_path / "g.gallery") as server:
        key = dropped(server, ("party.mp4", film.read_bytes()))
        [person] = server.get(f"/api/uploads/{key}")["people"]
        assert len(person["faces"]) == known.faces
        assert person["faces"][0]["timecode"] is not None
        assert server.parts.uploads.as_set(key, 0).kind == "film"
        shown = server.get(f"/api/sets/{kept(server, key)}")
        assert (shown["kind"], shown["title"]) == ("film", f"party.mp4 #1, {shown['when'][:8]}")
        # Its film was never in the collection, so there is nothing to play.
        assert shown["film"] is None
        token = server.parts.pictures.token(FILM, shown["key"])
        said = server("GET", f"/films/{token}")
        assert said.status == 404
        assert "not where it was" in said.error


# Films.


def test_photos_of_several_faces_are_shown_with_boxes(
    server: Asker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_faces, "LONGEST", 420)
    group, single = media.group_photo(tmp_path, 3).read_bytes(), media.photo(tmp_path).read_bytes()
    key = dropped(server, ("single.jpg", single), ("group.png", group))
    told = server.get(f"/api/uploads/{key}")
    [photo] = told["photos"]
    assert (photo["title"], photo["width"], photo["height"]) == ("group.png", 840, 280)
    faces = photo["faces"]
    assert [one["number"] for one in faces] == [1, 2, 3]
    for place, one in enumerate(faces):
        left, _, width, _ = one["box"]
        assert 280 * place < left < left + width < 280 * (place + 1)
        owner = told["people"][one["person"]]
        assert one["title"] == owner["title"]
        assert owner["faces"][one["face"]]["picture"]
    said = server("GET", photo["picture"])
    assert said.header("content-type") == "image/jpeg"
    assert Image.open(io.BytesIO(said.body)).size == (420, 140)
    server("DELETE", f"/api/uploads/{key}")
    assert server("GET", photo["picture"]).status == 404


def test_a_film_is_shown_from_any_moment_while_it_is_there(tmp_path: Path) -> None:
    film = media.video(tmp_path)
    add(tmp_path / "g.gallery", [film], descriptor="lbp")
    with asker(tmp_path / "g.gallery") as server:
        [one] = server.get("/api/sets")["sets"]
        assert one["kind"] == "film"
        assert server.get(f"/api/sets/{one['key']}")["strip"][0]["time"] is not None
        whole = server("GET", one["film"])
        assert (whole.status, whole.body) == (200, film.read_bytes())
        assert whole.header("content-type") == "video/mp4"
        part = server("GET", one["film"], Range="bytes=100-199")
        assert (part.status, part.body) == (206, film.read_bytes()[100:200])
        assert server("GET", one["film"], Range="bytes=999999999-").status == 416
        # A picture's name is no film's, nor the other way round.
        name = one["film"].removeprefix("/films/")
        assert server("GET", f"/pictures/{name}").status == 404
        assert server("GET", one["strip"][0]["picture"].replace("/pictures/", "/films/")).status == 404
        person = server.post("/api/people", {"name": "Ada", "sets": [one["key"]]})
        [moment] = person["timeline"]
        assert moment["key"] == one["key"]
        assert moment["length"] == pytest.approx(one["end"] - one["start"], abs=1e-3)
        # Another file in its place is not what was added.
        film.write_bytes(b"something else")
        assert server("GET", one["film"]).status == 404
        assert server.get(f"/api/sets/{one['key']}")["film"] is None
        film.unlink()
        film.symlink_to("/etc/passwd")
        assert server("GET", one["film"]).status == 404


# Photos that are dropped together.


def test_photos_dropped_together_are_asked_with_as_one_person(tmp_path: Path) -> None:
    drawn = [media.face(240 + 20 * place, person) for place, person in enumerate((0, 0, 1))]
    pair = np.hstack([np.asarray(media.face(240, person)) for person in (1, 0)])
    album = tmp_path / "album"
    album.mkdir()
    for number, one in enumerate(drawn):
        one.save(album / f"{number}.png")
    add(tmp_path / "g.gallery", [album])
    Image.fromarray(pair).save(tmp_path / "pair.png")
    files = [(name, (tmp_path / name).read_bytes()) for name in ("album/0.png", "album/1.png", "pair.png")]
    with asker(tmp_path / "g.gallery") as server:
        key = dropped(server, *files)
        told = server.get(f"/api/uploads/{key}")
        assert told["together"] is True
        assert [len(one["faces"]) for one in told["people"]] == [3, 1]
        [photo] = told["photos"]
        assert [one["person"] for one in photo["faces"]] == [1, 0]
        assert server("GET", f"/uploads/{key}").header("location") == f"/uploads/{key}/find?person=0"
        assert b"These are different people" in server("GET", f"/uploads/{key}?all=1").body
        first = server.post("/api/searches", {"upload": key, "person": 0})
        assert len(server.parts.uploads.person(key, 0)) == first["query"]["faces"] == 3
        assert b"These are different people" in server("GET", f"/uploads/{key}/find?person=0").body
        parted = server.post(f"/api/uploads/{key}/together", {"together": False})
        assert parted["together"] is False
        assert sum(len(one["faces"]) for one in parted["people"]) == 4
        assert b"They are one person" in server("GET", f"/uploads/{key}").body
        again = server.post(f"/api/uploads/{key}/together", {"together": True})
        assert [len(one["faces"]) for one in again["people"]] == [3, 1]
        keys = kept(server, key).split(",")
        assert len(keys) == 2
        [beside] = [pair for pair in server.parts.gallery.apart() if "pair.png" in "".join(pair)]
        assert len(beside) == 2
        said = server("POST", f"/api/uploads/{key}/together", {"together": False})
        assert (said.status, "kept in the collection already" in said.error) == (409, True)


def test_one_photo_has_no_other_reading(server: Asker, tmp_path: Path) -> None:
    key = dropped(server, ("holiday.png", crop(tmp_path)))
    assert server.get(f"/api/uploads/{key}")["together"] is None
    said = server("POST", f"/api/uploads/{key}/together", {"together": True})
    assert (said.status, "agree on one person" in said.error) == (400, True)
