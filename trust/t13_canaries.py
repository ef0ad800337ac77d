"""T13: what was forgotten is nowhere any more, also after a kill half-way; what is barred stays out."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from lookalike import Gallery, index, open_search
from lookalike.errors import Conflict
from lookalike.gallery import decisions
from lookalike.gallery.backup import backup
from lookalike.gallery.forget import forget, remove
from lookalike.gallery.verify import verify
from lookalike.ingest.add import add
from lookalike.progress import Track, silent
from tests import canaries
from tests.cli_process import write_npz
from trust.apart import ROOT, run_apart
from trust.outcome import Failures, Outcome, share_of

TITLE: Final = (
    "forget: canaries in faces, pictures, ids, paths, names; a byte search of everything written finds none"
)
RELEASE: Final = 100
LEFT_OUT: Final = (
    "blocks that a file system or a flash disk keeps on its own; backups made before, which receipts name"
)
KILLS: Final = 40


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Forgets of every kind, then kills at points spread over one that does everything."""
    whole = share_of(RELEASE - KILLS, share, 2)
    return run_apart("T13", __name__, range(whole), seed, track) + _killed(share_of(KILLS, share, 2), track)


def _killed(points: int, track: Track) -> Outcome:
    """Have `tests.forget_kills` kill copies of itself."""
    started, failures, cases, steps = time.monotonic(), Failures("T13"), 0, ""
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "template"
        for _ in track([points], "kills while forgetting", 1):
            template.mkdir()
            canaries.fill(template / "g")
            words = [sys.executable, "-m", "tests.forget_kills", str(template), str(points)]
            ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
            cases += points
            if ended.returncode:
                failures.append(f"killed at {points} points: {ended.stderr.strip()[-300:]}")
            elif found := re.match(r"(\d+) steps, (\d+) kills", ended.stdout):
                steps = f"{found[2]} kills among {found[1]} steps"
    return Outcome("T13", cases, failures, time.monotonic() - started, steps)


class Ready(NamedTuple):
    """What a child needs."""

    folder: Path
    seed: int
    clues: dict[str, bytes]


def prepare(folder: Path, seed: int) -> Ready:
    """Galleries with the person, with tables and without."""
    for name, tables in (("with", True), ("without", False)):
        (folder / name).mkdir()
        canaries.fill(folder / name / "g", tables)
    return Ready(folder, seed, canaries.clues(folder / "without" / "g"))


def case(ready: Ready, number: int) -> tuple[str | None, str]:
    """Work with a gallery, forget, look for traces; then try to bring them back."""
    chance = random.Random(f"{ready.seed} {number}")
    folder = ready.folder / "work"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ready.folder / chance.choice(["with", "without"]), folder)
    path, is_barred = folder / "g", chance.random() < 0.5
    with Gallery(path) as gallery:
        did = _work(gallery, chance, ready.folder)
        how = _forget(gallery, chance, folder, is_barred)
        is_barred = is_barred and how != "removed"
        if chance.random() < 0.5 and (left := canaries.traces(folder, ready.clues)):
            return f"after {did}, {how}: before it is closed {left}", how
    if chance.random() < 0.3:
        Gallery(path).close()
    if left := canaries.traces(folder, ready.clues):
        return f"after {did}, {how}: {left}", how
    if wrong := [one for one in verify(path) if not one.is_harmless]:
        return f"after {did}, {how}: verify finds {wrong[0].what}", how
    return _brought_back(path, folder, is_barred), how + (" and barred" if is_barred else "")


def _work(gallery: Gallery, chance: random.Random, outside: Path) -> str:
    """Something that leaves traces in other places."""
    did = chance.choice(["nothing", "an index", "a search", "judging", "backup", "reading"])
    if did == "an index":
        index(gallery, chance.choice(["max_max", "max_correlation", "dffs"]))
    elif did == "a search":
        open_search(gallery, reranker=chance.choice(["auto", "learnt:references=2", "csls"]))
    elif did == "judging":
        [person] = [one for one in decisions.judged(gallery).people.values() if canaries.IDS[0] in one.sets]
        decisions.rename(gallery, person.number, "Canary Bird")
        decisions.undo(gallery)
    elif did == "backup":
        target = outside / "backup"
        target.unlink(missing_ok=True)
        backup(gallery, target)
    elif did == "reading":
        next(gallery.sets()).content_hash()
    return did


def _forget(gallery: Gallery, chance: random.Random, folder: Path, is_barred: bool) -> str:
    """In one of the ways there are."""
    how = chance.choice(["removed", "forgotten", "one by one", "by name"])
    if how == "removed":
        remove(gallery, canaries.IDS)
    elif how == "forgotten":
        forget(gallery, canaries.IDS, bar=is_barred, receipt=folder / "receipt")
    elif how == "one by one":
        for one in canaries.IDS:
            forget(gallery, [one], bar=is_barred)
    else:
        forget(gallery, person=canaries.NAMES[1], bar=is_barred)
        for one in canaries.IDS:
            if one in gallery:  # decisions may have told only one of them
                forget(gallery, [one], bar=is_barred)
    return how


def _brought_back(path: Path, folder: Path, is_barred: bool) -> str | None:
    """Whether what is barred stays out, by the same set and under another name."""
    again = canaries.canary(0)
    source = write_npz(folder / "source.npz", ["other", "name"], embeddings=again.faces[:3].repeat(2, axis=0))
    with Gallery(path) as gallery:
        try:
            entered = gallery.add(again)
        except Conflict:
            entered = False
    added = add(path, [source], "array").added if is_barred else []
    if is_barred and (entered or added):
        return f"what is barred came back ({'the same set' if entered else added})"
    if not is_barred and not entered:
        return "what is not barred cannot come back"
    return None
