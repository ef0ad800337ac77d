"""Workers: children that look for faces in files, several at a time; what they tell is gathered by file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from queue import Empty, Full, Queue
from time import monotonic
from typing import Any, Final, TypeVar

import numpy as np

from lookalike.descriptors.contract import Descriptor
from lookalike.errors import BadInput, LookalikeError, readable
from lookalike.faceset import is_moment
from lookalike.ingest.describe import describe_aligned
from lookalike.ingest.files import MediaPath
from lookalike.ingest.sandbox import ADVICE, Ended, Limits, Message, NotStarted, Sandbox
from lookalike.ingest.seen import Album, Described, SeenFile, SeenTrack, Settings, one_person_each
from lookalike.kernels.threads import Helpers

Item = TypeVar("Item")
# What a child may take beyond its libraries: eight frames of 8K film in the decoder, and some more.
MOST_MEMORY: Final = 3 * 2**30
# A child says twice a second how far it is; after so many seconds of silence it is taken for stuck.
PATIENCE: Final = 120.0
# No honest film takes a processor longer than this for each of its seconds, though it speaks all the time.
SLOWEST: Final = 60.0
# Answers about a file that wait to be taken.
WAITING_ANSWERS: Final = 64
# Loaded before the limits of a child hold.
LIBRARIES: Final = ("av", "cv2")
# An aligned picture has 3 kB.
MOST_PICTURE: Final = 2**18

# What a child tells of a file; None if nobody wanted to know.
Told = float | SeenTrack | SeenFile | LookalikeError | None


class LookingChild:
    """One child process that looks for faces, started when it is needed and again when it has died.

    The workers to whom it belongs say how it looks, what it may take, and whether it is still wanted.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._sandbox: Sandbox | None = None

    def look(self, path: Path, threads: int = 1) -> Iterator[Told]:
        """Tell what one file shows, on so many threads; the last item is a SeenFile or an error."""
        began = False
        while True:
            fresh = self._sandbox is None
            try:
                for told in self._told(path, threads):
                    began = began or isinstance(told, SeenTrack)
                    yield told
                return
            except Ended as end:
                self.close()
                # Nobody waits for an answer any more, and nothing shall be started again.
                if self._workers.is_over:
                    return
                # Something else may have ended a child that served before: the file gets another chance.
                if end.is_late or end.is_told or fresh or began:
                    yield BadInput(f"{readable(path)!r} {end}")
                    return

    def say(self, what: str, path: Path, read: Callable[[Message], Item]) -> Item | None:
        """What a file says of something; None if it cannot be asked."""
        try:
            child = self._asked({what: os.path.abspath(path)})
            with suppress(LookalikeError):
                said = None
                while (message := child.answer(self._workers.patience)) is not None:
                    said = read(message)
                return said
        except (Ended, KeyError, ValueError, TypeError, OverflowError):
            self.close()
        return None

    def close(self) -> None:
        """End the process, if there is one."""
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.close()

    def _told(self, path: Path, threads: int) -> Iterator[Told]:
        settings, patience, slowest = self._workers.settings, self._workers.patience, self._workers.slowest
        child = self._asked({"look": os.path.abspath(path), "settings": asdict(settings), "threads": threads})
        # Seconds of the film that were looked at, and seconds that this was waited for.
        reached = waited = 0.0
        told: Told = None
        while True:
            limit = min(patience, patience + slowest * reached - waited)
            asked = monotonic()
            try:
                message = child.answer(limit, settings.most * MOST_PICTURE)
            except Ended as end:
                if end.is_late and limit < patience:
                    how = f"took more than {slowest:g} seconds for a second of video: {ADVICE}"
                    raise Ended(how, is_late=True) from None
                raise
            except LookalikeError as reason:
                yield _named(path, reason)
                return
            waited += monotonic() - asked
            if message is None:
                if not isinstance(told, SeenFile):
                    raise Ended
                return
            told = _what(message, settings.most)
            if isinstance(told, float):
                reached = told
            yield told

    def _asked(self, request: dict[str, Any]) -> Sandbox:
        """The child, which was asked this."""
        if self._workers.is_over:
            raise Ended
        if self._sandbox is None:
            self._sandbox = Sandbox(Limits(self._workers.memory, libraries=LIBRARIES))
        child = self._sandbox
        try:
            child.ask(request)
        except NotStarted:
            self.close()
            if self._workers.is_over:
                raise Ended from None
            raise LookalikeError(
                "what looks for faces does not start: `lookalike doctor` says what is missing"
            ) from None
        # Whoever closed us while it was started could not see it.
        if self._workers.is_over:
            raise Ended
        return child


def _what(message: Message, most: int) -> float | SeenTrack | SeenFile:
    """What a child says of a file: how far it is, a track of at most so many faces, or that it is done."""
    header, pictures = message.header, tuple(part.tobytes() for part in message.parts)
    # Whoever took over the child may write anything: any error of these lines means that.
    try:
        if "time" in header:
            return _seconds(message, "time")
        if "track" not in header:
            remark = " ".join(str(header.get("remark", "")).split())[:1000]
            return SeenFile((), _seconds(message), remark, _moment(message))
        if not 0 < len(pictures) == len(header["sightings"]) <= most:
            raise Ended
        if not all(picture[:4] == b"RIFF" and picture[8:12] == b"WEBP" for picture in pictures):
            raise Ended
        return SeenTrack.from_header(header, pictures)
    except (KeyError, TypeError, ValueError, OverflowError, BadInput):
        raise Ended from None


def _seconds(message: Message, name: str = "seconds") -> float:
    """A length of time as a child may say it."""
    seconds = float(message.header[name])
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{seconds!r} is no length of time")
    return seconds


def _moment(message: Message) -> str:
    """When a file was taken, as a child may say it."""
    said = message.header["captured"]
    if said != "" and not is_moment(said):
        raise ValueError(f"{said!r} is no time")
    return str(said)


def _named(path: Path, reason: LookalikeError) -> LookalikeError:
    """What is wrong with a file, which is named as it was given here."""
    there, here = repr(readable(os.path.abspath(path))), repr(readable(path))
    words = str(reason)[:1000]
    return BadInput(words.replace(there, here, 1) if there in words else f"{here} {words}")


class Workers:
    """Looks for faces in files; use it in a ``with`` statement.

    Decoders are not made for files one does not trust: a damaged file can crash them. So they run in
    child processes with limits on memory, time and what they may write; a child that dies or does not
    answer is replaced, and only the file it was looking at is refused. Where there are fewer files than
    children could be, several threads look at each.

    A child may take so much address space for a file, where the system can limit it, be silent for
    `patience` seconds, and take `slowest` more for each second of film. While `going` is not set,
    children are not listened to: each waits as soon as it has a few faces to tell.
    """

    def __init__(
        self,
        settings: Settings,
        count: int = 1,
        memory: int = MOST_MEMORY,
        patience: float = PATIENCE,
        slowest: float = SLOWEST,
        going: threading.Event | None = None,
    ) -> None:
        self.settings = settings
        self.count = count
        self.memory = memory
        self.patience = patience
        self.slowest = slowest
        self._going = going
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

    def close(self) -> None:
        """End the children."""
        self._over.set()
        for child in self._children:
            child.close()

    def look(
        self, paths: Sequence[Path], is_wanted: Callable[[int], bool] = lambda number: True
    ) -> Iterator[tuple[int, Told]]:
        """Look at the files, and tell what was found.

        `is_wanted` is asked with the number of a file, on any thread, before it is opened. Yields
        the number of the file, from 0 and rising; then how many seconds of it have been looked at, or
        a track it shows, or that it is done (a `SeenFile` without tracks), or why it is refused, or
        None if it was not wanted. Every file ends with one of the last three. LookalikeError is
        raised if it is closed meanwhile, on another thread.
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
                    while self._going is not None and not (self._going.wait(0.2) or self.is_over):
                        pass
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
        for said in self._say("length", paths, _seconds):
            yield said or 0.0

    def captured(self, paths: Iterable[Path]) -> Iterator[str | None]:
        """When each photo or film was taken, empty if it does not say; None of what cannot be asked."""
        return self._say("captured", paths, _moment)

    def _say(
        self, what: str, paths: Iterable[Path], read: Callable[[Message], Item]
    ) -> Iterator[Item | None]:
        child = LookingChild(self)
        self._children.append(child)
        for path in paths:
            yield child.say(what, path, read)


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


@dataclass(frozen=True)
class Gathered:
    """Everything that one file shows, described, and what could not be read of it; or why it is refused.

    It shows nobody if it was not wanted. Jumps are joined, mixed tracks parted. `captured` is as
    `MediaFile.captured` writes it; None if it was not looked at.
    """

    tracks: Sequence[Described] = ()
    remark: str = ""
    reason: LookalikeError | None = None
    captured: str | None = None


def gather(
    workers: Workers,
    files: Sequence[MediaPath],
    part: Descriptor,
    is_wanted: Callable[[int], bool] = lambda number: True,
) -> Iterator[tuple[int, float | Gathered]]:
    """Look at files and describe their faces by a part; `is_wanted` is as of `Workers.look`.

    Yields the number of the file, from 0 and rising; then how many seconds of it have been looked at, or
    all that it shows, with which every file ends. Only so many files are begun and not ended as there are
    workers.
    """

    def described(track: SeenTrack) -> Described:
        return track, describe_aligned(track.pictures, part)

    begun: list[Callable[[], Described]] = []
    with Helpers() as helpers:
        for number, told in workers.look([file.path for file in files], is_wanted):
            if isinstance(told, float):
                yield number, told
            elif isinstance(told, SeenTrack):
                begun.append(helpers.begin(described, told))
                # Who looks waits for those who describe, so that the progress tells the truth.
                if len(begun) > 2 * helpers.count:
                    with suppress(LookalikeError):
                        begun[-1 - 2 * helpers.count]()
            else:
                yield number, _whole(begun, told, part, workers.settings.most)
                begun = []


def _whole(
    begun: Sequence[Callable[[], Described]],
    end: SeenFile | LookalikeError | None,
    part: Descriptor,
    most: int,
) -> Gathered:
    """All that a file shows, when the faces that were begun are described."""
    try:
        if isinstance(end, LookalikeError):
            raise end
        tracks = one_person_each([one() for one in begun], part, most)
    except LookalikeError as reason:
        return Gathered(reason=reason)
    return Gathered(tracks) if end is None else Gathered(tracks, end.remark, captured=end.captured)


def is_grouped(file: MediaPath, part: Descriptor) -> bool:
    """Whether the faces of a file join those of its album: photos of a folder, where people can be told."""
    return file.media.kind == "photo" and bool(file.album) and part.same_person is not None


def place(album: Album, tracks: Sequence[Described]) -> list[int]:
    """The group of its album to which each face of a photo belongs."""
    return album.place(np.concatenate([faces for _, faces in tracks])) if tracks else []
