"""T5, litter: files that nobody needs, in every folder of a gallery, are told and not obeyed."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from lookalike import Gallery, find
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from trust.outcome import Failures, Outcome, share_of
from trust.recording import workshop
from trust.scenarios import GALLERY, SCENARIOS, Scenario

NAME: Final = "T5"
TITLE: Final = "litter in every folder: temporary files, locks of the dead, empty and unknown files"
RELEASE: Final = 100
LEFT_OUT: Final = "litter that another process makes meanwhile"


def _file(name: str, content: bytes = b"") -> Callable[[Path, random.Random], Path]:
    def put(folder: Path, chance: random.Random) -> Path:
        path = folder / name.replace("#", f"{chance.getrandbits(64):016x}")
        path.write_bytes(content)
        return path

    return put


def _folder(name: str, *files: str) -> Callable[[Path, random.Random], Path]:
    def put(folder: Path, chance: random.Random) -> Path:
        path = folder / name.replace("#", f"{chance.getrandbits(64):016x}")
        path.mkdir()
        for file in files:
            (path / file).write_bytes(chance.randbytes(50))
        return path

    return put


def _link(folder: Path, chance: random.Random) -> Path:
    path = folder / f"link{chance.getrandbits(16)}"
    path.symlink_to("/nowhere" if chance.random() < 0.5 else folder)
    return path


# What may lie about; # stands for the digits that make a name unique.
LITTER: Final = {
    ".DS_Store": _file(".DS_Store", b"\0\0\0\1Bud1"),
    "Thumbs.db": _file("Thumbs.db", b"\xd0\xcf\x11\xe0"),
    "lock of a dead process": _file("g.lock", b"999999999\n"),
    "empty file": _file("empty-#"),
    "unknown file": _file("notes-#.txt", b"remember the milk"),
    "file aside": _file(".writing-#", b"half"),
    "atomic write": _file(".atomicwrite#", b"half"),
    "swap file": _file(".manifest.json.swp", b"b0VIM"),
    "array of nobody": _file("9999.npy", b"\x93NUMPY"),
    "empty folder": _folder("folder-#"),
    "folder with files": _folder("folder-#", "a", "b.npy"),
    "folder aside": _folder(".writing-#", "0000.npy"),
    "empty table": _folder("#"),
    "table without manifest": _folder("#", "0000.npy", "0001.npy"),
    "kind without tables": _folder("kind.#"),
    "gallery aside": _file(".new-gallery-#", b"SQLite format 3\0"),
    "journal of a gallery aside": _file(".new-gallery-#-wal"),
    "unfinished note": _file("checked.json.#", b"{"),
    "link": _link,
}
# Beside the gallery, where SQLite would look.
BESIDE: Final = {
    "empty journal": _file(f"{GALLERY}-wal"),
    "empty old journal": _file(f"{GALLERY}-journal"),
    "garbage for an old journal": _file(f"{GALLERY}-journal", b"garbage" * 99),
    "garbage for shared memory": _file(f"{GALLERY}-shm", b"garbage" * 999),
    "garbage for a journal": _file(f"{GALLERY}-wal", b"garbage" * 99),
}


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Strew litter 100 times, or a share of it; every kind comes first."""
    started = time.monotonic()
    chance = random.Random(seed)
    scenario = SCENARIOS["forget"]
    cases, failures = 0, Failures(NAME)
    wanted = share_of(RELEASE, share)
    kinds = [*LITTER, *BESIDE]
    with workshop() as place:
        ready = place / "ready"
        ready.mkdir()
        scenario.prepare(ready)
        expected = ranking(ready)
        for number in track(range(wanted), NAME, wanted):
            cases += 1
            folder = place / "littered"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(ready, folder)
            first = kinds[(number + seed) % len(kinds)]
            chosen = {first, *chance.sample(kinds, chance.randint(0, 4))}
            put = strewn(folder, sorted(chosen), chance)
            wrong = judged(scenario, folder, put, expected)
            failures += [f"{sorted(chosen)}, seed {seed}: {each}" for each in wrong]
    return Outcome(NAME, cases, failures, time.monotonic() - started, f"{len(kinds)} kinds of litter")


def strewn(folder: Path, kinds: list[str], chance: random.Random) -> list[Path]:
    """Put litter into every folder; what would lie on something that is there is left out."""
    places = [folder, *sorted(path for path in folder.rglob("*") if path.is_dir())]
    made = []
    for kind in kinds:
        for place in places if kind in LITTER else [folder]:
            try:
                made.append((LITTER.get(kind) or BESIDE[kind])(place, chance))
            except FileExistsError:
                continue
    return made


def judged(scenario: Scenario, folder: Path, put: list[Path], expected: list[tuple[str, float]]) -> list[str]:
    """What is wrong: a gallery that does not open, another ranking, litter that is not told or was obeyed."""
    wrong = scenario.wrong(folder, [])
    if wrong:
        return wrong
    told = {one.where for one in verify(folder / GALLERY)}
    if ranking(folder) != expected:
        wrong.append("another ranking")
    derived = folder / f"{GALLERY}.derived"
    for path in put:
        # In the gallery's own folder anything may lie: that is the user's. In those that are ours it is told.
        # An empty folder for a kind of table is what we leave ourselves.
        inside = path.is_relative_to(derived) and os.path.lexists(path) and not path.name.startswith("kind.")
        if inside and not any(str(path).startswith(where) or where.startswith(str(path)) for where in told):
            wrong.append(f"not told: {path.relative_to(folder)}")
        if "notes-" in path.name and not path.exists():
            wrong.append(f"deleted: {path.relative_to(folder)}")
    return wrong


def ranking(folder: Path) -> list[tuple[str, float]]:
    """Who is like the first set, and how much."""
    with Gallery(folder / GALLERY) as gallery:
        return [(one.id, one.score) for one in find("set-0", gallery, preparation="none")]
