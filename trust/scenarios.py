"""Scenarios: small pieces of work on a gallery that are recorded and spoilt, and what must hold after each.

A scenario is prepared in a folder, acts there, and can judge what is found afterwards, whatever happened.
"""

from __future__ import annotations

import io
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

import lookalike.cli
import lookalike.cli.app
from lookalike import FaceSet, Gallery, index, registry
from lookalike.errors import LookalikeError
from lookalike.gallery import schema
from lookalike.gallery.backup import upgrade
from lookalike.gallery.forget import forget
from lookalike.gallery.verify import verify
from tests.gallery.samples import write_format_1
from tests.trust.shim import mark

GALLERY: Final = "g"
# Ten numbers a face: enough for every table, and each test is short.
DIMENSION: Final = 10
DONE: Final = "done"
# Outside of the folder that is watched: reading it is not what is tested.
SOURCE: Final = "source.npz"


def a_set(number: int) -> FaceSet:
    """A set that its number tells completely, with pictures."""
    chance = np.random.default_rng(number)
    faces = chance.normal(size=(3, DIMENSION)) + 3 * np.random.default_rng(number // 2).normal(size=DIMENSION)
    pictures = [b"picture" + chance.bytes(400) for _ in range(3)]
    return FaceSet(f"set-{number}", faces.astype(np.float32), f"film {number}", pictures=pictures)


@dataclass(frozen=True)
class Scenario:
    """One piece of work.

    Attributes
    ----------
    name : str
    before : tuple of int
        Which sets are there before it, and may not be lost unless they are to be forgotten.
    added, forgotten : tuple of int
        Which sets it adds and removes.
    prepare : callable
        Makes the folder as it is before.
    act : callable
        Does the work, and marks each promise in the log: the id of an added set, ``done`` at the end.
    words : callable
        The same work for the command line.
    """

    name: str
    before: tuple[int, ...]
    added: tuple[int, ...]
    forgotten: tuple[int, ...]
    prepare: Callable[[Path], None]
    act: Callable[[Path], None]
    words: Callable[[Path], list[str]]

    def wrong(
        self, folder: Path, promised: Sequence[str], again: bool = False, by_command: bool = False
    ) -> list[str]:
        """What is not as it must be, after anything may have happened during the work.

        Parameters
        ----------
        folder : Path
        promised : sequence of str
            What was marked before it happened.
        again : bool
            Whether to do the same work once more, which must then be complete.
        by_command : bool
            Whether the sets came from a file of arrays, which holds neither pictures nor origins.
        """
        path = folder / GALLERY
        try:
            if path.exists() or self.before or promised:
                found = self._held(path, promised, by_command)
                if found:
                    return found
            if again:
                self.act(folder)
                return [f"again: {each}" for each in self._held(path, [DONE], by_command)]
        except LookalikeError as reason:
            return [f"refused: {reason}"]
        except Exception as reason:
            return [f"died: {reason!r}"]
        return []

    def _held(self, path: Path, promised: Sequence[str], by_command: bool) -> list[str]:
        with Gallery(path) as gallery:
            ids = gallery.ids()
            known = {f"set-{number}": number for number in (*self.before, *self.added)}
            strange = [id for id in ids if id not in known]
            for id in ids:
                held, given = gallery.get(id, pictures=True), a_set(known.get(id, 0))
                is_plain = by_command and known.get(id) in self.added
                if id in known and not (alike(held, given) if is_plain else same(held, given)):
                    return [f"{id} is half, or another"]
        needed = {f"set-{number}" for number in self.before} | set(promised) - {DONE}
        gone = {f"set-{number}" for number in self.forgotten}
        if DONE in promised:
            needed |= {f"set-{number}" for number in self.added}
        lost = needed - gone - set(ids)
        # Either all that was to be forgotten is gone, or none.
        kept = gone & set(ids)
        wrong = [f"{id} was never added" for id in strange]
        wrong += [f"{id} was lost" for id in sorted(lost)]
        if kept and (DONE in promised or kept != gone):
            wrong.append(f"{', '.join(sorted(kept))} should be forgotten")
        if DONE in promised and self.name == "upgrade" and format_of(path) != schema.FORMAT:
            wrong.append("it was not upgraded")
        wrong += [f"verify: {one.what} in {one.where}" for one in verify(path) if not one.is_harmless]
        if DONE in promised and self.forgotten:
            wrong += self.traces(path.parent)
        return wrong

    def traces(self, folder: Path) -> list[str]:
        """Files that still hold bytes of what was forgotten."""
        sets = [a_set(number) for number in self.forgotten]
        bytes_of = [one.faces[0].tobytes() for one in sets] + [one.pictures[0] for one in sets]
        return [
            f"traces in {path.relative_to(folder)}"
            for path in sorted(folder.rglob("*"))
            if path.is_file() and any(each in path.read_bytes() for each in bytes_of)
        ]


def same(one: FaceSet, other: FaceSet) -> bool:
    """Whether two sets are the same to the bit."""
    return (one.id, one.origin, one.faces.tobytes(), list(one.pictures)) == (
        other.id,
        other.origin,
        other.faces.tobytes(),
        list(other.pictures),
    )


def alike(one: FaceSet, other: FaceSet) -> bool:
    """Whether two sets have the same faces to the bit."""
    return (one.id, one.faces.tobytes()) == (other.id, other.faces.tobytes())


def format_of(path: Path) -> int:
    """The format of a gallery."""
    with closing(sqlite3.connect(path)) as connection:
        return schema.found(connection)


def write_source(path: Path, sets: Sequence[FaceSet]) -> None:
    """Sets as a file that the command `add` reads; arrays hold no pictures."""
    np.savez(
        path,
        descriptors=np.concatenate([one.faces for one in sets]),
        image_set=np.repeat(np.arange(len(sets)), [len(one) for one in sets]),
        set_names=np.array([one.id for one in sets]),
    )


# What happens.


def _fill(folder: Path, numbers: Sequence[int]) -> None:
    with Gallery(folder / GALLERY, create=True) as gallery:
        for number in numbers:
            gallery.add(a_set(number), "array")


def _filled(folder: Path) -> None:
    _fill(folder, range(6))
    with Gallery(folder / GALLERY) as gallery:
        index(gallery, preparation="none")


def _add(folder: Path) -> None:
    with Gallery(folder / GALLERY, create=True) as gallery:
        for number in range(4):
            gallery.add(a_set(number), "array")
            mark(f"set-{number}")
        index(gallery, preparation="none")
    mark(DONE)


def _forget(folder: Path) -> None:
    with Gallery(folder / GALLERY) as gallery:
        there = [id for id in ("set-1", "set-4") if id in gallery]
        if there:
            forget(gallery, there)
    mark(DONE)


def _upgrade(folder: Path) -> None:
    upgrade(folder / GALLERY, keep=False)
    mark(DONE)


def _nothing(folder: Path) -> None:
    pass


def _old(folder: Path) -> None:
    write_format_1(folder / GALLERY, [a_set(number) for number in range(3)])
    with closing(sqlite3.connect(folder / GALLERY)) as connection:
        connection.execute("UPDATE facts SET value = ? WHERE name = 'dimension'", (str(DIMENSION),))
        connection.commit()


SCENARIOS: Final = {
    one.name: one
    for one in (
        Scenario(
            "add",
            (),
            tuple(range(4)),
            (),
            _nothing,
            _add,
            lambda folder: ["add", str(folder / GALLERY), str(folder.parent / SOURCE), "--quiet"],
        ),
        Scenario(
            "forget",
            tuple(range(6)),
            (),
            (1, 4),
            _filled,
            _forget,
            lambda folder: ["forget", str(folder / GALLERY), "set-1", "set-4", "--quiet"],
        ),
        Scenario(
            "upgrade",
            tuple(range(3)),
            (),
            (),
            _old,
            _upgrade,
            lambda folder: ["upgrade", str(folder / GALLERY), "--quiet"],
        ),
    )
}

# Jobs for the process under the shim.


def warm() -> None:
    """Load what commands load when they are first used, so that no fork has to."""
    for name in ("gallery.export", "ingest.add", "gallery.forget", "search.query", "ingest.readers.npz"):
        import_module(f"lookalike.{name}")
    for kind in registry.KINDS:
        for name in registry.names(kind):
            registry.part_class(kind, name)
    for words in (["list", "missing"], ["list", "--help"]):
        with redirect_stdout(io.StringIO()), suppress(LookalikeError, SystemExit):
            lookalike.cli.app.app(words)
    with TemporaryDirectory() as folder:
        for one in SCENARIOS.values():
            place = Path(folder) / one.name
            place.mkdir()
            one.prepare(place)
            one.act(place)


def act(name: str, folder: str) -> None:
    """Do the work of a scenario."""
    SCENARIOS[name].act(Path(folder))


def command(*words: str) -> None:
    """Be the command line."""
    sys.argv = ["lookalike", *words]
    lookalike.cli.main()


def command_in(folder: str, *words: str) -> None:
    """Be the command line in a folder."""
    os.chdir(folder)
    command(*words)


def reopen(folder: str) -> None:
    """Open a gallery, read all of it, close it."""
    try:
        with Gallery(Path(folder) / GALLERY) as gallery:
            for _ in gallery.sets():
                pass
    except LookalikeError as reason:
        print(reason, file=sys.stderr)
        raise SystemExit(reason.exit_code) from None
