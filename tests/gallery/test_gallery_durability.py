"""The gallery against kills, other processes, full disks."""

from __future__ import annotations

import random
import re
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import StorageFailed
from lookalike.gallery.gallery import Gallery
from tests.gallery import children
from tests.gallery.samples import SEED, a_set
from tests.waiting import PATIENCE

KILLS = 15


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """On a real disk, unlike in the other tests."""
    return tmp_path / "x.gallery"


# Kills.

ADD_FOR_EVER = """
path, first = sys.argv[1], int(sys.argv[2])
with Gallery(path, create=True) as gallery:
    for number in range(first, first + 100_000):
        gallery.add(FaceSet(f"{number:06d}", faces(number, 20, 64), pictures=[b"p" * 3000] * 20))
        print(number, flush=True)
"""


def test_kill_while_adding(path: Path) -> None:
    """After each kill at a random moment every acknowledged set is there, whole; no half set, no repair."""
    chance = random.Random(SEED)
    acknowledged: list[int] = []
    for kill in range(KILLS):
        first = kill * 1000
        child = children.start(ADD_FOR_EVER, path, first)
        line = child.stdout.readline()
        assert line, child.stderr.read()
        time.sleep(chance.uniform(0, 0.05))
        acknowledged += map(int, [line, *children.kill(child)])
        started = time.monotonic()
        with Gallery(path) as gallery:
            found = set(map(int, gallery.ids()))
        assert time.monotonic() - started < 2
        assert found.issuperset(acknowledged), f"lost with seed {SEED}: {set(acknowledged) - found}"
        # At most the one set that was committed when the kill came, before it could be acknowledged.
        assert len(found - set(acknowledged)) <= kill + 1
    with Gallery(path) as gallery:
        for whole in gallery.sets():
            expected = np.random.default_rng(int(whole.id)).normal(size=(20, 64)).astype(np.float32)
            assert whole.faces.tobytes() == expected.tobytes()
        assert gallery._opened.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(acknowledged) >= KILLS


KEEP_FOR_EVER = """
from lookalike.gallery.media import MediaFile
from lookalike.faceset import Sighting
path, first = sys.argv[1], int(sys.argv[2])

def a_set(name, seed, count):
    seen = [Sighting((1, 2, 3, 4), 0.9, 0.5, 0.4, 0.1, float(seed))] * count
    return FaceSet(name, faces(seed, count, 64), pictures=[b"p" * 3000] * count, sightings=seen)

with Gallery(path, create=True) as gallery:
    if "album" not in gallery:
        gallery.add(a_set("album", 0, 1))
    for number in range(first, first + 100_000):
        ids = [f"{number:06d} {letter}" for letter in "abc"]
        file = MediaFile(f"{number:064d}", f"/films/{number}", 1, 1, "video")
        new = [a_set(name, number, 6) for name in ids]
        assert gallery.keep_file(file, new, [a_set("album", number, 1)], [(ids[0], ids[1])])
        print(number, flush=True)
"""


def test_kill_while_keeping_files(path: Path) -> None:
    """A file is there with its three sets, its face in the album and its pair, or nothing of it is."""
    chance = random.Random(SEED)
    acknowledged: set[int] = set()
    for kill in range(KILLS):
        child = children.start(KEEP_FOR_EVER, path, 1 + kill * 1000)
        line = child.stdout.readline()
        assert line, child.stderr.read()
        time.sleep(chance.uniform(0, 0.05))
        acknowledged |= set(map(int, [line, *children.kill(child)]))
        with Gallery(path) as gallery:
            found = {int(file.content) for file in gallery.files()}
            assert found >= acknowledged, f"lost with seed {SEED}: {acknowledged - found}"
            assert len(found - acknowledged) <= kill + 1
            ids = [f"{number:06d} {letter}" for number in sorted(found) for letter in "abc"]
            assert gallery.ids() == [*ids, "album"]
            assert gallery.apart() == [(ids[place], ids[place + 1]) for place in range(0, len(ids), 3)]
            album = gallery.get("album", pictures=True)
            assert [one.time for one in album.sightings] == [0.0, *sorted(found)]
    with Gallery(path) as gallery:
        for name in gallery.ids():
            assert len(gallery.get(name, pictures=True).sightings) == (len(album) if name == "album" else 6)
        assert gallery._opened.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert gallery._opened.connection.execute("PRAGMA foreign_key_check").fetchall() == []


# Several processes.


def test_processes_create_and_add_at_once(path: Path) -> None:
    code = """
    path, worker, start = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    import time
    time.sleep(max(0, start - time.time()))
    with Gallery(path, create=True) as gallery:
        for number in range(8):
            assert gallery.add(FaceSet(f"{worker}-{number}", faces(number)))
            gallery.add(FaceSet("everybody's", faces(99)))
    """
    start = time.time() + 1.0
    workers = [children.start(code, path, worker, start) for worker in range(4)]
    for worker in workers:
        _, err = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0, err
    with Gallery(path) as gallery:
        assert len(gallery) == 33
        assert sum(len(each) for each in gallery.sets()) == 33 * 3
    assert list(path.parent.iterdir()) == [path]


def test_a_reader_sees_whole_versions_during_writes(path: Path) -> None:
    Gallery(path, create=True).close()
    writer = children.start(
        """
        with Gallery(sys.argv[1]) as gallery:
            for number in range(60):
                gallery.add(FaceSet(f"{number:03d}", faces(number)))
        """,
        path,
    )
    seen = 0
    with Gallery(path) as gallery:
        while writer.poll() is None or seen < 60:
            found = [each.id for each in gallery.sets()]
            # Sets come in order, so any version is an unbroken beginning, and none is older than the last.
            assert found == [f"{number:03d}" for number in range(len(found))]
            assert len(found) >= seen
            seen = len(found)
            assert writer.poll() in (None, 0)
    _, err = writer.communicate()
    assert (seen, err) == (60, "")


def test_a_lock_that_is_not_given_up(path: Path) -> None:
    with Gallery(path, create=True, wait=0.05) as gallery:
        gallery.add(a_set("a"))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageFailed, match=r"another process is writing .*: try again"):
            gallery.add(a_set("b"))
        assert gallery.ids() == ["a"]
        other.execute("ROLLBACK")
        other.close()
        assert gallery.add(a_set("b"))


# The disk refuses.


def test_disk_full_according_to_sqlite(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a"))
        gallery._opened.connection.execute("PRAGMA max_page_count = 12")
        with pytest.raises(StorageFailed, match=r"disk holding .* is full: free some space, then repeat"):
            gallery.add(a_set("b", count=5000))
        assert gallery.ids() == ["a"]
        gallery._opened.connection.execute("PRAGMA max_page_count = 100000")
        assert gallery.add(a_set("b", count=5000))


def test_disk_full_according_to_the_system(path: Path) -> None:
    code = """
    import resource
    with Gallery(sys.argv[1], create=True) as gallery:
        gallery.add(FaceSet("a", faces(1)))
        big = FaceSet("b", faces(2, 12_000))
        try:
            gallery.add(big)
        except LookalikeError as error:
            print(type(error).__name__, "|", error)
        assert gallery.ids() == ["a"]
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert gallery.add(big)
        assert len(list(gallery.sets())) == 2
    """
    said = children.run(code, path, before=children.small_files(600_000))
    assert re.match(r"StorageFailed \| the disk refused to read or write .*: check its free space", said)
    with Gallery(path) as gallery:
        assert len(gallery.get("b")) == 12_000
