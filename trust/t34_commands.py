"""T34: every command that writes is ended, or refused by the disk, at any of its operations; then run again.

Whatever happened, each thing that a gallery holds, and each file that was asked for, is as it was before or
as the command makes it, whole; and the same command once more makes all of it.
"""

from __future__ import annotations

import errno
import hashlib
import random
import re
import shutil
import signal
import tarfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final

from lookalike import FaceSet, Gallery, atomic, index
from lookalike.errors import LookalikeError
from lookalike.gallery import decisions
from lookalike.gallery.backup import backup
from lookalike.gallery.verify import verify
from lookalike.indexing.store import TableStore
from lookalike.ingest.add import add
from lookalike.progress import Track, silent
from tests.exchange.samples import face_set, media, seen, write_film, write_photo
from tests.exchange.test_xmp import STORED, at, marked
from tests.gallery.samples import a_set, write_format_1
from tests.small_world import small_world
from tests.trust.shim import ALL, FOR_EVER, Bench, Operation, Spoil, read_log
from tests.web.asking import fill
from trust.apart import ROOT
from trust.outcome import Failures, Outcome, share_of
from trust.recording import workshop
from trust.scenarios import warm, write_source
from trust.t03_io_errors import WAYS, copied, named, unclean

__all__ = ["run", "warm"]

TITLE: Final = (
    "every command that writes: killed, hung up, interrupted or refused by a full or broken disk at an "
    "operation drawn at random; everything is as before or as after, and the same command again makes it all"
)
LEFT_OUT: Final = (
    "`open`, `serve` and `add` of footage, which T11, T32 and T33 end; `demo`, which starts anew; errors "
    "when reading"
)
# As a user types them, in a folder of what `_prepare` makes.
COMMANDS: Final = {
    "add": "add given more.npz",
    "add to a new gallery": "add new more.npz",
    "describe": "describe g --descriptor lbp",
    "index": "index g --similarity manifold",
    "train": "train g --reranker learnt:references=3",
    "find": "find g clip-003 --reranker learnt:references=3",
    "find, to a file": "find g clip-003 --export found.csv",
    "explain": "explain g clip-003 clip-004",
    "people": "people g",
    "confirm people": "people g --yes clip-002 --name Bo",
    "judge": "judge g clip-000 clip-004 different",
    "name": "name g clip-009 Cy",
    "undo": "undo g",
    "import": "import m photo.jpg",
    "remove": "remove g clip-001 clip-006",
    "forget": "forget g clip-001 clip-006",
    "forget a person at once": "forget g --person Ada --block --now",
    "verify --repair": "verify broken --repair",
    "backup": "backup g kept",
    "restore": "restore backup g --replace",
    "upgrade": "upgrade old",
    "merge": "merge split merged",
    "evaluate": "evaluate g --labels labels.csv --report report",
    "export npz": "export g sets.npz --pictures pictures",
    "export csv": "export m all.csv",
    "export xmp": "export m --format xmp --out sidecars",
    "export html": "export g page.html",
    "export a person": "export g --person Ada --out ada",
}
_COMMAND: Final = "trust.scenarios:command_in"
# What may be half done, to be gone on with.
COUNTED: Final = "number of"
# When a page or a report was made.
TIME: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
# So often each; half of them are ended, half are refused something by the disk.
TIMES: Final = 10
RELEASE: Final = TIMES * len(COMMANDS)
GALLERIES: Final = frozenset(["g", "given", "m", "new", "broken", "old", "backup", "kept", "merged"])
SIGNALS: Final = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
# A gallery of before is kept beside an upgraded or restored one. What it holds counts, not its bytes: a
# command that was refused something may have counted a commit in it.
KEPT: Final = re.compile(r"\.(format|before)-.*")


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Each command in turn, in an order drawn at random, at other operations every time."""
    started, failures, cases = time.monotonic(), Failures("T34"), 0
    wanted = share_of(RELEASE, share, 4)
    order = random.Random(seed).sample(list(COMMANDS), len(COMMANDS))
    with workshop() as place, Bench("trust.t34_commands") as bench:
        commands = Commands(place, bench)
        for number in track(range(wanted), "T34", wanted):
            cases += 1
            name = order[number % len(order)]
            try:
                failures += commands.spoil(name, random.Random(f"{seed} {number}"))
            except Exception as reason:
                failures.append(f"case {number}, {name}: {type(reason).__name__}: {reason}")
    note = ", ".join(f"{count} {way}" for way, count in sorted(commands.ways.items()))
    return Outcome("T34", cases, failures, time.monotonic() - started, note)


class Commands:
    """A folder that is copied for each case, and what every command makes of it.

    Parameters
    ----------
    place : Path
    bench : Bench
    """

    def __init__(self, place: Path, bench: Bench) -> None:
        self.place, self.bench = place, bench
        self.ready = place / "ready"
        self.ready.mkdir()
        # Where films and photos lie is told by their paths: those of the copy.
        _prepare(copied(self.ready, place))
        shutil.rmtree(self.ready)
        shutil.copytree(place / "spoilt", self.ready)
        self.whole: dict[str, tuple[list[Operation], dict[str, str], set[str]]] = {}
        self.ways: dict[str, int] = {}

    def undisturbed(self, name: str) -> tuple[list[Operation], dict[str, str], set[str]]:
        """Its operations, what it makes, whatever chance does not change, and the names of files."""
        if name not in self.whole:
            made = []
            for _ in range(2):
                folder, log = copied(self.ready, self.place), self.place / "log"
                ended = self.bench.run(_COMMAND, str(folder), *_words(name), root=folder, log=log)
                if ended.code:
                    raise RuntimeError(f"{name} does not even work undisturbed: {ended.err}")
                made.append(told(folder, name))
            same = {key: one for key, one in made[0].items() if made[1].get(key) == one}
            self.whole[name] = read_log(log), same, _names(folder)
        return self.whole[name]

    def spoil(self, name: str, chance: random.Random) -> list[str]:
        """Spoil a command once, look, and run it again; what was wrong."""
        operations, after, names = self.undisturbed(name)
        spoil, way = drawn(operations, chance)
        self.ways[way] = self.ways.get(way, 0) + 1
        folder = copied(self.ready, self.place)
        ended = self.bench.run(_COMMAND, str(folder), *_words(name), root=folder, spoil=spoil)
        wrong = [] if ended.code in (-9, *(128 + one for one in SIGNALS)) else unclean(ended)
        wrong += ["a traceback: " + ended.err[-300:]] if "Traceback" in ended.err and not wrong else []
        if not wrong:
            wrong = self._between(name, folder, after) or self._again(name, folder, after, names)
        what = f"{way} at operation {spoil.first} of {len(operations)}"
        return [f"{name}, {what}: {each} (exit {ended.code}, {ended.err.strip()!r})" for each in wrong]

    def _between(self, name: str, folder: Path, after: dict[str, str]) -> list[str]:
        """What is neither as it was before, nor as it is to be."""
        try:
            now = told(folder, name)
        except LookalikeError as reason:
            return [f"refused: {reason}"]
        before = told(self.ready, name)
        return [
            f"{key} is neither as before nor as after"
            for key in before.keys() | after.keys()
            if COUNTED not in key and now.get(key) not in (before.get(key), after.get(key))
        ] + _unsound(folder, name)

    def _again(self, name: str, folder: Path, after: dict[str, str], names: set[str]) -> list[str]:
        """What is missing when the same command, unless it had done all, has run once more."""
        if any(told(folder, name).get(key) != one for key, one in after.items()):
            again = self.bench.run(_COMMAND, str(folder), *_words(name), root=folder)
            if again.code:
                return [f"again: exit {again.code}, {again.err.strip()!r}"]
        now = told(folder, name)
        wrong = [f"again: {key} is another" for key, one in after.items() if now.get(key) != one]
        atomic.sweep(folder)  # as whoever writes there next
        litter = {one for one in _names(folder) - names if not one.endswith(("-wal", "-shm"))}
        return wrong + [f"left behind: {one}" for one in sorted(litter)] + _unsound(folder, name)


def drawn(operations: list[Operation], chance: random.Random) -> tuple[Spoil, str]:
    """What is to befall one of the operations, and in a few words."""
    one = chance.choice([each for each in operations if each.letter != "A"])
    way = chance.choice(["killed", "killed", "torn", *(each.name for each in SIGNALS), *WAYS, *WAYS])
    if isinstance(way, int):
        letters = WAYS[way]
        last = one.number if chance.random() < 0.5 else FOR_EVER
        if way == errno.EINTR and last == FOR_EVER:
            last = one.number + 10
        spoil = Spoil("fail", one.number, last, way, letters)
        return spoil, named(spoil).split(" at ")[0]
    if way == "torn" and one.letter == "w":
        return Spoil("tear", one.number), way
    number = signal.SIGKILL if way in ("killed", "torn") else signal.Signals[str(way)]
    return Spoil("kill", one.number, one.number, number, ALL), number.name


def told(folder: Path, command: str) -> dict[str, str]:
    """All that the galleries of a command hold, and all other files that are no tables, by name."""
    found: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        if path.name in GALLERIES - set(_words(command)) or _is_aside(path.name):
            continue
        name = KEPT.sub(r".\1-", path.name)
        if path.name in GALLERIES or name != path.name:
            found |= {f"{name}: {key}": one for key, one in _held(path)}
        else:
            files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
            found |= {str(one.relative_to(folder)): _hash(one.read_bytes()) for one in files}
    return found


def _held(path: Path) -> Iterator[tuple[str, str]]:
    with Gallery(path) as gallery:
        yield "", "is there"
        for one in gallery.sets():
            whole = gallery.get(one.id, pictures=True)
            pictures = b"".join(bytes(each) for each in whole.pictures)
            yield f"set {one.id}", _hash(one.origin.encode() + one.faces.tobytes() + pictures)
        for file in gallery.files():
            yield f"file {file.path}", f"{file.content} {file.remark}"
        for model in gallery.models():
            # Its vectors come some at a time, and are used once all are there.
            yield f"{COUNTED} faces of {model.name}", f"{model.dimension} {model.faces} {model.is_current}"
        for decision in gallery.decisions():
            yield f"decision {decision.number}", f"{decision.kind} {decision.sets} {decision.name}"
        for person in decisions.judged(gallery).people.values():
            yield f"person {person.number}", f"{person.name} {sorted(person.sets)}"
        yield "pairs", str(gallery.apart())
        yield "barred", str(len(gallery.barred().entries))


def _unsound(folder: Path, command: str) -> list[str]:
    return [
        f"verify {path.name}: {one.what}"
        for path in sorted(folder.iterdir())
        if path.name in GALLERIES & set(_words(command))
        for one in verify(path)
        if not one.is_harmless and not one.is_derived
    ]


def _names(folder: Path) -> set[str]:
    """The names of a folder, without those of tables, that the time has no part in."""
    paths = [str(path.relative_to(folder)) for path in folder.rglob("*")]
    return {KEPT.sub("", path) for path in paths if ".derived" not in path}


def _is_aside(name: str) -> bool:
    return name.endswith(("-wal", "-shm", ".derived")) or name.startswith(".")


def _hash(content: bytes) -> str:
    return hashlib.sha256(TIME.sub(b"", content)).hexdigest()


def _words(name: str) -> list[str]:
    words = COMMANDS[name].split()
    return words if words[0] in ("judge", "name", "undo") else [*words, "--quiet"]


def _prepare(folder: Path) -> None:
    """Galleries of every kind, and what commands read."""
    path = fill(folder / "g", 4, 3)
    with Gallery(path) as gallery:
        decisions.judge(gallery, "clip-000", ["clip-001"], "same")
        decisions.name(gallery, ["clip-000"], "Ada")
        decisions.judge(gallery, "clip-003", ["clip-006"], "different")
        index(gallery, preparation="none")
        backup(gallery, folder / "backup")
    broken = fill(folder / "broken", 2, 2, pictures=False)
    with Gallery(broken) as gallery:
        index(gallery, preparation="none")
    file = next(one for one in sorted(TableStore.beside(broken).folder.rglob("*.npy")))
    file.write_bytes(file.read_bytes()[:-8] + bytes(range(8)))
    film = write_film(folder / "film.mov", Fraction(25), code="10:00:00:00")
    photo = marked(write_photo(folder / "photo.jpg", STORED), at(STORED, "Grace"))
    with Gallery(folder / "m", create=True) as gallery:
        sets = [face_set(f"film.mov#{n}", [seen(time=0.4 * n), seen(time=0.4 * n + 0.2)]) for n in (1, 2)]
        gallery.keep_file(media(film), sets)
        gallery.keep_file(media(photo, "photo"), [face_set("photo.jpg#1", [seen(STORED)], ["photo.jpg"])])
    write_format_1(folder / "old", [a_set(name, number) for number, name in enumerate("abc")])
    with tarfile.open(ROOT / "tests" / "gallery" / "split_galleries.tar.xz") as archive:
        members = [one for one in archive.getmembers() if one.name.split("/")[0] == "split"]
        archive.extractall(folder, members, filter="data")
    sets = small_world(4, 3)[0]
    lines = [f"{one.id},{number // 3}" for number, one in enumerate(sets)]
    (folder / "labels.csv").write_text("\n".join(["set_id,person", *lines]) + "\n")
    write_source(folder / "more.npz", [FaceSet(f"more-{one.id}", one.faces[::-1]) for one in sets[:4]])
    write_source(folder / "base.npz", sets)
    add(folder / "given", [folder / "base.npz"])
