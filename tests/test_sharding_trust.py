"""Collections in several files: verified, backed up, restored, upgraded, and by real commands."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lookalike import Gallery, add, open_gallery, verify
from lookalike.backing import backup, restore
from lookalike.collection import schema
from lookalike.errors import BadInput, Conflict, GalleryUnreadable
from lookalike.forgetting import forget
from lookalike.sharding import split
from lookalike.upgrading import upgrade
from tests import media
from tests.canaries import IDS, clues, fill, leaving, traces
from tests.cli_process import Ready
from tests.collection.samples import a_set, edit
from tests.full_gallery import planted, write_full_gallery
from tests.shards import answers, empty_collection


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    write_full_gallery(place / "g")
    split(place / "g", place / "d", 3)
    return place / "d"


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "d")


FIRST = "WHERE number IN (SELECT min(number) FROM sets)"
PLANTED = {
    "a set in the wrong shard": (1, f"UPDATE sets SET id = 'nobody' {FIRST}", "belongs into"),
    "a decision on nobody": (0, "UPDATE decision_sets SET set_id = 'x' WHERE position = 0", "checksum"),
    "another kind": (1, "UPDATE facts SET value = 'x' WHERE name = 'descriptor'", "those of shard 0 not"),
    "another place": (1, "UPDATE facts SET value = '2 of 3' WHERE name = 'shard'", "it is shard 2 of 3"),
    "a lost face": (2, "DELETE FROM faces WHERE position = 2", "of its 3 faces"),
}


@pytest.mark.parametrize("case", PLANTED)
def test_what_is_planted_is_found(folder: Path, case: str) -> None:
    place, statement, sentence = PLANTED[case]
    name = f"shard-00{place}.gallery"
    assert verify(folder) == []
    planted(folder / name, statement)
    found = verify(folder)
    assert any(sentence in one.what for one in found), [str(one) for one in found]
    assert any(one.where == str(folder / name) for one in found)


def test_a_missing_shard_is_a_finding(folder: Path) -> None:
    (folder / "shard-001.gallery").unlink()
    assert any("lacks shard-001.gallery" in one.what for one in verify(folder))


def test_a_set_that_lies_twice(folder: Path) -> None:
    with open_gallery(folder) as gallery:
        one = gallery.ids()[0]
        home, other = gallery.shard_of(one), (gallery.shard_of(one) + 1) % 3
    with Gallery(folder / f"shard-00{other}.gallery") as shard:
        victim = shard.ids()[0]
    edit(folder / f"shard-00{other}.gallery", f"UPDATE sets SET id = '{one}' WHERE id = '{victim}'")
    assert any(
        f"belongs into shard-00{home}.gallery, where it is too" in found.what for found in verify(folder)
    )


def test_backup_and_restore(folder: Path, tmp_path: Path) -> None:
    with open_gallery(folder) as gallery:
        before = answers(gallery)
        done = backup(gallery, tmp_path / "saved")
        assert (done.sets, done.is_noted) == (15, True)
        assert [one.path for one in gallery.backups()][-1] == str(tmp_path / "saved")
        with pytest.raises(Conflict, match="overwrites nothing"):
            backup(gallery, tmp_path / "saved")
        assert backup(gallery, tmp_path).path.name.startswith("d-20")
        receipt = forget(gallery, ["film#1", "clip-000"], bar=True)
        assert str(tmp_path / "saved") in [one.path for one in receipt.copies]
        assert receipt.is_wiped
    with open_gallery(tmp_path / "saved") as saved:
        assert answers(saved) == before
    made = restore(tmp_path / "saved", tmp_path / "new")
    assert (made.sets, made.kept, made.back) == (15, None, ())
    with pytest.raises(Conflict, match="is there already: restore to another name"):
        restore(tmp_path / "saved", folder)
    made = restore(tmp_path / "saved", folder, replace=True)
    assert made.kept == tmp_path / "d.before-restore"
    assert set(made.back) == {"film#1", "clip-000"}
    with open_gallery(folder) as gallery:
        assert gallery.contents() == before["contents"]
        assert [one.kind for one in gallery.events()] == ["forget", "forget", "restore"]
        assert gallery.barred()
    assert [one for one in verify(folder) if not one.is_harmless] == []
    assert not list(tmp_path.glob(".new-gallery*"))


def test_what_is_not_restored(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInput, match="cannot be restored to itself"):
        restore(folder, folder, replace=True)
    with pytest.raises(BadInput, match="is no collection of several files"):
        restore(folder, tmp_path / "file", replace=True)
    planted(folder / "shard-001.gallery", "DELETE FROM faces WHERE position = 0")
    with pytest.raises(GalleryUnreadable, match="nothing was changed; use another backup"):
        restore(folder, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "file").read_text() == "mine"


def test_a_backup_is_of_one_moment_while_others_add(folder: Path, tmp_path: Path) -> None:
    """Sets come in order, one by one, into any shard: a backup holds all up to one of them."""
    with open_gallery(folder) as gallery:
        for number in range(5):
            gallery.add(a_set(f"later {number:02}", number, dimension=6))

        def track(steps, text, total):
            for step in steps:
                gallery.add(a_set(f"later {90 + len(gallery)}", len(gallery), dimension=6))
                yield step

        backup(gallery, tmp_path / "saved", track)
    with open_gallery(tmp_path / "saved") as saved:
        assert sum(one.startswith("later") for one in saved.ids()) == 5


def test_upgrade(folder: Path) -> None:
    done = upgrade(folder)
    assert (done.before, done.after, done.kept) == (schema.FORMAT, schema.FORMAT, None)


def test_forgotten_means_gone(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    fill(tmp_path / "x" / "d", shards=5)
    looked_for = clues(tmp_path / "x" / "d")
    with open_gallery(tmp_path / "x" / "d") as gallery:
        places = {gallery.shard_of(one) for one in leaving()}
        assert len(places) == 2
        assert 0 not in places
        receipt = forget(gallery, leaving(), bar=True, receipt=tmp_path / "x" / "receipt")
        assert receipt.is_wiped
        assert receipt.derived.rewritten
        assert not [one for one in IDS if one in gallery]
    assert traces(tmp_path / "x", looked_for) == {}


def test_commands(made: Path, tmp_path: Path) -> None:
    shutil.copy(made.parent / "g", tmp_path / "g")
    ready = Ready()
    try:
        said = json.loads(ready.run("split", "g", "d", "--shards", "4", "--json", cwd=tmp_path).out)
        assert said == {"sets": 15, "shards": 4, "folder": "d"}
        for words in (
            ("list", "--json"),
            ("list", "--files", "--json"),
            ("find", "film#1", "--json"),
            ("history", "--json"),
        ):
            whole, spread = (ready.run(words[0], name, *words[1:], cwd=tmp_path) for name in ("g", "d"))
            assert (whole.code, whole.out) == (spread.code, spread.out) == (0, spread.out)
        np_file = ready.run("export", "d", "out.npz", cwd=tmp_path)
        assert np_file.out == "15 sets written to out.npz\n"
        assert ready.run("add", "d", "out.npz", "-q", cwd=tmp_path).out.startswith(
            "0 sets added, 15 were there"
        )
        assert json.loads(ready.run("status", "d", "--json", cwd=tmp_path).out)["shards"] == 4
        for words, out in (
            (("remove", "d", "film#0", "clip-001", "-q"), "2 sets removed"),
            (("verify", "d", "-q"), "d is sound"),
            (("backup", "d", "saved", "-q"), "13 sets backed up to"),
            (("restore", "saved", "again", "-q"), "13 sets restored to again"),
            (("upgrade", "d"), "d is of format 5 already"),
        ):
            ended = ready.run(*words, cwd=tmp_path)
            assert (ended.code, out in ended.out) == (0, True), ended
        refused = ready.run("split", "g", "d", "--shards", "4", cwd=tmp_path)
        assert refused.code == 3
        assert "is not empty" in refused.err
        assert ready.run("split", "g", "e", "--shards", "1001", cwd=tmp_path).code == 3
    finally:
        ready.close()


def test_footage(tmp_path: Path) -> None:
    """Albums, one in the other, a film, a photo of nobody; an album that grows, a film that is moved."""
    from PIL import Image

    archive = tmp_path / "archive"
    (archive / "album" / "inner").mkdir(parents=True)
    for number in (0, 1):
        media.face(240 + 10 * number, number).save(archive / "album" / f"{number}.png")
    media.face(250, 0).save(archive / "album" / "inner" / "0.png")
    Image.new("RGB", (300, 200), (90, 90, 90)).save(archive / "album" / "wall.png")
    shutil.copy(media.video(tmp_path), archive / "clip.mp4")
    folder = empty_collection(tmp_path / "d", 4)
    done = add(folder, [archive], media.DRAWN)
    assert sorted(done.added) == ["album#1", "album#2", "album/inner#1", "clip.mp4#1"]
    media.face(260, 1).save(archive / "album" / "9.png")
    (archive / "clip.mp4").rename(archive / "moved.mp4")
    done = add(folder, [archive])
    assert (done.added, done.grown, done.files, done.known) == ([], ["album#2"], 1, 5)
    with open_gallery(folder) as gallery:
        assert len(gallery.get("album#2")) == 2
        assert gallery.facts()["files"] == 6
        assert [one.path for one in gallery.files_of("clip.mp4#1")] == [str(archive / "moved.mp4")]
        assert sum(len(one) > 0 for one in gallery.shards) > 1
    assert verify(folder) == []


def test_the_page(made: Path, tmp_path: Path) -> None:
    from lookalike.server.desk import Desk
    from lookalike.server.models import SetsAsk

    shutil.copytree(made, tmp_path / "d")
    desks = [Desk(made.parent / "g"), Desk(tmp_path / "d")]
    try:
        pages = [desk.browsing.page(SetsAsk()) for desk in desks]
        assert [one.key for one in pages[0].sets] == [one.key for one in pages[1].sets]
        assert desks[0].gallery_view().sets == desks[1].gallery_view().sets == 15
        keys = [one.key for one in pages[1].sets]
        assert desks[1].judge(keys[-1], [keys[-3]], "unsure")
        assert desks[1].undo()
    finally:
        for desk in desks:
            desk.close()
