"""Run the real console script in a process of its own, on small data made here."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import io
import json
import os
import resource  # noqa: F401  (for the code in SMALL_FILES_ONLY)
import subprocess
import sys
import tempfile
import threading
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.to_the_end import run_to_the_end
from tests.waiting import PATIENCE

LOOKALIKE = Path(sys.executable).with_name("lookalike")

# Code that a copy of the ready process runs before the command.
SMALL_FILES_ONLY = "resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))"
ROOT_OBEYS = "obey_permissions()"


@dataclass(frozen=True)
class Ended:
    """What a process left: its exit code and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)


def command(*arguments: object) -> list[str]:
    """The words of a command, the console script first; bytes are names that are not text."""
    given = (os.fsdecode(word) if isinstance(word, bytes) else str(word) for word in arguments)
    return [str(LOOKALIKE), *given]


def environment(**changes: str) -> dict[str, str]:
    """The environment of a plain pipe: no terminal, no colours, a wide page for help texts."""
    known = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "COLUMNS")}
    return {**known, "NO_COLOR": "1", "COLUMNS": "200", **changes}


def run(*arguments: object, cwd: Path, **env: str) -> Ended:
    """Run the console script to its end, whatever that is."""
    done = subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=environment(**env),
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
    )
    # Names of files may hold bytes that are not text.
    out, err = (said.decode("utf-8", "replace") for said in (done.stdout, done.stderr))
    return Ended(done.returncode, out, err)


def works(*arguments: object, cwd: Path, **env: str) -> Ended:
    """Run a command that must succeed."""
    return succeeded(run(*arguments, cwd=cwd, **env))


def succeeded(ended: Ended) -> Ended:
    """Hold a process to a good end, without a word about our insides."""
    assert ended.code == 0, ended
    assert "Traceback" not in ended.err, ended
    assert "Warning" not in ended.err, ended
    return ended


class Ready:
    """Runs commands in copies of one process that has loaded the libraries, which is what takes time.

    Each copy is a process with its own exit code, output and folder; only how it starts differs from the
    console script.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server = subprocess.Popen(
            [sys.executable, "-W", "ignore::DeprecationWarning", "-m", "tests.cli_process"],
            cwd=Path(__file__).parent.parent,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: object, cwd: Path, before: str = "", **env: str) -> Ended:
        """Run one command to its end, whatever that is; `before` is code that shapes its process."""
        with tempfile.TemporaryDirectory() as folder, self._lock:
            out, err = Path(folder) / "out", Path(folder) / "err"
            request = [command(*arguments), str(cwd), before, env, str(out), str(err)]
            self._server.stdin.write(json.dumps(request) + "\n")
            self._server.stdin.flush()
            code = json.loads(self._server.stdout.readline())
            return Ended(code, *(path.read_bytes().decode("utf-8", "replace") for path in (out, err)))

    def works(self, *arguments: object, cwd: Path, **env: str) -> Ended:
        """Run a command that must succeed."""
        return succeeded(self.run(*arguments, cwd=cwd, **env))

    def close(self) -> None:
        """End the process; every copy has ended by itself."""
        with self._server:
            self._server.stdin.close()


def serve() -> None:
    """Be that process: fork for every line of stdin, answer with the exit code."""
    import sklearn.base  # noqa: F401

    import lookalike.cli.app
    import lookalike.gallery.export
    import lookalike.gallery.forget
    import lookalike.ingest.add
    import lookalike.search.picture
    import lookalike.search.query
    from lookalike import registry
    from lookalike.errors import LookalikeError

    for kind in registry.KINDS:
        for name in registry.names(kind):
            registry.part_class(kind, name)
    # Typer loads more of itself with the first command.
    for words in (["list", "missing"], ["list", "--help"]):
        with redirect_stdout(io.StringIO()), suppress(LookalikeError, SystemExit):
            lookalike.cli.app.app(words)
    gc.freeze()
    for line in sys.stdin:
        words, folder, before, env, *outputs = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for number, path in enumerate(outputs, start=1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
            os.environ.update(env)
            exec(before)
            sys.argv = words
            run_to_the_end(lookalike.cli.main)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def obey_permissions() -> None:
    """Make root obey the permissions of files and folders, as everybody else does."""
    libc = ctypes.CDLL(None)
    # The kernel's _LINUX_CAPABILITY_VERSION_3, for this thread; first the effective, then the permitted set.
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    for number in (0, 1):
        sets[number] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(header, sets) == 0


def tree(folder: Path) -> dict[str, str]:
    """Everything below a folder: path -> what it holds, as a short text."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = os.fsencode(path.relative_to(folder)).decode("utf-8", "backslashreplace")
        found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
    return found


# Small data: six people, each on two sets of three faces.

PEOPLE, VIDEOS, FRAMES = 6, 2, 3
IDS = [f"p{person}/v{video}" for person in range(PEOPLE) for video in range(VIDEOS)]


def faces(seed: int = 0, height: int = 30, width: int = 25) -> np.ndarray:
    """Pictures (people, videos, frames, height, width): a pattern for each person, noise for each frame."""
    rng = np.random.default_rng(seed)
    person = rng.normal(size=(PEOPLE, 1, 1, height // 3, width // 3 + 1))
    frame = rng.normal(size=(PEOPLE, VIDEOS, FRAMES, height // 3, width // 3 + 1))
    coarse = np.repeat(np.repeat(person + 0.5 * frame, 3, axis=3), 3, axis=4)[..., :height, :width]
    return np.clip(128 + 40 * coarse + 5 * rng.normal(size=coarse.shape), 0, 255).astype(np.uint8)


def vectors(seed: int = 0, dimension: int = 16) -> np.ndarray:
    """Descriptors (people * videos * frames, dimension), float32."""
    rng = np.random.default_rng(seed)
    person = rng.normal(size=(PEOPLE, 1, 1, dimension))
    made = person + 0.6 * rng.normal(size=(PEOPLE, VIDEOS, FRAMES, dimension))
    return made.reshape(-1, dimension).astype(np.float32)


def write_pictures(folder: Path, pictures: np.ndarray) -> Path:
    """Write pictures as files; the innermost folder is a set."""
    for (person, video, frame), picture in zip(
        np.ndindex(pictures.shape[:3]), pictures.reshape(-1, *pictures.shape[3:]), strict=True
    ):
        place = folder / f"p{person}" / f"v{video}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(place / f"{frame}.png")
    return folder


def write_npz(path: Path, ids: list[str] | None = None, **arrays: Any) -> Path:
    """Write an .npz source with FRAMES faces a set; an array given as None is left out."""
    count = len(next(array for array in arrays.values() if array is not None))
    names = ids if ids is not None else IDS[: count // FRAMES]
    usual = {"image_set": np.arange(count) // FRAMES, "set_names": np.array(names, dtype=str)}
    np.savez(path, **{name: array for name, array in {**usual, **arrays}.items() if array is not None})
    return path


if __name__ == "__main__":
    serve()
