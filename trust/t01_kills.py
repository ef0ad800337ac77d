"""T1: kill -9 while sets are added; what was acknowledged is there and whole, nothing is half."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

from lookalike import Gallery
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from tests.gallery import children
from trust.outcome import Outcome, share_of, tried

TITLE: Final = "kill -9 during intake at a random moment, then open and compare with what was acknowledged"
RELEASE: Final = 100
LEFT_OUT: Final = "loss of power, which T2 simulates: here the system still writes what it was given"
# A new gallery after so many kills, so that reading all of it after each stays short.
OF_ONE_GALLERY: Final = 20
# Of the processor, since others may use the machine.
LIMIT_SECONDS: Final = 2.0

ADD_FOR_EVER: Final = """
from lookalike.gallery.media import MediaFile
path, first = sys.argv[1], int(sys.argv[2])
with Gallery(path, create=True) as gallery:
    print("begun", flush=True)
    for number in range(first, first + 1000):
        one = FaceSet(f"{number:06d}", faces(number, 6, 16), pictures=[b"p%06d" % number * 60] * 6)
        if number % 3:
            gallery.add(one)
        else:
            gallery.keep_file(MediaFile(f"{number:064d}", f"/films/{number}", 1, 1, "video"), [one])
        print(number, flush=True)
"""


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Kill, open, compare, again and again."""
    with tempfile.TemporaryDirectory() as folder:  # on a real disk
        kills = Kills(Path(folder), seed)
        count = share_of(RELEASE, share)
        found = tried("T1", range(count), kills.kill, track, total=count)
    note = f"{kills.acknowledged_in_all} sets acknowledged, opened within {kills.slowest:.2f} s"
    return Outcome("T1", found.cases, found.failures, found.seconds, note)


class Kills:
    """Galleries that are killed, one after the other.

    Parameters
    ----------
    folder : Path
    seed : int
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.acknowledged: set[int] = set()
        self.seen: set[int] = set()
        self.acknowledged_in_all = 0
        self.slowest = 0.0

    def kill(self, number: int) -> str | None:
        """Kill once; what was wrong afterwards."""
        path = self.folder / f"g{number // OF_ONE_GALLERY}"
        if number % OF_ONE_GALLERY == 0:
            self.acknowledged, self.seen = set(), set()
        chance = random.Random(f"{self.seed} {number}")
        child = children.start(ADD_FOR_EVER, path, number * 1000)
        line = child.stdout.readline() if child.stdout else ""
        if not line:
            return f"it did not begin: {child.communicate()[1][-300:]}"
        time.sleep(chance.choice([0.0, chance.uniform(0, 0.03), chance.uniform(0, 0.3)]))
        said = {int(each) for each in children.kill(child) if each.strip().isdecimal()}
        self.acknowledged |= said
        self.acknowledged_in_all += len(said)
        return self._wrong(path, is_last=number % OF_ONE_GALLERY == OF_ONE_GALLERY - 1)

    def _wrong(self, path: Path, is_last: bool) -> str | None:
        started = time.process_time()
        with Gallery(path) as gallery:
            found = {int(each) for each in gallery.ids()}
            seconds = time.process_time() - started
            self.slowest = max(self.slowest, seconds)
            for one in found - self.seen:
                whole = gallery.get(f"{one:06d}", pictures=True)
                expected = np.random.default_rng(one).normal(size=(6, 16)).astype(np.float32)
                if whole.faces.tobytes() != expected.tobytes() or len(whole.pictures) != 6:
                    return f"set {one} is half"
            films = {int(file.content) for file in gallery.files()}
        if lost := self.acknowledged - found:
            return f"acknowledged sets are lost: {sorted(lost)}"
        if len(found - self.seen - self.acknowledged) > 1:
            return f"sets that were never acknowledged: {sorted(found - self.acknowledged)}"
        if films != {one for one in found if one % 3 == 0}:
            return "a film is there without its set, or a set without its film"
        if seconds > LIMIT_SECONDS:
            return f"it took {seconds:.1f} s to open"
        self.seen = found
        if is_last and (wrong := [one for one in verify(path) if not one.is_harmless]):
            return f"verify: {wrong[0].what}"
        return None
