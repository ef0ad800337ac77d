"""Workers: children that look for faces, several files at a time; answers come in the order of the files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import Full, Queue
from typing import Any, Final

from lookalike.errors import BadInput, LookalikeError
from lookalike.intake.children import Ended, pipe_of, take_header, taken, time_limit
from lookalike.intake.paths import readable
from lookalike.intake.seen import SeenFile, SeenTrack, Settings

# What a child may take beyond its libraries: eight frames of 8K film in the decoder, and some more.
MOST_MEMORY: Final = 3 * 2**30
# A child says twice a second how far it is; after so many seconds of silence it is taken for stuck.
PATIENCE: Final = 120.0
# An aligned picture has 3 kB.
MOST_PICTURE: Final = 2**18
# Answers about a file that wait to be taken, and files whose answers wait, for each child.
WAITING_ANSWERS: Final = 64
WAITING_FILES: Final = 4

Told = float | SeenTrack | SeenFile | LookalikeError | None


class Workers:
    """Looks for faces in files; use it in a ``with`` statement.

    Decoders are not made for files one does not trust: a damaged file can crash them. So they run in child
    processes with limits on memory, time and what they may write; a child that dies or does not answer is
    replaced, and only the file it was looking at is refused.

    Parameters
    ----------
    settings : Settings
        How to look.
    count : int
        How many children.
    memory : int
        Address space in bytes that a child may take for a file, where the system can limit it.
    patience : float
        How many seconds a child may be silent.
    """

    def __init__(
        self, settings: Settings, count: int = 1, memory: int = MOST_MEMORY, patience: float = PATIENCE
    ) -> None:
        self.settings = settings
        self.count = count
        self.memory = memory
        self.patience = patience
        self._children: list[_Child] = []
        self._over = threading.Event()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def is_over(self) -> bool:
        """Whether it was closed."""
        return self._over.is_set()

    def pids(self) -> list[int]:
        """Process numbers of the children that run."""
        return [child.pid for child in self._children if child.pid is not None]

    def close(self) -> None:
        """End the children."""
        self._over.set()
        for child in self._children:
            child.close()

    def look(
        self, paths: Sequence[Path], is_wanted: Callable[[int], bool] = lambda number: True
    ) -> Iterator[tuple[int, Told]]:
        """Look at the files, and tell what was found.

        Parameters
        ----------
        paths : sequence of paths
            Photos and films.
        is_wanted : callable
            Asked with the number of a file, on any thread, before it is opened.

        Yields
        ------
        tuple of int and float, SeenTrack, SeenFile, LookalikeError or None
            Number of the file, from 0 and rising; then how many seconds of it have been looked at, or a track
            it shows, or that it is done (a `SeenFile` without tracks), or why it is refused, or None if it
            was not wanted. Every file ends with one of the last three.
        """
        queues: dict[int, Queue[Told]] = {}
        ready = {number: threading.Event() for number in range(len(paths))}
        taking, room = threading.Lock(), threading.Semaphore(self.count * WAITING_FILES)
        numbers = iter(range(len(paths)))

        def work(child: _Child) -> None:
            while not self._over.is_set():
                # Files are taken in order, so the one that is waited for is always being looked at.
                with taking:
                    while not room.acquire(timeout=0.2):
                        if self._over.is_set():
                            return
                    number = next(numbers, None)
                    if number is None:
                        return
                    queue = queues[number] = Queue(WAITING_ANSWERS)
                    ready[number].set()
                for told in _told(child, paths[number], number, is_wanted):
                    while not self._over.is_set():
                        with suppress(Full):
                            queue.put(told, timeout=0.2)
                            break

        count = min(self.count, len(paths))
        self._children += [_Child(self) for _ in range(count - len(self._children))]
        threads = [
            threading.Thread(target=work, args=(child,), daemon=True) for child in self._children[:count]
        ]
        for thread in threads:
            thread.start()
        try:
            for number in range(len(paths)):
                ready[number].wait()
                while True:
                    told = queues[number].get()
                    yield number, told
                    if told is None or isinstance(told, SeenFile | LookalikeError):
                        break
                del queues[number]
                room.release()
        except BaseException:
            # Nobody waits for the rest any more.
            self.close()
            raise

    def lengths(self, paths: Iterable[Path]) -> Iterator[float]:
        """How many seconds each film says it lasts; 0 for what is none, or does not say. None is decoded."""
        child = _Child(self)
        self._children.append(child)
        yield from map(child.length, paths)


def _told(child: _Child, path: Path, number: int, is_wanted: Callable[[int], bool]) -> Iterator[Told]:
    try:
        if is_wanted(number):
            yield from child.look(path)
        else:
            yield None
    except LookalikeError as reason:
        yield reason


class _Child:
    """One child process, started when it is needed and started again when it has died."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process number, if it runs."""
        return None if self._process is None else self._process.pid

    def look(self, path: Path) -> Iterator[Told]:
        """Tell what one file shows; the last item is a SeenFile or an error."""
        began = False
        while True:
            fresh = self._process is None
            late: list[bool] = []
            try:
                for told in self._told(path, late):
                    began = began or isinstance(told, SeenTrack)
                    yield told
                return
            except Ended:
                self.close()
                # Nobody waits for an answer any more, and nothing shall be started again.
                if self._workers.is_over:
                    return
                # Something else may have ended a child that served before: the file gets another chance.
                if not (late or fresh or began):
                    continue
                silent = f"did not answer for {self._workers.patience:g} seconds"
                how = silent if late else "crashed what reads it"
                yield BadInput(f"{readable(path)!r} {how}: it is damaged, copy it again or leave it out")
                return

    def length(self, path: Path) -> float:
        """How many seconds a film says it lasts; 0 if it cannot tell."""
        try:
            self._ask({"path": os.fsencode(os.path.abspath(path)).hex(), "probe": True})
            header = self._message([])
            return float(header.get("seconds", 0.0))
        except (Ended, ValueError, TypeError):
            self.close()
            return 0.0

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        # A request may be left in the pipe, whose other end is gone.
        with suppress(OSError), process:
            pass
        process.wait()

    def _told(self, path: Path, late: list[bool]) -> Iterator[Told]:
        self._ask({"path": os.fsencode(os.path.abspath(path)).hex()})
        while True:
            header = self._message(late)
            # Whoever took over the child may write anything: any error of these lines means that.
            try:
                if "refused" in header:
                    words = " ".join(str(header["refused"]).split())[:1000]
                    # A sentence that names the file names it as the child was given it.
                    words = words.removeprefix(repr(readable(os.path.abspath(path)))).lstrip()
                    yield BadInput(f"{readable(path)!r} {words}")
                    if header.get("ended"):
                        self.close()
                    return
                if "time" in header:
                    yield float(header["time"])
                elif "track" in header:
                    yield self._track(header)
                else:
                    remark = " ".join(str(header.get("remark", "")).split())[:1000]
                    yield SeenFile((), float(header["seconds"]), remark)
                    return
            except (KeyError, TypeError, ValueError, BadInput):
                raise Ended from None

    def _track(self, header: dict[str, Any]) -> SeenTrack:
        lengths = [int(length) for length in header["bytes"]]
        if not 0 < len(lengths) == len(header["sightings"]) <= self._workers.settings.most:
            raise Ended
        if not all(0 < length <= MOST_PICTURE for length in lengths) or self._process is None:
            raise Ended
        pipe = pipe_of(self._process.stdout)
        pictures = tuple(taken(pipe, length).tobytes() for length in lengths)
        if not all(picture[:4] == b"RIFF" and picture[8:12] == b"WEBP" for picture in pictures):
            raise Ended
        return SeenTrack.from_header(header, pictures)

    def _ask(self, request: dict[str, Any]) -> None:
        if self._workers.is_over:
            raise Ended
        process = self._started()
        try:
            pipe_of(process.stdin).write(json.dumps(request).encode() + b"\n")
            pipe_of(process.stdin).flush()
        except OSError:
            raise Ended from None

    def _message(self, late: list[bool]) -> dict[str, Any]:
        if self._process is None:
            raise Ended
        with time_limit(self._process, self._workers.patience) as over:
            try:
                return take_header(self._process)
            finally:
                late += over

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        said = {"memory": self._workers.memory, "settings": asdict(self._workers.settings)}
        alone = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lookalike.intake._footage_child", json.dumps(said)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **alone},
            # Ctrl-C in the terminal reaches a whole session; this one is ended by us.
            start_new_session=True,
        )
        try:
            self._message([])
        except Ended:
            self.close()
            raise LookalikeError(
                "what looks for faces does not start: `lookalike doctor` says what is missing"
            ) from None
        return self._process
