"""Nothing of a removed set remains, whoever reads, dies or runs out of disk meanwhile."""

from __future__ import annotations

import logging
import random
import re
import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lookalike.collection import purge
from lookalike.collection.gallery import Gallery
from lookalike.faceset import FaceSet
from lookalike.sighting import Sighting
from tests.collection import children
from tests.collection.samples import QUICK, SEED, a_file, a_set, raw, sightings
from tests.waiting import PATIENCE

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
    living: list[int] = []
    made = 0
    with tempfile.TemporaryDirectory(dir=QUICK) as folder, Gallery(f"{folder}/g", create=True) as gallery:
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
            assert remaining(gallery.path) == set(living)
            gone = chance.sample(living, chance.randint(1, len(living) // 2))
            gallery.remove([name for name in gallery.ids() if int(name[-10:-4]) in gone])
            living = [number for number in living if number not in gone]
            assert remaining(gallery.path) == set(living)


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
            patch.setattr(purge, "wipe", full)
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
        from lookalike.collection import purge
        gallery = Gallery(sys.argv[1])
        purge.wipe = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        gallery.remove(["gone"])
        """,
        path,
    )
    removed.communicate(timeout=PATIENCE)
    assert removed.returncode == -9
    assert b"CANARY" in raw(path)
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
