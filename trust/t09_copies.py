"""T9: backups and raw copies of a gallery that is being written."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final

import numpy as np

from lookalike import Gallery
from lookalike.errors import LookalikeError
from lookalike.gallery.backup import backup
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from tests.gallery import children
from trust.outcome import Outcome, share_of, tried

TITLE: Final = (
    "live copies: a backup during intake is one whole version; a raw copy opens, or says what is wrong"
)
RELEASE: Final = 60

WRITE: Final = """
with Gallery(sys.argv[1]) as gallery:
    print("begun", flush=True)
    for number in range(100_000):
        gallery.add(FaceSet(f"{number:06d}", faces(number, 6, 16), pictures=[b"p" * 500] * 6))
        if number % 50 == 49:
            gallery.remove([f"{one:06d}" for one in range(number - 49, number + 1)])
"""


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Copy in turn by backup and file by file."""
    with tempfile.TemporaryDirectory() as folder, Copies(Path(folder), seed) as copies:
        count = share_of(RELEASE, share, 2)
        found = tried("T9", range(count), copies.copy, track, total=count)
    note = f"{copies.opened} raw copies opened, {copies.refused} were refused in words"
    return Outcome("T9", found.cases, found.failures, found.seconds, note)


class Copies:
    """A gallery that somebody writes, and copies of it.

    Parameters
    ----------
    folder : Path
    seed : int
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.opened = self.refused = 0
        self.writer: subprocess.Popen[str] | None = None

    def __enter__(self) -> Copies:
        (self.folder / "live").mkdir()
        Gallery(self.folder / "live" / "g", create=True).close()
        self.writer = children.start(WRITE, self.folder / "live" / "g")
        assert self.writer.stdout is not None
        self.writer.stdout.readline()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.writer is not None:
            children.kill(self.writer)

    def copy(self, number: int) -> str | None:
        """One copy, and what is wrong with it."""
        target = self.folder / "copy"
        shutil.rmtree(target, ignore_errors=True)
        if self.writer is None or self.writer.poll() is not None:
            return "the writer has ended"
        if number % 2:
            return self._raw(target, random.Random(f"{self.seed} {number}"))
        target.mkdir()
        with Gallery(self.folder / "live" / "g") as gallery:
            made = backup(gallery, target / "g")
        return self._wrong(made.path, True)

    def _raw(self, target: Path, chance: random.Random) -> str | None:
        """As `cp` would, file by file in any order."""
        target.mkdir()
        names = [one.name for one in (self.folder / "live").iterdir() if not one.name.endswith("-shm")]
        chance.shuffle(names)
        for name in names:
            try:
                shutil.copy(self.folder / "live" / name, target / name)
            except FileNotFoundError:
                continue  # it was deleted meanwhile
        try:
            said = self._wrong(target / "g", False)
        except LookalikeError as reason:
            self.refused += 1
            return None if str(target / "g") in str(reason) else f"a raw copy: which file? {reason}"
        self.opened += 1
        return said

    def _wrong(self, path: Path, is_whole: bool) -> str | None:
        """An unbroken run of sets, each as it was made; a backup must be sound too."""
        with Gallery(path) as gallery:
            ids = [int(one) for one in gallery.ids()]
            for one in gallery.sets():
                expected = np.random.default_rng(int(one.id)).normal(size=(6, 16)).astype(np.float32)
                if one.faces.tobytes() != expected.tobytes():
                    return f"set {one.id} is another"
        if ids and ids != list(range(ids[0], ids[0] + len(ids))):
            return f"not one version: {ids}"
        found = [one.what for one in verify(path) if not one.is_harmless] if is_whole else []
        return f"verify: {found[0]}" if found else None
