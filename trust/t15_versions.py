"""T15: galleries of every format open and upgrade; newer ones and other models are refused, untouched."""

from __future__ import annotations

import hashlib
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from lookalike import FaceSet, Gallery, find
from lookalike.errors import Conflict, GalleryUnreadable, LookalikeError
from lookalike.gallery import schema
from lookalike.gallery.backup import upgrade
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from tests.gallery.samples import a_set, edit, sightings, write_format_1, write_format_2, write_format_4
from trust.apart import run_apart
from trust.outcome import Outcome, share_of

TITLE: Final = "versions: every format is read, upgraded; newer ones and other models are refused untouched"
RELEASE: Final = 200
LEFT_OUT: Final = "kills during an upgrade, which T2 and T3 have"
WAYS: Final = ("read", "upgrade", "upgrade and keep nothing", "write", "newer", "other model")


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Formats and ways in turn, with other sets each time."""
    return run_apart("T15", __name__, range(share_of(RELEASE, share)), seed, track)


class Ready(NamedTuple):
    """What a child needs."""

    folder: Path
    seed: int


def prepare(folder: Path, seed: int) -> Ready:
    """Nothing is shared by cases."""
    return Ready(folder, seed)


def write(path: Path, number: int, sets: list[FaceSet]) -> None:
    """A gallery of some format, by code that knows the old ones only."""
    if number == 1:
        write_format_1(path, [FaceSet(one.id, one.faces, one.origin, pictures=one.pictures) for one in sets])
        return
    if number >= 4:
        write_format_4(path, sets, (sets[0].id, sets[1].id))
    else:
        write_format_2(path, sets, (sets[0].id, sets[1].id))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for step in schema.STEPS[4 if number >= 4 else 2 : number]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")


def case(ready: Ready, number: int) -> tuple[str | None, str]:
    """One gallery of one format, treated in one way."""
    chance = random.Random(f"{ready.seed} {number}")
    form, way = 1 + number % schema.FORMAT, WAYS[number // schema.FORMAT % len(WAYS)]
    for old in ready.folder.glob("*"):
        old.unlink() if old.is_file() else None
    path = ready.folder / f"g{number}"
    sets = [
        a_set(
            f"s{n}",
            chance.randrange(999),
            3,
            origin=f"film {n}",
            pictures=[b"x%d" % n] * 3,
            sightings=sightings(3),
        )
        for n in range(chance.randint(2, 8))
    ]
    write(path, form, sets)
    expected = {one.id: (one.faces.tobytes(), tuple(one.pictures)) for one in sets}
    before = _content(path)
    return WAYS_DONE[way](path, form, expected, before), f"{way} format {form}"


Expected = dict[str, tuple[bytes, tuple[bytes, ...]]]


def _read(path: Path, form: int, expected: Expected, before: str) -> str | None:
    with Gallery(path) as gallery:
        found = {one: gallery.get(one, pictures=True) for one in gallery.ids()}
        ranking = find("s0", gallery, reranker="baseline", decisions=False)
    if {name: (one.faces.tobytes(), tuple(one.pictures)) for name, one in found.items()} != expected:
        return "other sets than were written"
    if len(ranking.ids) != len(expected) - 1 or _content(path) != before:
        return "reading changed it"
    if wrong := [one for one in verify(path) if not one.is_harmless]:
        return f"verify: {wrong[0].what}"
    return None


def _upgraded(path: Path, form: int, expected: Expected, before: str, keep: bool = True) -> str | None:
    done = upgrade(path, keep=keep)
    if (done.before, done.after) != (form, schema.FORMAT):
        return f"it says that it went from {done.before} to {done.after}"
    if form != schema.FORMAT:
        if keep and (done.kept is None or _content(done.kept) != before):
            return "the old file is not kept as it was"
        if not keep and [one for one in path.parent.iterdir() if one.name.startswith(f"{path.name}.format")]:
            return "an old file is left"
    return _read(path, schema.FORMAT, expected, _content(path))


def _written(path: Path, form: int, expected: Expected, before: str) -> str | None:
    with Gallery(path) as gallery:
        gallery.add(a_set("new", 5, pictures=[b"new"] * 3))
    expected = {**expected, "new": (a_set("new", 5).faces.tobytes(), (b"new",) * 3)}
    return _read(path, schema.FORMAT, expected, _content(path))


def _newer(path: Path, form: int, expected: Expected, before: str) -> str | None:
    edit(path, f"PRAGMA user_version = {schema.FORMAT + 1}")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    for act in (Gallery, upgrade, verify):
        try:
            act(path)
            return f"a newer format is not refused by {act.__name__}"
        except GalleryUnreadable as reason:
            if "newer" not in str(reason):
                return f"it is not said that it is newer: {reason}"
    return None if hashlib.sha256(path.read_bytes()).hexdigest() == before else "it was touched"


def _other_model(path: Path, form: int, expected: Expected, before: str) -> str | None:
    with Gallery(path) as gallery:
        for given, descriptor in ((a_set("n"), "another"), (a_set("n", dimension=7), "array")):
            try:
                gallery.add(given, descriptor)
                return "faces of another model were taken"
            except Conflict:
                continue
            except LookalikeError as reason:
                return f"not refused as a contradiction: {reason}"
    return _read(path, form, expected, _content(path))


WAYS_DONE: Final[dict[str, Callable[[Path, int, Expected, str], str | None]]] = {
    "read": _read,
    "upgrade": _upgraded,
    "upgrade and keep nothing": partial(_upgraded, keep=False),
    "write": _written,
    "newer": _newer,
    "other model": _other_model,
}


def _content(path: Path) -> str:
    """All tables of a gallery as text: pages may move when its log is folded into it, content may not.

    Without what a gallery notes of itself when tables are made beside it: its commits, and where these lie.
    """
    noted = tuple(f"INSERT INTO \"facts\" VALUES('{name}'" for name in ("commits", "derived"))
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        lines = [line for line in connection.iterdump() if not line.startswith(noted)]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
