"""A backup is one whole version whoever writes meanwhile, and what is restored was read before."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from lookalike import FaceSet, Gallery, find, verify
from lookalike.errors import BadInput, Conflict, GalleryUnreadable, NotFound, StorageFailed
from lookalike.gallery import history
from lookalike.gallery.backup import backup, restore, upgrade
from lookalike.gallery.deletion import HOLDS
from lookalike.gallery.forget import forget
from lookalike.indexing.store import TableStore
from tests.full_gallery import copied, planted, write_full_gallery
from tests.gallery import children
from tests.gallery.samples import a_set, raw, write_format_1
from tests.gallery.test_upgrade import write_format


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "g.gallery"
    write_full_gallery(path)
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return copied(made, tmp_path)


def dump(path: Path, *, without: tuple[str, ...] = ("events", "backups")) -> list[str]:
    """All that a gallery says, besides the history that making and restoring backups adds to."""
    with closing(sqlite3.connect(path)) as connection:
        named = [*(f'"{name}"' for name in (*without, "sqlite_sequence")), "'commits'"]
        return [line for line in connection.iterdump() if not any(name in line for name in named)]


def test_a_backup_is_the_same_gallery(path: Path) -> None:
    with Gallery(path) as gallery:
        done = backup(gallery, path.parent / "copy")
        assert (done.path, done.sets, done.is_noted) == (path.parent / "copy", len(gallery), True)
        assert [one.path for one in gallery.backups()] == ["/backups/one", str(done.path)]
    assert dump(done.path) == dump(path)
    assert verify(done.path) == []
    assert stat.S_IMODE(done.path.stat().st_mode) == 0o600
    assert sorted(each.name for each in path.parent.iterdir()) == ["copy", "g.gallery"]


def test_a_folder_gets_a_file_with_the_time(path: Path, tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    with Gallery(path) as gallery:
        done = backup(gallery, tmp_path / "backups")
    assert done.path.parent == tmp_path / "backups"
    assert done.path.match("g-????-??-??T??????Z.gallery")


def test_nothing_is_overwritten(path: Path) -> None:
    (path.parent / "there").write_text("mine")
    with Gallery(path) as gallery:
        for taken in (path, path.parent / "there"):
            with pytest.raises(Conflict, match="is there already, and a backup overwrites nothing"):
                backup(gallery, taken)
        with pytest.raises(NotFound, match="does not exist: make it first"):
            backup(gallery, path.parent / "no" / "copy")
        assert len(gallery.backups()) == 1
    assert (path.parent / "there").read_text() == "mine"


def test_a_backup_that_fails_is_not_noted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.atomic.publish", lambda *_: False)
    with Gallery(path) as gallery:
        with pytest.raises(Conflict, match="made meanwhile"):
            backup(gallery, path.parent / "copy")
        assert len(gallery.backups()) == 1
    assert [each.name for each in path.parent.iterdir()] == ["g.gallery"]


def test_an_old_gallery_is_not_changed_by_its_backup(tmp_path: Path) -> None:
    write_format_1(tmp_path / "old", [a_set("a")])
    with Gallery(tmp_path / "old") as gallery:
        done = backup(gallery, tmp_path / "copy")
        assert not done.is_noted
        assert gallery.facts()["format"] == 1
    assert dump(tmp_path / "copy") == dump(tmp_path / "old")


def test_one_version_while_others_write(path: Path) -> None:
    """Two sets are added together, again and again: no backup has one of them alone."""
    code = """
    from tests.gallery.samples import a_file, a_set
    with Gallery(sys.argv[1]) as gallery:
        print("ready", flush=True)
        for number in range(10_000):
            pair = [a_set(f"{number} {one}", number, 40, 6) for one in "ab"]
            gallery.keep_file(a_file(str(number)), pair)
    """
    writer = children.start(
        "import os; sys.path.insert(0, os.getcwd())\n" + code.replace("\n    ", "\n"), path
    )
    assert writer.stdout.readline().strip() == "ready"
    try:
        counts = []
        with Gallery(path) as gallery:
            for number in range(8):
                counts.append(backup(gallery, path.parent / f"copy {number}").sets)
        assert writer.poll() is None, writer.stderr.read()
    finally:
        writer.kill()
        writer.communicate()
    for number, count in enumerate(counts):
        copy = path.parent / f"copy {number}"
        assert verify(copy) == []
        with Gallery(copy) as gallery:
            ids = [each for each in gallery.ids() if each[0].isdigit()]
            assert len(gallery) == count
            assert len(ids) == 2 * len({each.split()[0] for each in ids})
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


def test_a_backup_does_not_keep_what_is_to_be_wiped(path: Path) -> None:
    with Gallery(path) as gallery:
        gallery.add(FaceSet("secret", a_set(dimension=6).faces, origin="CANARY-" * 40))
        reader = gallery.sets()
        next(reader)
        gallery.remove(["secret"])  # the reader holds up the wipe
        assert gallery.facts()["purge_due"]
        done = backup(gallery, path.parent / "copies")
        assert b"CANARY-" not in done.path.read_bytes()
        reader.close()
    assert b"CANARY-" not in raw(path)


def test_a_progress_that_is_interrupted_leaves_nothing(path: Path) -> None:
    def track(items, text, total):
        raise KeyboardInterrupt

    with Gallery(path) as gallery, pytest.raises(KeyboardInterrupt):
        backup(gallery, path.parent / "copy", track)
    assert [each.name for each in path.parent.iterdir()] == ["g.gallery"]


# Restoring.


@pytest.fixture
def saved(path: Path) -> Path:
    with Gallery(path) as gallery:
        return backup(gallery, path.parent / "saved").path


def test_restored_to_a_new_name(path: Path, saved: Path) -> None:
    before = saved.read_bytes()
    done = restore(saved, path.parent / "new")
    assert (done.sets, done.kept, done.back) == (15, None, ())
    assert dump(path.parent / "new") == dump(path)
    assert saved.read_bytes() == before
    assert verify(path.parent / "new") == []
    with Gallery(path.parent / "new") as gallery:
        assert [one.kind for one in gallery.events()] == ["forget", "restore"]
        assert gallery.events()[-1].said["sets"] == 15


def test_a_gallery_that_is_there_is_refused_or_kept(path: Path, saved: Path) -> None:
    earlier = dump(path)
    with Gallery(path) as gallery:
        gallery.add(a_set("later", dimension=6))
        find("later", gallery)
    changed = dump(path)
    with pytest.raises(Conflict, match="--replace"):
        restore(saved, path)
    assert dump(path) == changed
    done = restore(saved, path, replace=True)
    assert done.kept == path.with_name("g.gallery.before-restore")
    assert dump(path) == earlier
    assert dump(done.kept) == changed
    assert verify(done.kept) == verify(path) == []
    assert TableStore.beside(path).stored() == [], "tables of the gallery before know a set that is gone"
    assert restore(saved, path, replace=True).kept == path.with_name("g.gallery.before-restore-2")
    with Gallery(path) as gallery:
        assert [one.kind for one in gallery.events()] == ["forget", "restore", "restore"]
        assert [Path(one.path).name for one in gallery.backups()] == [
            "one",
            "saved",
            "g.gallery.before-restore",
            "g.gallery.before-restore-2",
        ]


def test_what_was_forgotten_since_is_named(path: Path, saved: Path) -> None:
    with Gallery(path) as gallery:
        content = gallery.contents()["film#1"]
        gallery.remove(["film#1"])
        with gallery._opened.transaction(writing=True) as connection:
            history.insert(connection, "forget", {"sets": 1, "contents": [content]})
    done = restore(saved, path, replace=True)
    assert done.back == ("film#1",)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_old_backup_does_not_let_in_what_is_barred(tmp_path: Path, number: int) -> None:
    path, old = tmp_path / "g", tmp_path / "old"
    write_format(path, number)
    with Gallery(path) as gallery:
        backup(gallery, old)
    upgrade(path)
    with Gallery(path) as gallery:
        gone = gallery.ids()[0]
        gallery.forget([gone], bar=True)
        barred = gallery.barred().entries
    done = restore(old, path, replace=True)
    assert done.back == (gone,)
    with Gallery(path) as gallery:
        assert gallery.barred().entries == barred
        assert [one.kind for one in gallery.events()] == ["upgrade", "forget", "restore"]
    assert verify(path) == []


def test_the_history_of_another_gallery_is_not_carried_over(path: Path, saved: Path, tmp_path: Path) -> None:
    with Gallery(tmp_path / "other", create=True) as gallery:
        gallery.add(a_set("x"))
        with gallery._opened.transaction(writing=True) as connection:
            history.insert(connection, "forget", {"sets": 9})
    restore(saved, tmp_path / "other", replace=True)
    with Gallery(tmp_path / "other") as gallery:
        assert [one.said.get("sets") for one in gallery.events()] == [1, 15]


def test_a_damaged_backup_changes_nothing(path: Path, saved: Path) -> None:
    planted(saved, "UPDATE faces SET descriptor = zeroblob(24) WHERE number = 5")
    before = dump(path)
    with pytest.raises(
        GalleryUnreadable, match=r"saved is damaged \(face 1 of set .*\): nothing was changed"
    ):
        restore(saved, path, replace=True)
    with pytest.raises(GalleryUnreadable, match="saved is damaged"):
        restore(saved, path.parent / "new")
    assert dump(path) == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["g.gallery", "saved"]


def test_what_is_no_backup(path: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no backup"):
        restore(tmp_path / "none", tmp_path / "new")
    with pytest.raises(GalleryUnreadable, match="is not a gallery"):
        restore(__file__, tmp_path / "new")
    with pytest.raises(BadInput, match="to itself"):
        restore(path, path, replace=True)


def test_no_place_for_a_gallery(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match="is a folder: name the gallery file"):
        restore(saved, tmp_path / "folder", replace=True)
    with pytest.raises(NotFound, match="no does not exist: make it first"):
        restore(saved, tmp_path / "no" / "g")
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"not a gallery" * 20, None])
def test_a_gallery_that_cannot_be_opened_is_replaced_and_kept(
    path: Path, saved: Path, damage: bytes | None
) -> None:
    earlier = dump(path)
    is_sqlite = damage is None
    if damage is None:
        content = path.read_bytes()
        damage = content[:100] + bytes(16284) + content[16384:]
    path.write_bytes(damage)
    Path(f"{path}-wal").write_bytes(b"left over")
    done = restore(saved, path, replace=True)
    assert done.kept is not None
    assert done.kept.read_bytes() == damage
    # SQLite itself drops a journal in which there is nothing to read.
    assert is_sqlite or Path(f"{done.kept}-wal").read_bytes() == b"left over"
    assert not Path(f"{path}-wal").exists()
    assert dump(path) == earlier
    assert verify(path) == []


ADD_AND_DIE = """
import os
gallery = Gallery(sys.argv[1])
gallery._opened._settle_soon = lambda: None
gallery.add(FaceSet("later", faces(1, dimension=6)))
os._exit(0)
"""


def test_what_is_replaced_is_kept_whole_though_its_writer_died(path: Path, saved: Path) -> None:
    children.run(ADD_AND_DIE, path)
    kept = restore(saved, path, replace=True).kept
    assert kept is not None
    with Gallery(kept) as gallery:
        assert (gallery.lacks, "later" in gallery) == ("", True)
    assert verify(kept) == verify(path) == []


def test_whoever_dies_while_alone_leaves_a_whole_file(path: Path) -> None:
    children.run(ADD_AND_DIE, path)
    die = """
    import os
    from lookalike.gallery.backup import alone
    with alone(Path(sys.argv[1]), 1.0):
        os._exit(0)
    """
    children.run(die, path)
    with Gallery(path) as gallery:
        assert (gallery.lacks, "later" in gallery) == ("", True)
        gallery.add(a_set("new", dimension=6))


def test_nobody_else_may_use_what_is_replaced(path: Path, saved: Path) -> None:
    with Gallery(path) as gallery:
        with pytest.raises(StorageFailed, match="in use by another process"):
            restore(saved, path, replace=True, wait=0.2)
        gallery.add(a_set("later", dimension=6))
    assert sorted(each.name for each in path.parent.iterdir()) == ["g.gallery", "saved"]
    with Gallery(path) as gallery:
        assert "later" in gallery


def test_a_link_leads_to_its_gallery(path: Path, saved: Path, tmp_path: Path) -> None:
    os.symlink(path, tmp_path / "link")
    done = restore(saved, tmp_path / "link", replace=True)
    assert (tmp_path / "link").is_symlink()
    assert done.kept == path.with_name("g.gallery.before-restore")


MAKE_AND_STAY = """
from lookalike import atomic
from lookalike.gallery.backup import backup
def stay(*given):
    print("made", flush=True)
    import time; time.sleep(600)
atomic.publish = stay
with Gallery(sys.argv[1]) as gallery:
    backup(gallery, sys.argv[2])
"""


@pytest.mark.parametrize("sweeping", ["another backup", "forgetting"])
def test_what_a_killed_backup_left_is_swept_and_what_another_makes_stays(
    path: Path, tmp_path: Path, sweeping: str
) -> None:
    """A whole copy of the faces lay there, hidden, and `forget` looked beside the gallery only."""
    away = tmp_path / "away"
    away.mkdir()
    making = [children.start(MAKE_AND_STAY, path, away / name) for name in "ab"]
    for one in making:
        assert one.stdout.readline() == "made\n", one.stderr.read()
    copies = set(away.iterdir())
    assert len(copies) == 2
    children.kill(making[0])
    with Gallery(path) as gallery:
        if sweeping == "forgetting":
            # The note of a backup is made before it, so that the folder is known.
            receipt = forget(gallery, [gallery.ids()[0]])
            assert any(one.state == HOLDS and "new-gallery" in one.path for one in receipt.copies)
        else:
            backup(gallery, away / "c")
    left = {one for one in away.iterdir() if one.name != "c"}
    assert len(left) == 1
    assert left < copies
    children.kill(making[1])
    with Gallery(path) as gallery:
        forget(gallery, [gallery.ids()[-1]])
    assert {one.name for one in away.iterdir()} <= {"c"}
