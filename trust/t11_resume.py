"""T11: intake that is interrupted anywhere goes on, and ends as if it had not been."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

from lookalike import Gallery
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from tests import media
from tests.cli_process import FRAMES, write_npz
from tests.gallery.children import PREAMBLE
from tests.gallery.samples import QUICK
from trust.apart import ROOT
from trust.outcome import Outcome, share_of, tried

TITLE: Final = (
    "interrupt and resume: SIGINT, SIGTERM or kill during `add` of sets, or of photos and films, then to the "
    "end: the same gallery"
)
RELEASE: Final = 16
# Of these so many with footage, which takes longer.
FOOTAGE: Final = 4
SETS: Final = 150
PHOTOS: Final = 6
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)

# All that takes long is loaded before it says that it is ready.
ADD: Final = """
import lookalike.cli, lookalike.cli.app, lookalike.ingest.add, lookalike.gallery.gallery
print("ready", flush=True)
sys.argv = ["lookalike", "add", *sys.argv[1:]]
lookalike.cli.main()
"""


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Each after an uninterrupted run, which tells how long one takes."""
    found = Outcome("T11", 0)
    for write, release in ((_arrays, RELEASE - FOOTAGE), (_footage, FOOTAGE)):
        with tempfile.TemporaryDirectory(dir=QUICK) as folder:
            resumes = Resumes(Path(folder), seed, write(Path(folder), seed))
            count = share_of(release, share, 1)
            done = tried("T11", range(count), resumes.interrupt, track, total=count)
        note = f"{resumes.within} of {count} interrupted with some but not all there"
        found += Outcome("T11", done.cases, done.failures, done.seconds, note)
    return found


def _arrays(folder: Path, seed: int) -> list[str]:
    faces = np.random.default_rng(seed).normal(size=(SETS * FRAMES, 16)).astype(np.float32)
    source = write_npz(folder / "x.npz", [f"s{number}" for number in range(SETS)], embeddings=faces)
    return [str(source)]


def _footage(folder: Path, seed: int) -> list[str]:
    """Photos in albums and a film, each file an entry of its own."""
    made = media.photo(folder)
    for number in range(PHOTOS):
        place = folder / "films" / f"album {number % 2}" / f"{number}.jpg"
        place.parent.mkdir(parents=True, exist_ok=True)
        # A comment makes each another file.
        place.write_bytes(made.read_bytes() + b"%d" % number)
    media.video(folder, ".mp4").rename(folder / "films" / "z.mp4")
    return [str(folder / "films"), "--descriptor", "lbp"]


class Resumes:
    """One source, added again and again.

    Parameters
    ----------
    folder : Path
    seed : int
    source : list of str
        What is added, and how.
    """

    def __init__(self, folder: Path, seed: int, source: list[str]) -> None:
        self.folder, self.seed, self.source, self.within = folder, seed, source, 0
        child = self._start(folder / "whole")
        started = time.monotonic()
        while not (folder / "whole").exists() and child.poll() is None:
            time.sleep(0.001)
        begun = time.monotonic()
        _, said = child.communicate()
        assert child.returncode == 0, said
        self.seconds, self.adding = time.monotonic() - started, (time.monotonic() - begun) / 2
        self.expected, self.all = dump(folder / "whole"), _count(folder / "whole")

    def _start(self, gallery: Path) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", PREAMBLE + ADD, str(gallery), *self.source]
        child = subprocess.Popen(
            words,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert child.stdout is not None
        child.stdout.readline()
        return child

    def interrupt(self, number: int) -> str | None:
        """Interrupt up to three times, then let it end."""
        chance = random.Random(f"{self.seed} {number}")
        gallery = self.folder / f"g{number}"
        had = 0
        for _ in range(chance.choice([1, 1, 2, 3])):
            child = self._start(gallery)
            if chance.random() < 0.7:  # most of the time nothing is written yet
                while not gallery.exists() and child.poll() is None:
                    time.sleep(0.001)
                time.sleep(chance.uniform(0, self.adding))
            else:
                time.sleep(chance.uniform(0, self.seconds))
            which = chance.choice(SIGNALS)
            child.send_signal(which)
            _, said = child.communicate()
            if "Traceback" in said:
                return f"after {which.name}: {said[-300:]}"
            if child.returncode not in (0, -which, 128 + which):
                return f"after {which.name} it ended with {child.returncode}: {said[-200:]}"
            has = _count(gallery)
            if has < had:
                return f"it went back from {had} to {has} sets"
            self.within += 0 < has < self.all
            had = has
        child = self._start(gallery)
        _, said = child.communicate()
        if child.returncode:
            return f"it did not go on: {said[-300:]}"
        if dump(gallery) != self.expected:
            return "another gallery than without interruption"
        wrong = [one.what for one in verify(gallery) if not one.is_harmless]
        litter = [one.name for one in self.folder.iterdir() if one.name.startswith(f"{gallery.name}-")]
        return f"verify: {wrong[0]}" if wrong else (f"left behind: {litter}" if litter else None)


def _count(gallery: Path) -> int:
    """Sets, and files that were looked at."""
    if not gallery.exists():
        return 0
    with Gallery(gallery) as opened:
        return len(opened) + len(opened.files())


def dump(gallery: Path) -> str:
    """All that a gallery holds, but the times when it was put there."""
    with Gallery(gallery) as opened:
        sets = [[one.id, one.origin, one.faces.tobytes().hex(), list(one.sources)] for one in opened.sets()]
        files = sorted([one.content, one.path, one.remark] for one in opened.files())
        return json.dumps([opened.descriptor, opened.dimension, opened.fingerprint(), sets, files])
