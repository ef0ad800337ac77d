"""Nothing of a removed set remains, whoever reads, dies or runs out of disk meanwhile."""

from __future__ import annotations

import logging
import random
import re
import sqlite3
import struct
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from lookalike import resources
from lookalike.errors import GalleryUnreadable, StorageFailed
from lookalike.faceset import FaceSet, Sighting
from lookalike.gallery import connection as connections
from lookalike.gallery import opened, schema
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.opened import WipeDue
from lookalike.gallery.schema import PAGE_SIZE
from tests.gallery import children
from tests.gallery.samples import QUICK, SEED, a_file, a_set, edit, raw, sightings
from tests.waiting import PATIENCE

with closing(sqlite3.connect(":memory:")) as _connection:
    HAS_DBSTAT = ("ENABLE_DBSTAT_VTAB",) in _connection.execute("PRAGMA compile_options").fetchall()

# Found by search: secure_delete without VACUUM left copies behind in all of these but the last.
HISTORIES = [
    (3, 12, 15, 12, 32, 0.0),
    (3, 12, 15, 12, 256, 0.3),
    (5, 12, 15, 12, 256, 0.3),
    (2, 12, 30, 20, 80, 0.3),
    (1, 8, 40, 4, 400, 0.3),
    (SEED, 8, 30, 12, 256, 0.7),
]


@pytest.mark.parametrize(("seed", "rounds", "most_sets", "most_faces", "dimension", "share"), HISTORIES)
def test_removed_sets_leave_no_bytes(
    seed: int, rounds: int, most_sets: int, most_faces: int, dimension: int, share: float
) -> None:
    """Canaries in id, origin, source, descriptor, picture, through a random history of changes."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(dir=QUICK) as folder, Gallery(f"{folder}/g", create=True) as gallery:
        for living in history(gallery, chance, rounds, most_sets, most_faces, dimension, share):
            assert remaining(gallery.path) == living


def history(
    gallery: Gallery,
    chance: random.Random,
    rounds: int,
    most_sets: int,
    most_faces: int,
    dimension: int,
    share: float,
) -> Iterator[set[int]]:
    """Add and remove sets at random; yield the numbers of those that are left after each removal."""
    living: list[int] = []
    made = 0
    for _ in range(rounds):
        for _ in range(chance.randint(5, most_sets)):
            made += 1
            canary = b"CANARY%06d!!!!" % made  # 16 bytes: four numbers of a descriptor
            text = canary.decode()
            count = chance.randint(1, most_faces)
            faces = np.tile(np.frombuffer(canary * (dimension // 4), dtype="<f4"), (count, 1))
            pictures = [canary * chance.randint(1, 700)] * count if chance.random() < share else []
            sources = [f"{text}{face}" for face in range(count)]
            gallery.add(FaceSet(f"{chance.random()}{text}", faces, text, sources, pictures))
            living.append(made)
        assert remaining(gallery.path) >= set(living)
        gone = chance.sample(living, chance.randint(1, len(living) // 2))
        gallery.remove([name for name in gallery.ids() if int(name[-10:-4]) in gone])
        living = [number for number in living if number not in gone]
        yield set(living)


# A large file: rows are overwritten at once, and the file is written anew once for all that was removed.


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every file counts as large; the list has each VACUUM."""
    monkeypatch.setattr(opened, "AT_ONCE", 0)
    rewritten: list[str] = []
    settled = connections._settled

    def watched(path: Path, how: str, wait: float) -> connections.Connection:
        connection = settled(path, how, wait)
        connection.set_trace_callback(lambda said: rewritten.append(said) if said == "VACUUM" else None)
        return connection

    monkeypatch.setattr(connections, "_settled", watched)
    return rewritten


def test_ten_removals_cost_one_rewriting(path: Path, large: list[str]) -> None:
    with Gallery(path, create=True) as gallery:
        for number in range(12):
            gallery.add(a_set(f"CANARY{number:06d}", number, pictures=[b"CANARY%06d" % number] * 3))
    for number in range(10):
        with Gallery(path) as gallery:
            gallery.remove([f"CANARY{number:06d}"])
            due = gallery.wipe_due()
            assert due is not None
            assert due.is_overwritten
            assert due.bytes == path.stat().st_size
        assert not remaining(path) & set(range(number + 1)), "overwritten where they lay, out of the journal"
    assert large == []
    with Gallery(path) as gallery:
        gallery.wipe()
        assert gallery.wipe_due() is None
        gallery.wipe()
    assert large == ["VACUUM"]
    assert remaining(path) == {10, 11}


@pytest.mark.skipif(not HAS_DBSTAT, reason="this SQLite does not tell what a page is for")
@pytest.mark.parametrize(("seed", "rounds", "most_sets", "most_faces", "dimension", "share"), HISTORIES)
def test_until_then_only_free_space_can_know_removed_sets(
    large: list[str],
    seed: int,
    rounds: int,
    most_sets: int,
    most_faces: int,
    dimension: int,
    share: float,
) -> None:
    chance = random.Random(seed)
    left = 0
    with tempfile.TemporaryDirectory(dir=QUICK) as folder, Gallery(f"{folder}/g", create=True) as gallery:
        for living in history(gallery, chance, rounds, most_sets, most_faces, dimension, share):
            copies = places(gallery.path, living)
            left += len(copies)
            assert not [place for place in copies if not is_free(gallery.path, place)]
            assert gallery.settle()
            assert not Path(f"{gallery.path}-wal").stat().st_size
        gallery.wipe()
        assert remaining(gallery.path) == living
    assert len(large) == 1
    assert left or seed == SEED, "these histories leave copies, or the test would prove nothing"


def places(path: Path, living: set[int]) -> list[int]:
    """Where in a file bytes of removed sets lie."""
    found = re.finditer(rb"CANARY(\d{6})", path.read_bytes())
    return [one.start() for one in found if int(one[1]) not in living]


def is_free(path: Path, place: int) -> bool:
    """Whether a place lies in the free space of a page: behind its list of rows, before the first of them."""
    content = path.read_bytes()
    number, offset = divmod(place, PAGE_SIZE)
    with closing(sqlite3.connect(path)) as connection:
        kinds = dict(connection.execute("SELECT pageno, pagetype FROM dbstat"))
    if kinds.get(number + 1) not in ("leaf", "internal"):
        return False
    page = content[number * PAGE_SIZE : (number + 1) * PAGE_SIZE]
    head = page[100:] if number == 0 else page
    rows, first = struct.unpack(">HH", head[3:7])
    listed = PAGE_SIZE - len(head) + (8 if kinds[number + 1] == "leaf" else 12) + 2 * rows
    return listed <= offset < first


def test_the_wipe_is_done_when_an_hour_has_passed(
    path: Path, large: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Gallery(path, create=True) as gallery:
        for name in "abc":
            gallery.add(a_set(name))
        gallery.remove(["a"])
        first = gallery.wipe_due()
        gallery.remove(["b"])
        second = gallery.wipe_due()
    assert first is not None
    assert second is not None
    assert first.since == second.since, "counted from the first, or it might wait for ever"
    Gallery(path).close()
    assert large == []
    monkeypatch.setattr(opened, "GATHERED", timedelta())
    with caplog.at_level(logging.WARNING), Gallery(path) as gallery:
        assert gallery.wipe_due() is None
    assert "is wiped of removed sets: " in caplog.text, "it takes long, so it is said"
    assert large == ["VACUUM"]


@pytest.mark.parametrize("since", ["", "2999-01-01T00:00:00+00:00", "2001-01-01T00:00:00+00:00", "yesterday"])
def test_a_mark_that_does_not_say_when_is_an_old_one(path: Path, large: list[str], since: str) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set())
    edit(path, f"INSERT INTO facts VALUES ('purge', 'abc {since}')")
    with Gallery(path) as gallery:
        assert gallery.wipe_due() is None
    assert large == ["VACUUM"]


@pytest.mark.parametrize(
    ("size", "is_time"), [(opened.AT_ONCE, True), (opened.AT_ONCE + 1, False), (10**10, False)]
)
def test_small_files_do_not_wait(size: int, is_time: bool) -> None:
    assert (WipeDue(schema.now(), size, 1, True).until == "") is is_time


def test_a_reader_of_a_large_file_is_told(path: Path, large: list[str]) -> None:
    with Gallery(path, create=True, wait=0.05) as gallery, Gallery(path) as other:
        for name in "abc":
            gallery.add(a_set(name, origin=f"CANARY-{name}"))
        stream = other.sets()
        next(stream)
        gallery.remove(["b"])
        due = gallery.wipe_due()
        assert due is not None
        assert not due.is_overwritten
        assert b"CANARY-b" in raw(path)
        with pytest.raises(StorageFailed, match="is in use and cannot be wiped"):
            gallery.wipe()
        stream.close()
    assert b"CANARY-b" not in raw(path)
    with Gallery(path) as gallery:
        due = gallery.wipe_due()
        assert due is not None
        assert due.is_overwritten
    assert large == []


@pytest.mark.parametrize(
    "end",
    [
        "os.kill(os.getpid(), signal.SIGKILL)",
        """
        instructions = gallery._opened.connection.set_progress_handler
        instructions(lambda: os.kill(os.getpid(), signal.SIGKILL), 100)
        gallery.wipe()
        """,
    ],
    ids=["between", "while the file is rewritten"],
)
def test_kill_before_a_large_file_is_wiped(path: Path, large: list[str], end: str) -> None:
    with Gallery(path, create=True) as gallery:
        for number in range(20):
            gallery.add(a_set(f"other {number}", number))
        gallery.add(a_set("gone", origin="CANARY-origin", pictures=[b"CANARY-picture" * 9] * 3))
    code = f"""
        import os, signal
        from lookalike.gallery import opened as purge
        purge.AT_ONCE = 0
        gallery = Gallery(sys.argv[1])
        gallery.remove(["gone"])
        {end}
        """
    removed = children.start(code, path)
    removed.communicate(timeout=PATIENCE)
    assert removed.returncode == -9
    assert b"CANARY" not in raw(path)
    with Gallery(path) as gallery:
        due = gallery.wipe_due()
        assert due is not None
        assert due.is_overwritten
        assert len(gallery) == 20
        gallery.wipe()
        assert gallery.wipe_due() is None
        assert gallery.facts()["purge_due"] is False
    assert large == ["VACUUM"]


def test_killed_while_it_is_wiped_a_file_lacks_its_journal(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        for number in range(20):
            gallery.add(a_set(f"{number}", number, pictures=[b"p" * 20_000] * 3))
    code = """
        import os, signal
        from lookalike.gallery import opened as purge, journal
        purge.AT_ONCE = 0
        gallery = Gallery(sys.argv[1])
        gallery.remove([f"{number}" for number in range(5)])
        gallery.settle()
        empty, times = journal.empty_journal, []
        def die(connection, wait):
            times.append(1)
            if len(times) == 3:  # before, before at once, after VACUUM
                os.kill(os.getpid(), signal.SIGKILL)
            return empty(connection, wait)
        journal.empty_journal = die
        gallery.wipe()
        """
    killed = children.start(code, path)
    killed.communicate(timeout=PATIENCE)
    assert killed.returncode == -9
    left, told = Path(f"{path}-wal"), list[str]()
    assert left.stat().st_size
    # As kills while that is brought in would leave it: the first pages are new, the others are not yet.
    content, pages = bytearray(path.read_bytes()), written(left)
    (path.parent / "moved").mkdir()
    moved = path.parent / "moved" / path.name
    for number in sorted(pages):
        content[(number - 1) * PAGE_SIZE : number * PAGE_SIZE] = pages[number]
        moved.write_bytes(content)
        told.append(said_of(moved))
    assert all("lacks its journal" in one for one in told)
    left.rename(f"{moved}-wal")
    with Gallery(moved) as gallery:
        assert (len(gallery), gallery.lacks) == (15, "")
        gallery.wipe()
        assert gallery.wipe_due() is None
    assert not Path(f"{moved}-wal").exists()


def said_of(path: Path) -> str:
    try:
        with Gallery(path) as gallery:
            return gallery.lacks
    except GalleryUnreadable as reason:
        return str(reason)


def written(log: Path) -> dict[int, bytes]:
    """The latest of each page in a journal that was begun anew."""
    content, pages = log.read_bytes(), {}
    for start in range(32, len(content), 24 + PAGE_SIZE):
        pages[int.from_bytes(content[start : start + 4], "big")] = content[start + 24 :][:PAGE_SIZE]
    return pages


def test_no_room_for_the_wipe_of_a_large_file(
    path: Path, large: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a", origin="CANARY-a"))
        gallery.add(a_set("b"))
        gallery.remove(["a"])
        with monkeypatch.context() as patch:
            patch.setattr(resources, "free_disk", lambda _: 1)
            with pytest.raises(StorageFailed, match=r"wiping .* needs about .* on the disk"):
                gallery.wipe()
            assert large == []
        assert gallery.wipe_due() is not None
        assert b"CANARY-a" not in raw(path)
        gallery.wipe()
        assert gallery.wipe_due() is None


def remaining(path: Path) -> set[int]:
    return {int(number) for number in re.findall(rb"CANARY(\d{6})", raw(path))}


def test_a_reader_delays_the_wipe_but_not_the_removal(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Gallery(path, create=True, wait=0.05) as gallery, Gallery(path) as other:
        for name in "abc":
            gallery.add(a_set(name, origin=f"CANARY{name}"))
        stream = other.sets()
        next(stream)
        with caplog.at_level(logging.WARNING):
            assert gallery.remove(["b"]) == ["b"]
        assert "to be wiped later: others are using it" in caplog.text
        assert gallery.ids() == ["a", "c"]
        assert gallery.facts()["purge_due"] is True
        assert [found.id for found in stream] == ["b", "c"]
        gallery.close()
        assert b"CANARYb" not in raw(path)
        assert other.facts()["purge_due"] is False


def test_a_full_disk_delays_the_wipe(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a"))
        gallery.add(a_set("b"))

        def full(*_: object) -> bool:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(opened, "wipe_file", full)
            assert gallery.remove(["a"]) == ["a"]
        assert gallery.ids() == ["b"]
        assert gallery.facts()["purge_due"] is True
    with Gallery(path) as gallery:
        assert gallery.facts()["purge_due"] is False


def test_kill_while_removing_wipes_at_the_next_open(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("other"))
        gallery.add(a_set("gone", origin="CANARY-origin", pictures=[b"CANARY-picture" * 9] * 3))
    # Dies after the removal is committed, before the wipe: as a kill in between would.
    removed = children.start(
        """
        import os, signal
        from lookalike.gallery import journal
        gallery = Gallery(sys.argv[1])
        journal.empty_journal = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        gallery.remove(["gone"])
        """,
        path,
    )
    removed.communicate(timeout=PATIENCE)
    assert removed.returncode == -9
    # The removal is in the file before it is acknowledged, zeros over its rows too; the wipe is due still.
    assert b"purge_derived" in raw(path)
    with Gallery(path) as gallery:
        assert gallery.ids() == ["other"]
        assert b"CANARY" not in raw(path)
        assert gallery.facts()["purge_due"] is False


def test_everything_known_of_a_set_goes(path: Path) -> None:
    """Path and content of its file, when it was seen, vectors of any model, whom it was seen beside."""
    with Gallery(path, create=True) as gallery:
        shared = a_file("CANARY-shared.mp4", remark="with both")
        own = a_file("CANARY-own.mp4", settings="CANARY-settings", remark="CANARY-remark")
        seen = [Sighting((1, 2, 3, 4), 0.9, 0.5, 0.4, 0.1, 98765.125)] * 3
        gallery.keep_file(a_file("CANARY-moved-from.mp4"), [a_set("other")])
        gallery.keep_file(
            shared, [a_set("gone", 1, sightings=seen)], [a_set("other", 2)], [("gone", "other")]
        )
        gallery.keep_file(own, [], [a_set("gone", 3, sightings=sightings(3, 55555.0))])
        gallery.keep_file(replace(own, path="/films/CANARY-there.mp4"), [])
        vectors = np.frombuffer(b"CANARY-vector..!" * 6, dtype="<f4").reshape(6, 4)
        gallery.describe("new", [("gone", vectors), ("other", np.eye(6, 4) + np.arange(4))])
        told = (
            b"98765.125",
            b"55555.5",
            b"CANARY-own",
            b"CANARY-there",
            b"CANARY-vector",
            own.content.encode(),
        )
        assert all(clue in raw(path) for clue in told)
        gallery.remove(["gone"])
        remains = raw(path)
        assert [clue for clue in told if clue in remains] == []
        assert b"CANARY-settings" not in remains
        assert set(re.findall(rb"CANARY-\w+", remains)) == {b"CANARY-shared", b"CANARY-moved"}
        assert gallery.apart() == []
        gallery.use("new")
        gallery.remove(["other"])
        assert b"CANARY" not in raw(path)
        assert a_file("CANARY-shared.mp4").content.encode() not in raw(path)


def test_a_file_without_faces_stays(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.keep_file(a_file("landscape.mp4"), [])
        gallery.keep_file(a_file("CANARY.mp4"), [a_set()])
        gallery.remove(["a"])
        assert gallery.files() == [a_file("landscape.mp4")]
        assert b"CANARY" not in raw(path)
