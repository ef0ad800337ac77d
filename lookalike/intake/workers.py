"""Workers: children that look for faces, several files at a time; answers come in the order of the files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty, Full, Queue
from typing import Final

from lookalike.errors import LookalikeError
from lookalike.intake.looking import LookingChild, Told
from lookalike.intake.paths import readable
from lookalike.intake.seen import SeenFile, Settings

# What a child may take beyond its libraries: eight frames of 8K film in the decoder, and some more.
MOST_MEMORY: Final = 3 * 2**30
# A child says twice a second how far it is; after so many seconds of silence it is taken for stuck.
PATIENCE: Final = 120.0
# No honest film takes a processor longer than this for each of its seconds, though it speaks all the time.
SLOWEST: Final = 60.0
# Answers about a file that wait to be taken.
WAITING_ANSWERS: Final = 64


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
        How many children, or threads of fewer children where there are fewer files.
    memory : int
        Address space in bytes that a child may take for a file, where the system can limit it.
    patience : float
        How many seconds a child may be silent.
    slowest : float
        How many seconds it may take, beside that, for each second of film.
    """

    def __init__(
        self,
        settings: Settings,
        count: int = 1,
        memory: int = MOST_MEMORY,
        patience: float = PATIENCE,
        slowest: float = SLOWEST,
    ) -> None:
        self.settings = settings
        self.count = count
        self.memory = memory
        self.patience = patience
        self.slowest = slowest
        self._children: list[LookingChild] = []
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

        Raises
        ------
        LookalikeError
            If it is closed meanwhile, on another thread.
        """
        queues: dict[int, Queue[Told]] = {}
        ready = {number: threading.Event() for number in range(len(paths))}
        # A file is begun when the answers to another were taken and kept: so an interruption costs what the
        # children are looking at, and no more.
        taking, room = threading.Lock(), threading.Semaphore(self.count)
        numbers = iter(range(len(paths)))

        def work(child: LookingChild) -> None:
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
                for told in _told(child, paths[number], each, partial(is_wanted, number)):
                    while not self._over.is_set():
                        with suppress(Full):
                            queue.put(told, timeout=0.2)
                            break

        count = min(self.count, len(paths))
        # Where there are fewer files than children could be, several threads look at each.
        each = self.count // max(1, count)
        self._children += [LookingChild(self) for _ in range(count - len(self._children))]
        threads = [
            threading.Thread(target=work, args=(child,), daemon=True) for child in self._children[:count]
        ]
        for thread in threads:
            thread.start()
        try:
            for number in range(len(paths)):
                while not ready[number].wait(0.2):
                    self._check()
                while True:
                    told = self._next(queues[number])
                    yield number, told
                    if told is None or isinstance(told, SeenFile | LookalikeError):
                        break
                del queues[number]
                room.release()
        except BaseException:
            # Nobody waits for the rest any more.
            self.close()
            raise

    def _next(self, queue: Queue[Told]) -> Told:
        """The next answer; a child that was ended gives none."""
        while True:
            with suppress(Empty):
                return queue.get(timeout=0.2)
            self._check()

    def _check(self) -> None:
        if self.is_over:
            raise LookalikeError("looking for faces was stopped before its end")

    def lengths(self, paths: Iterable[Path]) -> Iterator[float]:
        """How many seconds each film says it lasts; 0 for what is none, or does not say. None is decoded."""
        child = LookingChild(self)
        self._children.append(child)
        yield from map(child.length, paths)


def _told(child: LookingChild, path: Path, threads: int, is_wanted: Callable[[], bool]) -> Iterator[Told]:
    try:
        if is_wanted():
            yield from child.look(path, threads)
        else:
            yield None
    except LookalikeError as reason:
        yield reason
    # Whoever waits for this file must hear of anything that ends the work on it.
    except Exception as reason:
        yield LookalikeError(f"looking at {readable(path)!r} failed ({type(reason).__name__}: {reason})")
