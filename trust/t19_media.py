"""T19: photos and films changed by chance: each is read or refused in words, the others are read."""

from __future__ import annotations

import contextlib
import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Final

from lookalike import Gallery
from lookalike.errors import LookalikeError
from lookalike.gallery.verify import verify
from lookalike.ingest.files import START, recognise
from lookalike.ingest.footage import add_footage
from lookalike.ingest.seen import SeenFile, Settings
from lookalike.ingest.workers import Workers
from lookalike.kernels.threads import thread_count
from lookalike.progress import Track, silent
from tests import media
from trust.outcome import Failures, Outcome, share_of
from trust.spoiling import BY_STRANGERS, spoilt

TITLE: Final = (
    "media fuzz: changed photos and films in children with limits; each is read or listed with a reason"
)
RELEASE: Final = 1_000
LEFT_OUT: Final = "decoders that are not installed; coverage-guided search"
BATCH: Final = 50
# A second or two when nothing else runs; whoever hangs takes for ever.
LIMIT_SECONDS: Final = 120.0
PHOTOS: Final = (".jpg", ".jpg", ".png", ".webp", ".gif", ".tiff", ".bmp", ".heic")
FILMS: Final = (".mp4", ".mkv", ".avi", ".mov", ".webm", ".mts")
# Most of what one does to a film is found within its first kilobytes, and a photo is soon read.
SHARE_OF_FILMS: Final = 0.25


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Batches of mutants with good files among them; every tenth goes the whole way into a gallery."""
    started, failures, cases, refused = time.monotonic(), Failures("T19"), 0, 0
    count = share_of(RELEASE, share, 4)
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder), seed)
        starts = range(0, count, BATCH)
        for first in track(starts, "T19 batches", len(starts)):
            numbers = range(first, min(first + BATCH, count))
            cases += len(numbers)
            failures += fuzz.add(numbers) if (first // BATCH) % 10 == 9 else fuzz.look(numbers)
        refused = fuzz.refused
    note = f"{refused} refused in words, the others read; slowest {fuzz.slowest:.1f} s"
    return Outcome("T19", cases, failures, time.monotonic() - started, note)


class Fuzz:
    """Good media, and mutants made of them.

    Parameters
    ----------
    folder : Path
    seed : int
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.refused, self.slowest = 0, 0.0
        (folder / "films").mkdir()
        self.films: dict[str, bytes] = {}
        self.photo = media.photo(folder)

    def film(self, suffix: str) -> bytes:
        """A good film; drawn once."""
        if suffix not in self.films:
            self.films[suffix] = media.video(self.folder / "films", suffix).read_bytes()
        return self.films[suffix]

    def mutants(self, numbers: range) -> list[Path]:
        """Write the mutants of these numbers into a new folder; a good photo comes last."""
        batch = self.folder / "batch"
        shutil.rmtree(batch, ignore_errors=True)
        batch.mkdir()
        made = []
        for number in numbers:
            chance = random.Random(f"{self.seed} {number}")
            is_film = chance.random() < SHARE_OF_FILMS
            suffix = chance.choice(FILMS if is_film else PHOTOS)
            data = self.film(suffix) if is_film else self._photo(suffix, chance)
            for _ in range(chance.choice([1, 1, 1, 2, 5])):
                data, _ = spoilt(data, chance, BY_STRANGERS)
            path = batch / f"m{number:06d}{suffix}"
            path.write_bytes(data)
            made.append(path)
        shutil.copy(self.photo, batch / "z-good.jpg")
        return [*made, batch / "z-good.jpg"]

    def look(self, numbers: range) -> list[str]:
        """Look at mutants in children; what was wrong."""
        paths, failures, ended = self.mutants(numbers), [], {}
        # What is not recognised as media never reaches a decoder.
        asked = [path for path in paths if _is_media(path)]
        self.refused += len(paths) - len(asked)
        begun = time.monotonic()
        with Workers(Settings(), min(thread_count(), 2)) as workers:
            for number, told in workers.look(asked):
                if isinstance(told, SeenFile | LookalikeError):
                    ended[number] = told
                    seconds, begun = time.monotonic() - begun, time.monotonic()
                    # The first has waited for the children to start.
                    self.slowest = max(self.slowest, seconds if number else 0.0)
                    if number and seconds > LIMIT_SECONDS:
                        failures.append(f"{asked[number].name} of seed {self.seed}: took {seconds:.0f} s")
        for number, path in enumerate(asked):
            if isinstance(ended.get(number), LookalikeError):
                self.refused += 1
                failures += _said_badly(path.name, str(ended[number]))
            elif number not in ended:
                failures.append(f"{path.name}: nothing was said")
        if not isinstance(ended.get(len(asked) - 1), SeenFile):
            failures.append(f"the good photo after {numbers} was refused: {ended.get(len(asked) - 1)}")
        return failures

    def add(self, numbers: range) -> list[str]:
        """The whole way: what is read is kept, what is not is listed, the gallery is sound."""
        paths, gallery = self.mutants(numbers), self.folder / "batch.gallery"
        for old in self.folder.glob("batch.gallery*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        done = add_footage(gallery, [self.folder / "batch"], "lbp")
        failures = [each for name, said in done.failed for each in _said_badly(name, said)]
        if done.files + done.known + len(done.failed) > len(paths):
            failures.append(f"{done.files} + {done.known} + {len(done.failed)} files of {len(paths)}")
        self.refused += len(paths) - done.files - done.known
        with Gallery(gallery) as opened:
            if not any("z-good" in file.path for file in opened.files()):
                failures.append(f"the good photo after {numbers} was not kept")
        return failures + [f"verify: {one.what}" for one in verify(gallery) if not one.is_harmless]

    def _photo(self, suffix: str, chance: random.Random) -> bytes:
        path = self.folder / f"photo{suffix}"
        picture = media.face(chance.choice([64, 96, 160]), chance.randrange(50))
        if suffix == ".heic":
            import pillow_heif

            pillow_heif.from_pillow(picture).save(path)
        else:
            picture.save(path)
        return path.read_bytes()


def _is_media(path: Path) -> bool:
    with contextlib.suppress(LookalikeError):
        return recognise(path.read_bytes()[:START]) is not None
    return False


def _said_badly(name: str, said: str) -> list[str]:
    """A refusal is one line, and no traceback."""
    return [f"{name}: {said[:200]!r}"] if "\n" in said or "Traceback" in said or not said else []
