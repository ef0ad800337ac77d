"""A gallery that holds a little of everything that a gallery can hold."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np

from lookalike import FaceSet, Gallery
from lookalike.gallery import history
from lookalike.gallery.decision_log import draft
from tests.gallery.samples import a_file, sightings
from tests.small_world import small_world


def write_full_gallery(path: Path) -> None:
    """Sets with and without pictures, sources, sightings; files, pairs, people, two models, a history."""
    rng = np.random.default_rng(3)
    plain, _ = small_world(people=4, sets=3, faces=3, dimension=6)
    with Gallery(path, create=True) as gallery:
        for number, one in enumerate(plain):
            pictures = [b"picture %d %d" % (number, face) for face in range(3)] if number % 2 else []
            sources = [f"frame {face}" for face in range(3)] if number % 3 else []
            gallery.add(FaceSet(one.id, one.faces, one.origin, sources, pictures))
        filmed = [
            FaceSet(f"film#{n}", rng.normal(size=(3, 6)), "film", sightings=sightings()) for n in range(3)
        ]
        gallery.keep_file(a_file("film.mp4"), filmed, apart=[("film#0", "film#1"), ("film#0", plain[0].id)])
        gallery.keep_file(a_file("empty.mp4", remark="nobody"), [])
        gallery.describe("other", [(each, rng.normal(size=(3, 5))) for each in gallery.ids()])
        a, b, c = (each.id for each in plain[:3])
        [named] = gallery.decide(lambda log, apart: [draft("name", (a, b), name="Anna")])
        gallery.decide(lambda log, apart: [draft("same", (a, "film#2")), draft("different", (a, c))])
        [other] = gallery.decide(lambda log, apart: [draft("name", (c,), name="Bert")])
        gallery.decide(lambda log, apart: [draft("rename", person=other.number, name="Bob")])
        [wrong] = gallery.decide(lambda log, apart: [draft("unsure", (b, c))])
        gallery.decide(lambda log, apart: [draft("undo", other=wrong.number)])
        with gallery._opened.transaction(writing=True) as connection:
            history.insert(connection, "forget", {"sets": 1, "contents": ["0" * 64]})
            history.note_backup(connection, Path("/backups/one"))
        assert named.number


def planted(
    path: Path, *statements: str, change: Callable[[sqlite3.Connection], object] | None = None
) -> None:
    """Change a closed gallery behind its back, minding no constraint."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            assert connection.execute(statement).rowcount != 0, statement
        if change is not None:
            change(connection)


def copied(made: Path, folder: Path) -> Path:
    """A copy of a closed gallery with its tables."""
    shutil.copy(made, folder / made.name)
    if Path(f"{made}.derived").exists():
        shutil.copytree(f"{made}.derived", folder / f"{made.name}.derived")
    return folder / made.name
