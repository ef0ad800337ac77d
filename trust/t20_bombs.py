"""T20: bombs are refused soon, and without filling the memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from lookalike import Gallery
from lookalike.progress import Track, silent
from tests import media
from tests.cli_process import command, environment
from tests.waiting import PATIENCE
from trust.bombs import BOMBS
from trust.outcome import Outcome, share_of, tried

TITLE: Final = "bombs: pictures, films, archives and lists that unfold into very much are refused at once"
RELEASE: Final = len(BOMBS)
LEFT_OUT: Final = "progressive JPEGs of many scans, films of millions of frames: too slow to make here"
# Above what a good photo takes: of processors, since others may use the machine; and resident.
LIMIT_SECONDS: Final = 5.0
LIMIT_BYTES: Final = 512 * 2**20
# Real frames under a wrong claim: what is there may be read, within the limits.
READ: Final = frozenset(["film of 100 hours"])


class Took(NamedTuple):
    """What a command took, with its children."""

    code: int
    seconds: float
    bytes: int
    said: str


def measured(words: list[str], folder: Path) -> Took:
    """Run a command to its end and tell what it took."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(
            words, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
        deadline = time.monotonic() + PATIENCE
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                child.kill()
            time.sleep(0.02)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read().decode("utf-8", "replace")
    return Took(child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, said)


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """One bomb after the other, held against a good photo."""
    with tempfile.TemporaryDirectory() as folder:
        tries = Bombs(Path(folder))
        names = list(BOMBS)[: share_of(RELEASE, share, 2)]
        found = tried("T20", names, tries.explode, track, total=len(names))
    note = f"at most {tries.seconds:.1f} s and {tries.bytes / 2**20:.0f} MB above a good photo"
    return Outcome("T20", found.cases, found.failures, found.seconds, note)


class Bombs:
    """Adds bombs to galleries.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds = self.bytes = 0.0
        (folder / "good").mkdir()
        photo = media.photo(folder / "good")
        self.idle = measured(command("add", folder / "good.gallery", photo), folder)
        assert self.idle.code == 0, self.idle.said

    def explode(self, name: str) -> str | None:
        """Add one bomb; what was wrong."""
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        path = BOMBS[name](work)
        gallery = self.folder / "g"
        gallery.unlink(missing_ok=True)
        features = ["--features", work / "features.npy"] if (work / "features.npy").exists() else []
        took = measured(command("add", gallery, path, *features), self.folder)
        seconds, size = took.seconds - self.idle.seconds, took.bytes - self.idle.bytes
        self.seconds, self.bytes = max(self.seconds, seconds), max(self.bytes, size)
        if took.code < 0 or "Traceback" in took.said:
            return f"it died ({took.code}): {took.said[-300:]}"
        if gallery.exists():
            with Gallery(gallery) as opened:
                if len(opened) and name not in READ:
                    return f"it was accepted: {opened.ids()}"
        elif took.code == 0:
            return f"nothing was said: {took.said[-300:]}"
        if seconds > LIMIT_SECONDS or size > LIMIT_BYTES:
            return f"it took {seconds:.1f} s and {size / 2**20:.0f} MB"
        return None
