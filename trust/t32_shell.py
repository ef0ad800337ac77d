"""T32: what a user's shell does to a gallery: kill, mv, cp, rename, close the terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from lookalike import Gallery
from lookalike.atomic import TEMPORARY
from lookalike.gallery.decisions import judged
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from tests import media
from tests.cli_process import command, environment, vectors, write_npz
from tests.gallery import children
from tests.waiting import PATIENCE
from trust.outcome import Outcome, share_of, tried

TITLE: Final = (
    "a user's shell: kill -9 of `open`, a closed terminal, mv and cp of the file alone, another file copied "
    "over it, a foreign journal beside it, a rename before forgetting, a clock that is set back"
)
RELEASE: Final = 40
LEFT_OUT: Final = "network file systems; kills and hang-ups of other commands, which T34 has"

ADD: Final = """
with Gallery(sys.argv[1]) as gallery:
    for number in range(10_000):
        gallery.add(FaceSet(f"{number:06d}", faces(number, 3, 16)), "array:descriptors")
        print(number, flush=True)
"""


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Each of the cases in turn, at another moment every time."""
    count = share_of(RELEASE, share, len(CASES))
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(Path(folder), seed)
        found = tried("T32", range(count), shell.case, track, total=count)
    said = ", ".join(f"{name} {times}" for name, times in shell.times.items())
    return Outcome("T32", found.cases, found.failures, found.seconds, said)


class Shell:
    """A folder in which galleries are mistreated.

    Parameters
    ----------
    folder : Path
    seed : int
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.times: dict[str, int] = {}
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        write_npz(folder / "faces.npz", descriptors=vectors())
        write_npz(folder / "more.npz", [f"more{one}" for one in range(12)], descriptors=vectors(1))
        self.films = folder / "films"
        self.films.mkdir()
        shown = media.photo(folder).read_bytes()
        for number in range(6):
            (self.films / f"{number}.jpg").write_bytes(shown + b"%d" % number)
        self.run("add", folder / "made", folder / "faces.npz")
        self.run("index", folder / "made")
        self.run("backup", folder / "made", folder / "backup")

    def case(self, number: int) -> str | None:
        """One of the cases, and what was wrong."""
        name = list(CASES)[number % len(CASES)]
        self.times[name] = self.times.get(name, 0) + 1
        work = self.folder / "case"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        shutil.copy(self.folder / "made", work / "g")
        shutil.copytree(self.folder / "made.derived", work / "g.derived")
        said = CASES[name](self, work / "g", random.Random(f"{self.seed} {number}"))
        left = [one.name for one in self.temporary.glob(f"{TEMPORARY}*")]
        if said is None and left:
            self.run("list", work / "g")
            left = [one.name for one in self.temporary.glob(f"{TEMPORARY}*")]
            said = f"folders of the dead are still there: {left}" if left else None
        return None if said is None else f"{name}: {said}"

    def environment(self) -> dict[str, str]:
        """That of commands, with a temporary folder of our own."""
        return environment(TMPDIR=str(self.temporary))

    def run(self, *words: object, program: Sequence[str] = ()) -> str:
        """Run a command to a good end, by another program than ours if one is given."""
        asked = [*program, *map(str, words)] if program else command(*words)
        done = subprocess.run(asked, capture_output=True, text=True, env=self.environment(), timeout=PATIENCE)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout + done.stderr


def _sound(path: Path, least: set[str]) -> str | None:
    """What is wrong with a gallery that must be sound and hold some sets."""
    with Gallery(path) as gallery:
        if gallery.lacks:
            return f"it lacks its journal: {gallery.lacks}"
        lost = least - set(gallery.ids())
    if lost:
        return f"acknowledged sets are lost: {sorted(lost)[:5]}"
    wrong = [one.what for one in verify(path) if not one.is_harmless and not one.is_derived]
    return f"verify: {wrong[0]}" if wrong else None


def _opened(shell: Shell, path: Path, chance: random.Random) -> str | None:
    """`open` is killed while it looks through a folder: what it had kept is whole, and is gone on with."""
    own = path.parent / "own"
    for _ in range(2):
        child = subprocess.Popen(
            command("open", shell.films, "--gallery", own, "--no-browser", "--port", 0),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=shell.environment(),
        )
        with child:
            assert child.stdout is not None
            if b"token" not in child.stdout.readline():
                return f"it did not open: exit {child.wait(PATIENCE)}"
            time.sleep(chance.uniform(0.0, 6.0))
            child.kill()
        if own.exists() and (wrong := _sound(own, set())):
            return wrong
    return None


def _heed_hangup() -> None:
    """Let SIGHUP end this process, though whoever began the tests may have them ignore it, as nohup does."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _own_terminal() -> None:
    """Make the terminal at stdin that of this process, which is told when it is closed."""
    _heed_hangup()
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _terminal(shell: Shell, path: Path, chance: random.Random) -> str | None:
    """A terminal is closed under `serve`: it ends, and the file alone is the gallery."""
    own, other = pty.openpty()
    child = subprocess.Popen(
        command("serve", path, "--no-browser", "--port", 0),
        stdin=other, stdout=other, stderr=other, env=shell.environment(),
        preexec_fn=_own_terminal,
    )  # fmt: skip
    os.close(other)
    while b"token" not in os.read(own, 4096):
        pass
    time.sleep(chance.uniform(0.0, 1.0))
    os.close(own)
    child.wait(PATIENCE)
    return _alone(path, {"p0/v0"})


def _alone(path: Path, least: set[str]) -> str | None:
    """The file alone, copied, holds what it must."""
    there = path.parent / "there"
    there.mkdir(exist_ok=True)
    return _sound(Path(shutil.copy(path, there / "g")), least)


def _killed_adding(path: Path, chance: random.Random) -> set[str]:
    """Add, and kill at a random moment; which sets were acknowledged."""
    child = children.start(ADD, path)
    assert child.stdout is not None
    first = {int(child.stdout.readline()) for _ in range(chance.randrange(2, 40))}
    more = {int(one) for one in children.kill(child) if one.strip().isdecimal()}
    return {f"{one:06d}" for one in first | more}


def _moved(shell: Shell, path: Path, chance: random.Random) -> str | None:
    """After a kill its file is moved: it holds all, or says that it may not until its journal is back."""
    least = _killed_adding(path, chance)
    there = path.parent / "there"
    there.mkdir()
    moved = path.rename(there / "g")
    with Gallery(moved) as gallery:
        missing = least - set(gallery.ids())
        if missing and not gallery.lacks:
            return f"{len(missing)} acknowledged sets are missing, and it does not say so"
        lacks = gallery.lacks
    if lacks and all(one.is_harmless for one in verify(moved)):
        return "verify calls it sound"
    Path(f"{path}-wal").rename(f"{moved}-wal")
    return _sound(moved, least)


def _copied(shell: Shell, path: Path, chance: random.Random) -> str | None:
    """While a process that only reads has it open, a command ends, and the file alone is copied."""
    with Gallery(path) as idle:
        assert len(idle)
        shell.run("add", path, shell.folder / "more.npz")
        return _alone(path, {f"more{one}" for one in range(12)})


def _copied_over(shell: Shell, path: Path, chance: random.Random) -> str | None:
    """Another gallery is copied over an open one: nothing more is acknowledged, and it is not harmed."""
    child = children.start(ADD, path)
    assert child.stdout is not None
    for _ in range(chance.randrange(1, 20)):
        child.stdout.readline()
    path.write_bytes((shell.folder / "backup").read_bytes())
    # At most the one that was being written at that moment.
    said = child.communicate(timeout=PATIENCE)[1]
    # The system may end whoever reads what is being cut off: that acknowledges nothing either.
    if child.returncode >= 0 and "was overwritten" not in said:
        return f"it was not noticed (exit {child.returncode}): {said[-200:]}"
    return _sound(path, {"p0/v0"})


def _foreign(shell: Shell, path: Path, chance: random.Random) -> str | None:
    """A journal is left from another gallery of that name: it is never brought in."""
    _killed_adding(path, chance)
    path.unlink()
    shutil.copy(shell.folder / "backup", path)
    return _sound(path, {"p0/v0"})


def _renamed(shell: Shell, path: Path, chance: random.Random) -> str | None:
    """Tables of the old name know nobody who is forgotten under the new one."""
    # A copy notes where its tables lie when it is changed, not when it is looked at.
    shell.run("add", path, shell.folder / "more.npz")
    shell.run("index", path)
    named = path.rename(path.with_name("renamed"))
    shell.run("index", named)
    gone = f"p{chance.randrange(6)}/v1"
    shell.run("forget", named, gone)
    for file in path.parent.rglob("*.npy"):
        content = file.read_bytes()
        if gone.encode() in content or gone.encode("utf-32-le") in content:
            return f"{file.relative_to(path.parent)} knows {gone}"
    return None


# A clock as a process sees it, a year back.
BACK: Final = """
import time
now = time.time
time.time = lambda: now() - 365 * 86400
from lookalike.cli import main
main()
"""


def _set_back(shell: Shell, path: Path, chance: random.Random) -> str | None:
    """The clock is set back by a year between commands: what was said last holds, and all is forgotten."""
    earlier = partial(shell.run, program=(sys.executable, "-c", BACK))
    one, other, gone = chance.sample([f"p{one}/v0" for one in range(6)], 3)
    shell.run("judge", path, one, other, "same")
    earlier("judge", path, one, other, "different")
    earlier("add", path, shell.folder / "more.npz")
    answers = json.loads(shell.run("find", path, one, "--json", "--quiet"))
    if other in str(answers["answers"]):
        return f"{other} is an answer to {one}, though the last word was that they are different"
    earlier("undo", path)
    with Gallery(path) as gallery:
        if other not in judged(gallery).confirmed(one):
            return "what was undone is not what was said last"
    earlier("forget", path, gone, "--now")
    if gone.encode() in path.read_bytes():
        return f"{gone} was forgotten, and is in the file"
    return _sound(path, {one, other, "more0"})


CASES: Final[dict[str, Callable[[Shell, Path, random.Random], str | None]]] = {
    "killed during open": _opened,
    "terminal closed under serve": _terminal,
    "moved without its journal": _moved,
    "copied while others read": _copied,
    "copied over while open": _copied_over,
    "foreign journal": _foreign,
    "renamed, then forgotten": _renamed,
    "clock set back": _set_back,
}
