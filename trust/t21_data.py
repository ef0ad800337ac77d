"""T21: data files changed by chance, or wrong; each is refused in words, or what is kept is sound."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Final, NamedTuple
from unittest.mock import patch

from lookalike import Gallery
from lookalike.errors import GalleryUnreadable, LookalikeError
from lookalike.gallery.verify import verify
from lookalike.ingest.add import add
from lookalike.ingest.sources import array_names, read_source
from lookalike.ingest.sourceset import SourceSet
from lookalike.progress import Track, silent
from trust import sources
from trust.apart import run_apart
from trust.outcome import Outcome, share_of
from trust.sources import KINDS, WRONG, Source
from trust.spoiling import BY_STRANGERS, spoilt

TITLE: Final = "data fuzz: npz, npy, Parquet, IJB, MOT and YouTube Faces .mat files, changed, cut or wrong"
RELEASE: Final = 1_000
LEFT_OUT: Final = "coverage-guided search; JSON, which is no source"
CUT: Final = 64
# Of so many sources one is read as `add` does it, by a child; the others are read by the process that tries
# the cases, which is quicker, and stricter: there nothing catches a crash, or what a parser raises.
APART: Final = 20
READ: Final = "lookalike.ingest.describe.read_apart"
# No file of this size may take longer: of processors, with its children, since others may use the machine.
MOST_SECONDS: Final = 10.0
UNFORESEEN: Final = re.compile(r"\): copy it again, or leave it out$|took (longer|a processor)")


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """In children, so that a crash is a failure and no end."""
    return run_apart("T21", __name__, range(share_of(RELEASE, share)), seed, track)


class Ready(NamedTuple):
    """What a child needs."""

    folder: Path
    seed: int


def prepare(folder: Path, seed: int) -> Ready:
    """Write each kind of source once."""
    for name, make in KINDS.items():
        (folder / name).mkdir()
        make(folder / name)
    return Ready(folder, seed)


def case(ready: Ready, number: int) -> tuple[str | None, str]:
    """Spoil a source, add it, and hold what was kept against what there was, in a short time."""
    started = sum(os.times()[:4])
    wrong, note = _tried(ready, number)
    if wrong is None and (took := sum(os.times()[:4]) - started) > MOST_SECONDS:
        wrong = f"took {took:.1f} s"
    return wrong, note


def _tried(ready: Ready, number: int) -> tuple[str | None, str]:
    chance = random.Random(f"{ready.seed} {number}")
    kind = chance.choice(sorted(KINDS))
    work = ready.folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(ready.folder / kind, work)
    source = _at(kind, work)
    what = _spoil(source, kind, chance, number)
    gallery = work / "g"
    try:
        with (
            nullcontext()
            if number % APART == 0
            else patch("lookalike.ingest.describe.read_apart", _read_here)
        ):
            add(gallery, [source.given], features=source.features)
    except GalleryUnreadable as reason:
        return f"{what}: the gallery is to blame for it: {reason}", ""
    except LookalikeError as reason:
        if "\n" in str(reason) or "Traceback" in str(reason):
            return f"{what}: not one line: {reason}", ""
        # What is read apart cannot end us, nor show a traceback: it is told from what was meant to be said.
        if UNFORESEEN.search(str(reason)):
            return f"{what}: nobody has foreseen it: {reason}", ""
        if gallery.exists():
            with Gallery(gallery) as opened:
                if len(opened):
                    return f"{what}: refused, but sets were added", ""
        return None, f"{kind} refused{', its reader died' if 'ended what reads it' in str(reason) else ''}"
    with Gallery(gallery) as opened:
        if source.dimension and opened.dimension != source.dimension:
            return f"{what}: accepted with {opened.dimension} numbers instead of {source.dimension}", ""
    if wrong := [one for one in verify(gallery) if not one.is_harmless]:
        return f"{what}: accepted, but verify finds {wrong[0].what}", ""
    return None, f"{kind} accepted"


def _read_here(
    path: Path,
    array: str | None = None,
    features: Path | None = None,
    most: int | None = None,
    guessed: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Iterator[SourceSet]:
    """As the child of `read_apart` reads it."""
    if guessed and array not in array_names(path, features):
        array = None
    return read_source(path, array, features, most, columns)


def _at(kind: str, work: Path) -> Source:
    """The source as it lies in the working copy; only paths are needed, the files are there."""
    made = {
        "npz": Source(work / "x.npz", work / "x.npz"),
        "pictures": Source(work / "p.npz", work / "p.npz", dimension=0),
        "parquet": Source(work / "x.parquet", work / "x.parquet"),
        "ijb": Source(work / "ijb.csv", work / "ijb.csv", work / "f.npy"),
        "mot": Source(work / "mot.txt", work / "mot.txt", work / "f.npy"),
        "features": Source(work / "ijb.csv", work / "f.npy", work / "f.npy"),
    }
    if kind in made:
        return made[kind]
    return Source(work / "ytf", sorted((work / "ytf" / "descriptors_DB").rglob("*.mat"))[0], dimension=0)


def _spoil(source: Source, kind: str, chance: random.Random, number: int) -> str:
    path = source.spoilt
    if kind == "npz" and chance.random() < 0.5:
        name = chance.choice(sorted(WRONG))
        WRONG[name](path)
        return f"{kind}: {name}"
    data = path.read_bytes()
    if chance.random() < 0.15:
        path.write_bytes(data[: CUT * (number % (1 + len(data) // CUT))])
        return f"{kind}: cut to {path.stat().st_size} bytes"
    if kind in ("ijb", "mot") and chance.random() < 0.5:
        path.write_bytes(sources.spoil_text(data, chance))
        return f"{kind}: written otherwise"
    how = []
    for _ in range(chance.choice([1, 1, 2])):
        data, way = spoilt(data, chance, BY_STRANGERS)
        how.append(way)
    path.write_bytes(data)
    return f"{kind}: {', '.join(how)}"
