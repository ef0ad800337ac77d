"""T8: many processes write and read one gallery; many create one at once."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from lookalike import Gallery
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from tests.gallery import children
from trust.outcome import Failures, Outcome, share_of, tried

TITLE: Final = (
    "processes: 8 writers x 50 sets with 4 readers, for a minute; two that create one gallery, 50 times"
)
RELEASE: Final = 450
LEFT_OUT: Final = "network file systems, whose locks are not SQLite's to answer for"
WRITERS: Final = 8
READERS: Final = 4
OF_EACH: Final = 50
RACES: Final = 50
SECONDS: Final = 60.0

WRITE: Final = """
import time
from itertools import count
from lookalike.errors import StorageFailed
path, writer, own, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
deadline, waited = time.monotonic() + seconds, 0
with Gallery(path, create=True) as gallery:
    # Once all are there they are added again, which changes nothing, until the time is over.
    for turn in count():
        if turn >= own and time.monotonic() > deadline:
            break
        number = turn % own
        one = FaceSet(f"{writer}-{number:04d}", faces(number, 3, 8), pictures=[b"p" * 100] * 3)
        while True:
            try:
                assert gallery.add(one) == (turn < own)
                break
            except StorageFailed as reason:
                assert "another process is writing" in str(reason) and "try again" in str(reason), reason
                waited += 1
        if number % 10 == 0:
            gallery.add(FaceSet("everybody's", faces(99, 3, 8)))
print(waited)
"""
READ: Final = """
import os, time
path, end = sys.argv[1], sys.argv[2]
while not os.path.exists(path):
    time.sleep(0.01)
versions, last = 0, {}
with Gallery(path) as gallery:
    while True:
        is_over = os.path.exists(end)
        seen = {}
        for one in gallery.sets():
            writer, _, number = one.id.partition("-")
            if number:
                assert one.faces.tobytes() == faces(int(number), 3, 8).astype(np.float32).tobytes(), one.id
                seen.setdefault(writer, []).append(int(number))
        for writer, numbers in seen.items():
            # A writer adds in order: any version is an unbroken beginning, and none is older than the last.
            assert numbers == list(range(len(numbers))), (writer, numbers)
            assert len(numbers) >= last.get(writer, 0), "went back in time"
        last = {writer: len(numbers) for writer, numbers in seen.items()}
        versions += 1
        if is_over:
            break
print(versions)
"""
CREATE: Final = """
folder, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
for line in sys.stdin:
    try:
        with Gallery(folder / line.strip(), create=True) as gallery:
            gallery.add(FaceSet(name, faces(int(name))))
        print("made", flush=True)
    except LookalikeError as reason:
        print(f"refused: {reason}", flush=True)
"""


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Both parts."""
    with tempfile.TemporaryDirectory() as folder:  # on a real disk
        each = share_of(OF_EACH, share, 3)
        together = _write_and_read(Path(folder), each, SECONDS * share, track)
        races = Races(Path(folder))
        count = share_of(RACES, share, 3)
        with races:
            created = tried("T8", range(count), races.race, track, "creating", count)
    return together + created


def _write_and_read(folder: Path, each: int, seconds: float, track: Track) -> Outcome:
    started, path, end = time.monotonic(), folder / "g", folder / "end"
    # A dozen processes take longer to start than a few sets to write.
    writing, reading = (WRITERS, READERS) if each > 10 else (3, 1)
    failures = Failures("T8")
    for _ in track([0], f"{writing} writers, {reading} readers", 1):
        readers = [children.start(READ, path, end) for _ in range(reading)]
        writers = [children.start(WRITE, path, f"w{number}", each, seconds) for number in range(writing)]
        waited = [_ended(child, "a writer", failures) for child in writers]
        end.touch()
        versions = [_ended(child, "a reader", failures) for child in readers]
        with Gallery(path) as gallery:
            expected = {f"w{writer}-{number:04d}" for writer in range(writing) for number in range(each)}
            found = gallery.ids()
        if set(found) != {*expected, "everybody's"} or len(found) != len(set(found)):
            failures.append(f"{len(found)} sets instead of {len(expected) + 1}")
        failures += [f"verify: {one.what}" for one in verify(path) if not one.is_harmless]
    note = f"{sum(versions)} versions read, {sum(waited)} times told to try again"
    return Outcome("T8", writing * each, failures, time.monotonic() - started, note)


def _ended(child: subprocess.Popen[str], who: str, failures: list[str]) -> int:
    out, err = child.communicate()
    if child.returncode:
        failures.append(f"{who} ended with {child.returncode}: {err.strip()[-300:]}")
        return 0
    return int(out)


class Races:
    """Two processes that are told at once to create a gallery and to add a set each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.racers: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Races:
        for name in "12":
            words = [sys.executable, "-c", children.PREAMBLE + CREATE, str(self.folder), name]
            self.racers.append(
                subprocess.Popen(
                    words, cwd=children.ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            )
        for one in self.racers:
            assert one.stdout is not None
            one.stdout.readline()
        return self

    def __exit__(self, *error: object) -> None:
        for one in self.racers:
            one.communicate()

    def race(self, number: int) -> str | None:
        """Create once; both sets are there, in one gallery, and nothing beside it."""
        name = f"race-{number}"
        for one in self.racers:
            assert one.stdin is not None
            one.stdin.write(name + "\n")
            one.stdin.flush()
        said = [one.stdout.readline().strip() for one in self.racers if one.stdout is not None]
        refused = [each for each in said if each != "made"]
        with Gallery(self.folder / name) as gallery:
            ids = gallery.ids()
        litter = [path.name for path in self.folder.iterdir() if name in path.name and path.name != name]
        if any("again" not in each for each in refused):
            return f"refused without a way out: {refused}"
        if len(ids) != 2 - len(refused) or litter:
            return f"{ids} after {said}, beside it {litter}"
        return None
