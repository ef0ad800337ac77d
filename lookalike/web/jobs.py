"""Jobs: long work that goes on while the page stays alive, and lets itself be watched and stopped."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

from lookalike.errors import LookalikeError, NotFound
from lookalike.progress import Forecast, Step
from lookalike.web.models import JobView
from lookalike.web.wording import sentence, where

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
State = Literal["waiting", "running", "done", "failed", "cancelled"]
# Finished jobs that are remembered.
KEPT = 200
# Seconds that a job gets to stop when the server ends; then it is left behind, as by a power cut.
PATIENCE = 5.0


class Cancelled(Exception):
    """Somebody asked the work to stop."""


class Job:
    """One piece of work, of a kind in a word, with a text for people.

    `work` does it, given the job, whose `track` it calls; it returns what it made, as text. `clean` is
    called once when it ends, however it does, begun or not. A sentence that begins with the path of the
    gallery gets no capital.
    """

    def __init__(
        self,
        number: int,
        kind: str,
        text: str,
        work: Callable[[Job], str],
        clean: Callable[[], None] | None = None,
        path: object = "",
    ) -> None:
        self._clean, self._path = clean, path
        self.number, self.kind, self.text = number, kind, text
        self.state: State = "waiting"
        self.done, self.total = 0, 0
        # What the step is at, where it says so, and how many seconds it was expected to take.
        self.at, self.expected = "", 0.0
        self.error, self.result = "", ""
        self.failure: LookalikeError | None = None
        self._work = work
        self._began = self._step_began = time.monotonic()
        self._ended: float | None = None
        self._held_since: float | None = None
        self._lock = threading.Lock()
        self._stop = threading.Event()
        # Set unless the work is to pause; others who do a part of it may wait for it too.
        self.going = threading.Event()
        self.going.set()
        self._stoppers: list[Callable[[], None]] = []
        self._finished = threading.Event()

    def track(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        """Watch the items of a step pass, as `lookalike.progress.Track` does; pause and stop if asked to."""
        self.text, self.done, self.total, self.at = text, 0, total or 0, ""
        self._step_began = time.monotonic()
        for item in items:
            if isinstance(item, Step):
                self.at = item.words
            self.going.wait()
            self.check()
            yield item
            self.done += 1

    def check(self) -> None:
        """Stop here if somebody asked for it."""
        if self._stop.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """Ask the work to stop at its next step, or at once where it can; what it has finished is kept."""
        with self._lock:
            self._stop.set()
            self.going.set()
            if self.state == "waiting":
                self._end("cancelled")
            stoppers = list(self._stoppers)
        for stop in stoppers:
            # Whoever asks waits for nothing.
            threading.Thread(target=stop, name=f"stops job {self.number}", daemon=True).start()

    def pause(self) -> None:
        """Let the work rest at its next step, until `resume`; what it holds in memory it keeps."""
        with self._lock:
            if self.going.is_set() and not (self.is_over or self._stop.is_set()):
                self._held_since = time.monotonic()
                self.going.clear()

    def resume(self) -> None:
        """Let the work go on; the pause does not count."""
        with self._lock:
            if self._held_since is not None:
                self._step_began += time.monotonic() - self._held_since
                self._held_since = None
            self.going.set()

    @contextmanager
    def on_stop(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call something, on another thread, if the job is to stop while the block runs.

        It makes the block fail, whose error then means no more than that.
        """
        with self._lock:
            self.check()
            self._stoppers.append(stop)
        try:
            yield
        except LookalikeError:
            self.check()
            raise
        finally:
            with self._lock:
                self._stoppers.remove(stop)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended; whether it has."""
        return self._finished.wait(seconds)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self._finished.is_set()

    def run(self) -> None:
        """Do the work; every failure ends in a sentence."""
        with self._lock:
            if self.is_over:
                return
            self.state, self._began = "running", time.monotonic()
        try:
            self.result = self._work(self)
            self._end("done")
        except Cancelled:
            self._end("cancelled")
        except LookalikeError as reason:
            self.error, self.failure = sentence(str(reason), self._path), reason
            self._end("failed")
        except Exception as mistake:
            logger.error("a mistake of ours, in the job %r: %s", self.kind, where(mistake))
            self.error = "Something went wrong on our side: try again, or start the server again."
            self._end("failed")

    def view(self) -> JobView:
        """How far it is."""
        now = self._ended or time.monotonic()
        done, total, paused = self.done, self.total, not self.going.is_set()
        running = self.state == "running" and total and done <= total and not paused
        worked, left = now - self._step_began, None
        if running and self.expected:
            left = Forecast(self.expected, total).left(done, worked)
        elif running and done:
            left = worked / done * (total - done)
        return JobView(
            number=self.number,
            kind=self.kind,
            state=self.state,
            paused=paused,
            text=self.text,
            at=self.at,
            done=done,
            total=total or None,
            seconds=round(now - self._began, 1),
            left=None if left is None else round(left, 1),
            error=self.error,
            result=self.result,
        )

    def _end(self, state: State) -> None:
        if self._clean is not None:
            try:
                self._clean()
            except Exception as mistake:
                logger.error("a mistake of ours, after the job %r: %s", self.kind, where(mistake))
        self.state, self._ended = state, time.monotonic()
        self._finished.set()


class Jobs:
    """All work of one run of the server. Work of one lane goes one after the other.

    Sentences may begin with the path of the gallery.
    """

    def __init__(self, path: object = "") -> None:
        self._path = path
        self._lock = threading.Condition()
        self._jobs: dict[int, Job] = {}
        self._lanes: dict[str, deque[Job]] = {}
        self._threads: list[threading.Thread] = []
        self._last = 0
        # Set as soon as the server is asked to end, by whoever hears of it first.
        self.closing = False

    def start(
        self,
        kind: str,
        text: str,
        work: Callable[[Job], str],
        lane: str = "collection",
        clean: Callable[[], None] | None = None,
    ) -> Job:
        """Begin some work, or put it behind what its lane is doing; `clean` is called when it has ended."""
        with self._lock:
            self._last += 1
            job = self._jobs[self._last] = Job(self._last, kind, text, work, clean, self._path)
            if self.closing:
                job.cancel()
                return job
            if lane not in self._lanes:
                self._lanes[lane] = deque()
                # A daemon: what does not stop in time must not keep the program from ending.
                thread = threading.Thread(target=self._serve, args=(lane,), name=f"jobs {lane}", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._lanes[lane].append(job)
            self._lock.notify_all()
            over = [one.number for one in self._jobs.values() if one.is_over]
            for number in over[:-KEPT]:
                del self._jobs[number]
            return job

    def get(self, number: int) -> Job:
        """One job; raise NotFound if there is none of this number."""
        with self._lock:
            if number not in self._jobs:
                raise NotFound(f"there is no job {number}: it ended long ago, or in an earlier run")
            return self._jobs[number]

    def view(self, number: int) -> JobView:
        """How far a job is."""
        return self.get(number).view()

    def views(self) -> list[JobView]:
        """All jobs, the newest first."""
        with self._lock:
            return [job.view() for job in reversed(self._jobs.values())]

    def close(self) -> None:
        """Stop everything."""
        with self._lock:
            self.closing = True
            for job in self._jobs.values():
                job.cancel()
            self._lock.notify_all()
        deadline = time.monotonic() + PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _serve(self, lane: str) -> None:
        while True:
            with self._lock:
                while not self._lanes[lane] and not self.closing:
                    self._lock.wait()
                if self.closing:
                    return
                job = self._lanes[lane].popleft()
            job.run()
