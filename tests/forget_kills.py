"""Forget, and be killed at the n-th step: run as a program, which kills copies of itself.

Steps are statements of SQLite, every thousand instructions within them (a VACUUM is one statement), and every
file that Python opens, renames, links or deletes.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

from lookalike import open_gallery
from lookalike.gallery import connection as connections
from lookalike.gallery.forget import forget
from tests.canaries import clues, leaving, traces

WATCHED = ("open", "os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir")
INSTRUCTIONS = 1000


class Steps:
    """Counts steps below a folder, and kills the process at one of them."""

    def __init__(self, folder: Path, last: int | None) -> None:
        self.folder, self.last, self.count = str(folder), last, 0

    def step(self, *_: object) -> int:
        self.count += 1
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def heard(self, event: str, given: tuple[object, ...]) -> None:
        if event in WATCHED and given and str(given[0]).startswith(self.folder):
            self.step()

    def watch(self) -> None:
        settled = connections._settled

        def watched(path: Path, how: str, wait: float) -> connections.Connection:
            connection = settled(path, how, wait)
            connection.set_trace_callback(self.step)
            connection.set_progress_handler(self.step, INSTRUCTIONS)
            return connection

        connections._settled = watched
        sys.addaudithook(self.heard)


def forgotten(folder: Path, last: int | None) -> int:
    """Forget in a copy of this process; return how many steps that took, or 0 if it was killed."""
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        _, status = os.waitpid(child, 0)
        told = os.read(reading, 100)
        os.close(reading)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            return 0
        assert status == 0, f"the copy ended with {status}"
        return int(told)
    try:
        steps = Steps(folder, last)
        steps.watch()
        with open_gallery(folder / "g") as gallery:
            forget(gallery, leaving(), bar=True, receipt=folder / "receipt")
        os.write(writing, str(steps.count).encode())
        os._exit(0)
    finally:
        os._exit(1)


def main(template: Path, points: int) -> None:
    """Kill at so many points, evenly spread; say how many there were, and end with 1 if a trace is left."""
    looked_for = clues(template / "g")
    folder = template.with_name("tried")
    before = after = 0
    steps = 0
    for place in range(points + 1):
        shutil.copytree(template, folder)
        # The first copy is not killed: it tells how many steps there are.
        last = round((place - 0.5) * steps / points) + 1 if place else None
        told = forgotten(folder, last)
        steps = steps or told
        with open_gallery(folder / "g") as gallery:
            held = {one for one in leaving() if one in gallery}
            assert held in (set(), set(leaving())), f"half forgotten at step {last} of {steps}"
            assert len(gallery.events()) == (0 if held else 1)
            if held:
                before += 1
                forget(gallery, leaving(), bar=True)
            else:
                after += 1
        left = traces(folder, looked_for)
        assert not left, f"killed at step {last} of {steps}: {left}"
        shutil.rmtree(folder)
    print(f"{steps} steps, {points} kills, {before} before it was done, {after} after")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
