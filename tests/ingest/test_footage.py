"""From footage to sets: what is in the gallery after photos and films were added."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike import Gallery, add
from lookalike.demo.footage import draw_footage, write_footage
from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.ingest.footage import Added, add_footage
from lookalike.ingest.plan import Plan
from lookalike.progress import Step
from tests import media
from tests.ingest.test_header import dated_photo


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drawn film with cuts, two people at once, a face that leaves and returns."""
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    drawn = draw_footage()
    write_footage(path, drawn.frames(), drawn.rate)
    return path


@pytest.fixture(scope="module")
def filmed(film: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gallery") / "g.gallery"
    add(path, [film], "lbp")
    return path


def test_a_drawn_film_gives_the_known_tracks_exactly(filmed: Path) -> None:
    drawn = draw_footage().tracks
    with Gallery(filmed) as gallery:
        found = sorted(gallery.listing(), key=lambda one: int(one.id.rpartition("#")[2]))
        assert [one.id for one in found] == [f"film.mp4#{n}" for n in range(1, len(drawn) + 1)]
        for one, track in zip(found, sorted(drawn, key=lambda track: track.start), strict=True):
            assert one.start == pytest.approx(track.start, abs=0.4)
            assert one.end == pytest.approx(track.end, abs=0.4)


def test_who_was_seen_together_is_remembered_as_apart(filmed: Path) -> None:
    tracks = sorted(draw_footage().tracks, key=lambda track: track.start)
    together = {
        (f"film.mp4#{a + 1}", f"film.mp4#{b + 1}")
        for a, first in enumerate(tracks)
        for b, second in enumerate(tracks)
        if a < b and first.start < second.end - 0.4 and second.start < first.end - 0.4
    }
    assert together
    with Gallery(filmed) as gallery:
        assert {tuple(sorted(pair)) for pair in gallery.apart()} == {tuple(sorted(pair)) for pair in together}


def test_every_face_says_where_it_was_seen(filmed: Path) -> None:
    with Gallery(filmed) as gallery:
        one = gallery.get("film.mp4#1", pictures=True)
        assert len(one.sightings) == len(one.pictures) == len(one)
        assert one.sources[0].startswith("film.mp4 at 00:00:0")
        assert gallery.facts()["files"] == 1
        assert gallery.descriptor is not None
        assert gallery.descriptor.startswith("lbp")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An album of two people, of whom one is in two photos, and a film."""
    folder = tmp_path / "archive"
    (folder / "album").mkdir(parents=True)
    for number, person in enumerate((0, 0, 1)):
        media.face(240 + 10 * number, person).save(folder / "album" / f"{number}.png")
    shutil.copy(media.video(tmp_path), folder / "clip.mp4")
    return folder


def test_an_album_is_grouped_by_person(archive: Path, tmp_path: Path) -> None:
    gallery = tmp_path / "g.gallery"
    done = add(gallery, [archive], media.DRAWN)
    assert sorted(done.added) == ["album#1", "album#2", "clip.mp4#1"]
    assert done.grown == ["album#1"]
    assert (done.files, done.known, done.failed) == (4, 0, [])
    with Gallery(gallery) as opened:
        assert len(opened.get("album#1")) == 2
        assert len(opened.get("album#2")) == 1


def test_a_descriptor_that_cannot_tell_people_apart_groups_nothing(archive: Path, tmp_path: Path) -> None:
    done = add(tmp_path / "g.gallery", [archive], "lbp")
    assert sorted(done.added) == ["album/0.png#1", "album/1.png#1", "album/2.png#1", "clip.mp4#1"]


def test_only_what_is_new_or_changed_is_taken(archive: Path, tmp_path: Path) -> None:
    gallery = tmp_path / "g.gallery"
    add(gallery, [archive], "lbp")
    again = add(gallery, [archive])
    assert (again.added, again.files, again.known) == ([], 0, 4)
    # Moved and touched: known by its content.
    (archive / "clip.mp4").rename(archive / "moved.mp4")
    (archive / "album" / "0.png").touch()
    moved = add(gallery, [archive])
    assert (moved.added, moved.files, moved.known) == ([], 0, 4)
    # Another picture under the same name is another picture.
    media.face(240, 5).save(archive / "album" / "0.png")
    changed = add(gallery, [archive])
    assert changed.added == ["album/0.png~2#1"]
    # And a copy is not.
    shutil.copy(archive / "moved.mp4", archive / "copy.mp4")
    copied = add(gallery, [archive])
    assert (copied.added, copied.files, copied.known) == ([], 0, 5)


def test_whoever_waits_sees_what_takes_least_first(archive: Path, tmp_path: Path) -> None:
    drawn = draw_footage(2, 6.0, size=(320, 180), rate=10.0)
    write_footage(archive / "a long one.mp4", drawn.frames(), drawn.rate)
    seen: list[str] = []
    done = Added()

    def watch(items: Iterable[Any], text: str, total: int | None) -> Iterator[Any]:
        for item in items:
            if isinstance(item, Step):
                seen.append(item.words.partition(",")[0])
            assert text != "measuring the pace"
            yield item

    assert add_footage(tmp_path / "g", [archive], media.DRAWN, track=watch, done=done, soon=True) is done
    order = ["album/0.png", "album/1.png", "album/2.png", "clip.mp4", "a long one.mp4"]
    assert list(dict.fromkeys(seen)) == order
    # In another order, the same sets.
    usual = add(tmp_path / "h", [archive], media.DRAWN)
    assert (sorted(done.added), done.files) == (sorted(usual.added), usual.files)
    with Gallery(tmp_path / "g") as soon, Gallery(tmp_path / "h") as later:
        assert soon.contents() == later.contents()


def test_an_album_that_grows_joins_the_groups_it_has(archive: Path, tmp_path: Path) -> None:
    gallery = tmp_path / "g.gallery"
    add(gallery, [archive / "album"], media.DRAWN)
    media.face(250, 1).save(archive / "album" / "9.png")
    more = add(gallery, [archive / "album"])
    assert (more.added, more.grown) == ([], ["album#2"])


def test_bad_files_are_listed_and_the_rest_is_added(archive: Path, tmp_path: Path) -> None:
    for make in (media.headless_video, media.truncated_photo, media.bomb, media.text, media.huge_video):
        make(archive)
    media.truncated_video(archive)
    done = add(tmp_path / "g.gallery", [archive], "lbp")
    assert len(done.failed) == 5
    assert len(done.remarks) == 1
    assert all("\n" not in reason for _, reason in done.failed)
    assert len(done.added) == 5


def test_a_bad_file_is_named_once_and_as_it_was_given(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = media.truncated_photo(archive)
    monkeypatch.chdir(tmp_path)
    [(name, reason)] = add("g.gallery", [archive.relative_to(tmp_path)], "lbp").failed
    assert name == str(cut.relative_to(tmp_path))
    assert reason.startswith(f"{name!r} is a damaged picture")
    assert reason.count(cut.name) == 1


def test_a_dry_run_changes_nothing_and_refuses_ready_made_faces(archive: Path, tmp_path: Path) -> None:
    plans: list[Plan] = []
    done = add(tmp_path / "g.gallery", [archive], tell=lambda plan: not plans.append(plan), dry_run=True)
    assert (done.added, done.files, len(plans)) == ([], 0, 1)
    with pytest.raises(BadInput, match=r"'.*album' holds ready-made faces: .*leave --dry-run out"):
        add(tmp_path / "g.gallery", [archive / "album"], cropped=True, dry_run=True)
    assert not (tmp_path / "g.gallery").exists()


def test_a_file_without_a_face_is_not_looked_at_again(tmp_path: Path) -> None:
    from PIL import Image

    folder = tmp_path / "a"
    folder.mkdir()
    Image.fromarray(np.full((200, 300, 3), 90, np.uint8)).save(folder / "wall.png")
    first, second = (add(tmp_path / "g.gallery", [folder], "lbp") for _ in range(2))
    assert (first.added, first.files) == ([], 1)
    assert (second.files, second.known) == (0, 1)


def test_the_plan_comes_first_and_can_be_declined(archive: Path, tmp_path: Path) -> None:
    plans: list[Plan] = []

    def decline(plan: Plan) -> bool:
        plans.append(plan)
        return False

    done = add(tmp_path / "g.gallery", [archive], tell=decline)
    assert (plans[0].films, plans[0].photos, plans[0].albums) == (1, 3, 1)
    assert plans[0].film_seconds == pytest.approx(len(media.frames()) / media.RATE, abs=0.2)
    assert done.added == []
    assert not (tmp_path / "g.gallery").exists()


def test_the_progress_names_the_file_and_counts_faces(archive: Path, tmp_path: Path) -> None:
    seen: list[Step] = []

    def watching(items: Iterable[Any], text: str, total: int | None) -> Iterator[Any]:
        for item in items:
            if text == "looking for faces":
                seen.append(item)
            yield item

    add(tmp_path / "g.gallery", [archive], "lbp", track=watching)
    with Gallery(tmp_path / "g.gallery") as gallery:
        faces = sum(one.faces for one in gallery.listing())
        names = {Path(one.path).relative_to(archive).as_posix() for one in gallery.files()}
    assert {step.words.partition(", ")[0] for step in seen} >= names
    assert seen[-1].words.endswith(f", {faces} faces so far")
    assert seen[-1].left == 0
    assert all(step.left is not None and step.left > 0 for step in seen[:-1])


def test_an_interrupted_run_goes_on(archive: Path, tmp_path: Path) -> None:
    gallery = tmp_path / "g.gallery"

    def stopping(items, text, total):  # type: ignore[no-untyped-def]
        for number, item in enumerate(items):
            if text == "looking for faces" and number == 2:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        add(gallery, [archive], "lbp", track=stopping)
    with Gallery(gallery) as opened:
        before = len(opened)
        assert 0 < before < 4
    add(gallery, [archive])
    with Gallery(gallery) as opened:
        assert len(opened) == 4


def test_a_gallery_of_crops_takes_pictures_for_crops(archive: Path, tmp_path: Path) -> None:
    gallery = tmp_path / "g.gallery"
    assert add(gallery, [archive / "album"], cropped=True).added == ["album"]
    with pytest.raises(Conflict, match="already has a set"):
        add(gallery, [archive / "album"], most=1)


def test_what_contradicts_the_gallery_is_refused(archive: Path, tmp_path: Path) -> None:
    gallery = tmp_path / "g.gallery"
    add(gallery, [archive], "lbp")
    with pytest.raises(Conflict, match="lookalike describe"):
        add(gallery, [archive], "deep")
    with pytest.raises(BadInput, match="have no array"):
        add(gallery, [archive], array="x")
    with pytest.raises(BadInput, match="frames a second"):
        add(gallery, [archive], rate=0)
    with pytest.raises(NotFound, match="no file or folder"):
        add(gallery, [tmp_path / "missing"])


def test_removed_sets_may_come_back(archive: Path, tmp_path: Path) -> None:
    gallery = tmp_path / "g.gallery"
    add(gallery, [archive], "lbp")
    with Gallery(gallery) as opened:
        opened.remove(["clip.mp4#1"])
    assert add(gallery, [archive]).added == ["clip.mp4#1"]


def test_strange_names_and_what_leads_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    strange = media.under_strange_names(media.photo(folder, ".png"))
    (folder / "round").symlink_to(folder, target_is_directory=True)
    outside = media.video(tmp_path)
    media.playlist(folder, str(outside))
    media.disguised_playlist(folder, str(outside))
    media.concat_script(folder, str(outside), "script.mp4")
    media.linked_video(folder, outside)
    done = add(tmp_path / "g.gallery", [folder], "lbp")
    # All photos are one content; the first name is kept.
    assert (len(done.added), done.files, done.known) == (1, 1, len(strange))
    assert all(one.isprintable() for one in done.added)
    assert len(done.failed) == 3
    with Gallery(tmp_path / "g.gallery") as gallery:
        assert all("good" not in file.path or file.kind == "photo" for file in gallery.files())


def test_strange_names_become_names_of_sets(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    paths = media.under_strange_names(media.photo(folder, ".png"))
    for number, path in enumerate(paths):
        media.face(200 + 20 * number, number).save(path, "PNG")
    done = add(tmp_path / "g.gallery", [folder], "lbp")
    assert len(set(done.added)) == len(paths) + 1
    assert all(one.isprintable() for one in done.added)
    # They are known the next time.
    assert add(tmp_path / "g.gallery", [folder]).known == len(paths) + 1


def test_crops_stay_crops_when_a_film_is_added(archive: Path, tmp_path: Path) -> None:
    gallery = tmp_path / "g.gallery"
    add(gallery, [archive / "album"], cropped=True)
    assert add(gallery, [archive / "clip.mp4"]).added == ["clip.mp4#1"]
    # Now it holds both, and somebody has to say which these are.
    with pytest.raises(Conflict, match="by --photos or --cropped"):
        add(gallery, [archive / "album"])
    assert add(gallery, [archive / "album"], cropped=True).unchanged == ["album"]
    assert len(add(gallery, [archive / "album"], cropped=False).added) == 3
    assert add(gallery, [archive / "clip.mp4"]).known == 1


def test_bad_files_that_are_given_by_name_stop_nobody(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jpg").touch()
    done = add(tmp_path / "g.gallery", [tmp_path / "empty.jpg", archive / "clip.mp4"], "lbp")
    assert done.added == ["clip.mp4#1"]
    assert ["is empty" in reason for _, reason in done.failed] == [True]


def test_a_photo_that_is_refused_leaves_its_album_whole(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lookalike.descriptors.deep import Deep

    describe, asked = Deep.describe_many, []

    def failing(self: Deep, pictures: list[np.ndarray]) -> np.ndarray:
        asked.append(len(pictures))
        found = describe(self, pictures)
        # Numbers that are all the same describe nothing, and no gallery takes them.
        return np.ones_like(found) if len(asked) == 1 else found

    monkeypatch.setattr(Deep, "describe_many", failing)
    done = add(tmp_path / "g.gallery", [archive / "album"], media.DRAWN)
    assert [file.endswith("0.png") for file, _ in done.failed] == [True]
    assert sorted(done.added) == ["album#1", "album#2"]


def test_a_film_that_claims_to_last_for_ever_stops_nobody(archive: Path, tmp_path: Path) -> None:
    long = (archive / "clip.mp4").read_bytes()
    place = long.index(b"mdhd") + 4 + 12
    scale = int.from_bytes(long[place : place + 4], "big")
    claimed = long[: place + 4] + (scale * 1_000_000 % 2**32).to_bytes(4, "big") + long[place + 8 :]
    (archive / "long.mp4").write_bytes(claimed)
    plans: list[Plan] = []
    done = add(tmp_path / "g.gallery", [archive], "lbp", tell=lambda plan: plans.append(plan) or True)
    assert plans[0].film_seconds < 1000
    assert "clip.mp4#1" in done.added


def test_files_are_asked_when_they_were_taken(archive: Path, tmp_path: Path) -> None:
    """New ones while they are looked at; those of an older gallery when added again, once."""
    folder = tmp_path / "dated"
    folder.mkdir()
    dated_photo(folder / "a.jpg", "2019:07:14 12:30:05", "+02:00")
    shutil.copy(media.photo(tmp_path), folder / "b.jpg")
    path = tmp_path / "g"
    add(path, [folder], "lbp")
    dates = {"a.jpg": "2019-07-14T12:30:05+02:00", "b.jpg": ""}
    with Gallery(path) as gallery:
        assert {Path(one.path).name: one.captured for one in gallery.files()} == dates
        before = gallery.fingerprint()
    # As format 5 left it.
    with closing(sqlite3.connect(path)) as connection, connection:
        for row in connection.execute(
            "SELECT number, content, path, size, changed, kind, settings, remark FROM files"
        ):
            checksum = hashlib.sha256(json.dumps(row[1:]).encode()).digest()
            connection.execute(
                "UPDATE files SET captured = NULL, checksum = ? WHERE number = ?", (checksum, row[0])
            )
    (folder / "b.jpg").rename(folder / "c.jpg")
    done = add(path, [folder])
    assert (done.added, done.files, done.known) == ([], 0, 2)
    with Gallery(path) as gallery:
        found = {Path(one.path).name: one.captured for one in gallery.files()}
        assert found == {"a.jpg": dates["a.jpg"], "c.jpg": None}  # moved: known by content, not looked at
        assert gallery.fingerprint() == before
    add(path, [folder])
    with Gallery(path) as gallery:
        assert {Path(one.path).name: one.captured for one in gallery.files()} == {
            "a.jpg": dates["a.jpg"],
            "c.jpg": "",
        }
        written = gallery._opened.connection.execute("PRAGMA data_version").fetchone()
        add(path, [folder])
        assert gallery._opened.connection.execute("PRAGMA data_version").fetchone() == written
