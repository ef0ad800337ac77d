"""Who dies between the commits of several shards has changed all of them or none, as the next one sees."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from lookalike import judging, open_gallery
from lookalike.collection import finishing, intents
from lookalike.collection.gallery import Gallery
from lookalike.collection.intents import Intent
from lookalike.errors import GalleryUnreadable, StorageFailed
from lookalike.verifying import verify
from tests.collection import children
from tests.collection.samples import a_file, a_set
from tests.shards import answers, empty_collection

# Where these lie among five shards is written behind them.
SETS = ("a", "b", "c", "d", "e", "f", "g", "h")

DYING = """
import os
import numpy as np
from lookalike import open_gallery
from lookalike.collection import connections, intents
left = None
real_write, real_check = intents.write, connections.check_same
def write(*given):
    global left
    real_write(*given)
    left = int(sys.argv[2])
def check(*given):
    # Asked before every commit: the first one afterwards is that of shard 0.
    global left
    if left is not None:
        left -= 1
        if left < 0:
            os._exit(9)
    real_check(*given)
intents.write, connections.check_same = write, check
with open_gallery(sys.argv[1]) as gallery:
"""
CHANGES = {
    "remove": "    gallery.remove(['a', 'b', 'c', 'd'])",
    "forget": "    gallery.forget(['a', 'b', 'c', 'd'], bar=True)",
    "remove all": "    gallery.remove(gallery.ids())",
    "use": "    gallery.use('second')",
    "add together": "    gallery.add_together([FaceSet(f'n{n}', faces(n)) for n in range(6)], [('n1', 'n2')])",  # noqa: E501
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = empty_collection(tmp_path_factory.mktemp("made") / "d", 5)
    with open_gallery(folder) as gallery:
        for seed, one in enumerate(SETS):
            gallery.add(a_set(one, seed))
        gallery.keep_file(a_file(), [a_set("film#1", 20)], apart=[("film#1", "a")])
        rng = np.random.default_rng(0)
        gallery.describe("second", [(one, rng.normal(size=(3, 6))) for one in gallery.ids()])
        judging.name(gallery, ["a", "e"], "Anna")
        judging.judge(gallery, "c", ["f"], "different")
        assert sum(len(one) > 0 for one in gallery.shards) > 3
    return folder


def said(folder: Path) -> dict[str, object]:
    """What a collection says, without when."""
    with open_gallery(folder) as gallery:
        found = answers(gallery)
        assert not gallery.facts()["purge_due"]
    for name in ("listing", "some", "snapshot"):
        found.pop(name)
    assert [one for one in verify(folder) if not one.is_harmless] == []
    return found


def done(folder: Path, change: str, commits: int) -> int:
    worker = children.start(DYING + CHANGES[change], folder, commits)
    _, err = worker.communicate(timeout=600)
    assert worker.returncode in (0, 9), err
    return worker.returncode


@pytest.mark.parametrize("change", CHANGES)
def test_killed_between_commits(made: Path, tmp_path: Path, change: str) -> None:
    before = said(shutil.copytree(made, tmp_path / "before"))
    shutil.copytree(made, tmp_path / "after")
    assert done(tmp_path / "after", change, 99) == 0
    after = said(tmp_path / "after")
    assert before != after
    # Five shards commit, then shard 0 once more.
    for commits in (0, 1, 3, 5):
        folder = shutil.copytree(made, tmp_path / str(commits))
        assert done(folder, change, commits) == 9
        # Sets that come are there only when all of them are; what goes is gone as soon as that is decided.
        is_done = commits == 5 if change == "add together" else commits > 0
        assert said(folder) == (after if is_done else before), f"after {commits} commits"
        assert b'["leave"' not in b"".join(one.read_bytes() for one in folder.iterdir() if one.is_file())


def test_a_reader_finishes_what_another_process_left(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made, tmp_path / "d")
    with open_gallery(folder) as gallery:
        assert "b" in gallery
        assert done(folder, "remove", 1) == 9
        assert "b" not in gallery
        assert [one.id for one in gallery.sets()] == ["e", "f", "film#1", "g", "h"]
        assert gallery.add(a_set("b", 77))
        assert "b" in gallery


def test_where_nothing_may_be_written_it_is_said(made: Path, tmp_path: Path, obeying) -> None:
    folder = shutil.copytree(made, tmp_path / "d")
    assert done(folder, "remove", 1) == 9
    for one in folder.glob("*-shm"):
        one.unlink()
    with Gallery(folder / "shard-000.gallery"):
        pass  # folds the journal in, and finishes nothing
    code = """
    from lookalike import open_gallery
    try:
        open_gallery(sys.argv[1])
    except LookalikeError as error:
        print(type(error).__name__, "|", error)
    """
    folder.chmod(0o500)
    try:
        told = children.run(code, folder, before=obeying)
    finally:
        folder.chmod(0o700)
    assert told.startswith(
        f"StorageFailed | a change of {folder} was interrupted and cannot be finished where"
    )
    with open_gallery(folder) as gallery:
        assert gallery.ids() == ["e", "f", "film#1", "g", "h"]


def test_an_intent_that_is_none(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made, tmp_path / "d")
    from tests.collection.samples import edit

    edit(folder / "shard-000.gallery", "INSERT INTO facts VALUES ('intent', '[\"dance\", [], \"\"]')")
    with pytest.raises(GalleryUnreadable, match="does not say what is to be finished"):
        open_gallery(folder)


def test_finishing_twice_does_nothing_more(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made, tmp_path / "d")
    with open_gallery(folder) as gallery:
        one = Intent(intents.LEAVE, ("a",))
        finishing.finish(gallery._together, gallery._merged, one)  # it is not said in shard 0
        assert "a" in gallery


def test_a_disk_that_refuses_in_the_middle(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Once it is decided the sets are gone, though a shard could not be written: it is written later."""
    folder = shutil.copytree(made, tmp_path / "d")
    with open_gallery(folder) as gallery:
        real, left = intents.clear, [1]

        def refuse(*given):
            if left:
                left.pop()
                raise StorageFailed("the disk is full")
            real(*given)

        monkeypatch.setattr(intents, "clear", refuse)
        gallery.remove(["a", "b"])
        assert "a" not in gallery
    assert "removal in" in caplog.text
