"""Intake: the folder that `lookalike open` was given is taken in while its page is looked at."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from lookalike.errors import BadInput, Conflict, LookalikeError, NotFound, is_folder, readable, unreadable
from lookalike.gallery.connection import is_gallery, is_split
from lookalike.gallery.gallery import Gallery
from lookalike.ingest.files import holds_media
from lookalike.ingest.footage import Added, add_footage
from lookalike.ingest.plan import Plan, counted, lasting
from lookalike.ingest.seen import Settings
from lookalike.ingest.sources import is_footage
from lookalike.ingest.workers import Workers
from lookalike.kernels.threads import thread_count
from lookalike.web.jobs import Job, Jobs
from lookalike.web.models import FileTold, IntakeView, SearchAsk
from lookalike.web.search import Searches, method_of
from lookalike.web.wording import sentence

try:
    import fcntl
except ImportError:  # Windows: two runs would do the work twice, and add everything once
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
# The search is made ready anew when the collection has this many times the sets that it knows: however
# many there will be, that takes no more than five times as long as making it ready once at the end.
GROWTH: Final = 1.25
# Files that the page lists; all are told in the terminal.
LISTED: Final = 500


class Intake:
    """Takes one folder into the gallery of a page, as `lookalike add` does, while the page goes on.

    Every file is kept as soon as it is done, so whoever ends the program, even by force, loses only what
    was being looked at; to take the same folder in again goes on from there. Searches are made ready as
    the collection grows. For the terminal there is a sentence for each file that cannot be read, and one
    at the end.
    """

    def __init__(
        self, folder: Path, gallery: Gallery, jobs: Jobs, searches: Searches, tell: Callable[[str], None]
    ) -> None:
        self.folder = folder
        self._gallery, self._jobs, self._searches, self._tell = gallery, jobs, searches, tell
        usual = SearchAsk()
        self._usual = method_of(usual.similarity, usual.reranker, None)
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begin, before anything else is asked."""
        self._done = Added()
        self._before = len(self._gallery)
        self._job = self._jobs.start("intake", "looking for videos and photos", self._work, lane="intake")

    def pause(self) -> None:
        """Let it rest, which is forgotten when the program ends; what was found can be searched."""
        self._job.pause()
        if self._done.added:
            self._searches.start("train", self._usual)

    def resume(self) -> None:
        """Go on; or look for what is new, if it has ended."""
        with self._lock:
            if self._job.is_over:
                self.begin()
        self._job.resume()

    @property
    def is_complete(self) -> bool:
        """Whether all of the folder was taken in, at its last look."""
        return self._job.state == "done"

    def view(self) -> IntakeView:
        """How far it is."""
        done, job = self._done, self._job.view()
        at = job.at or job.text
        button = "Pause"
        if self._job.is_over:
            words = job.error or job.result or "Stopped before the end."
            button = "Look for new files" if job.state == "done" else "Go on"
        elif job.paused:
            words, button = f"Paused: {at}", "Go on"
        else:
            words = f"{at} …" if job.left is None else f"{at}; about {lasting(job.left)} left"
        return IntakeView(
            folder=readable(self.folder),
            gallery=str(self._gallery.path),
            job=job,
            words=sentence(words, self._gallery.path),
            button=button,
            sets=len(done.added),
            files=done.files,
            known=done.known,
            unread_files=len(done.failed),
            unread=[FileTold(file=file, words=words) for file, words in done.failed[:LISTED]],
            remarks=[FileTold(file=file, words=words) for file, words in done.remarks[:LISTED]],
        )

    def _work(self, job: Job) -> str:
        def watched(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
            for item in job.track(items, text, total):
                yield item
                self._notice()

        def tell(plan: Plan) -> bool:
            job.expected = plan.seconds
            return True

        workers, done = Workers(Settings(), thread_count(), going=job.going), self._done
        try:
            with job.on_stop(workers.close):
                add_footage(
                    self._gallery.path,
                    [self.folder],
                    track=watched,
                    tell=tell,
                    workers=workers,
                    done=done,
                    soon=True,
                )
                self._notice()
        except LookalikeError as reason:
            self._tell(f"lookalike: {reason}")
            raise
        finally:
            # What was found can be searched, however this ended.
            if done.added:
                self._searches.start("train", self._usual)
        for _, words in [*done.remarks, *done.failed]:
            self._tell(f"lookalike: {words}")
        said = f"{done}" if done.files else f"nothing new, {counted(done.known, 'file')} known already"
        self._tell(f"all of {readable(self.folder)!r} is taken in: {said}")
        return f"All of this folder is taken in: {said}."

    def _notice(self) -> None:
        """Make ready to be searched what has come, now and then; give up if the folder is gone."""
        if not self.folder.is_dir():
            raise NotFound(
                f"the folder {readable(self.folder)!r} is not there any more: what was found in it is kept; "
                "go on when it is back"
            )
        held = self._searches.held(self._usual)
        if self._before + len(self._done.added) > GROWTH * (0 if held is None else len(held.search.tables)):
            self._searches.begin(self._usual)


# What can be taken in, and into what.


def check_folder(folder: Path) -> None:
    """Refuse what is not a folder of films and photos, and say what to do with it instead.

    Raises NotFound or BadInput if it is not there, may not be read, is a file or a gallery, or holds
    neither films nor photos.
    """
    shown = readable(folder)
    served = "add it to a gallery by `lookalike add` and look at that by `lookalike serve`"
    if not is_folder(folder):
        if is_gallery(folder):
            raise BadInput(f"{shown!r} is a gallery, not a folder: `lookalike serve` shows it")
        raise BadInput(f"{shown!r} is a file, not a folder: give the folder that it lies in, or {served}")
    try:
        if not holds_media(folder):
            is_one = is_split(folder)
            raise BadInput(
                f"{shown!r} holds no photo and no video: "
                + ("it is a gallery, which `lookalike serve` shows" if is_one else "give a folder that does")
            )
        if not is_footage(folder, cropped=False):
            raise BadInput(f"{shown!r} holds ready-made faces, not videos and photos: {served}")
    except OSError as reason:
        raise unreadable(folder, reason) from None


def check_gallery(gallery: Gallery, folder: Path) -> None:
    """Refuse (Conflict) a gallery of something else: nothing of a folder shall be mixed with it unasked.

    It is of this folder if it has files of it, or none, or if all of its files are gone: a folder that
    moved.
    """
    paths = [Path(file.path) for file in gallery.files()]
    elsewhere = next((path for path in paths if os.path.lexists(path)), None)
    if any(path.is_relative_to(folder) for path in paths) or (
        elsewhere is None and (paths or not len(gallery))
    ):
        return
    what = "ready-made faces" if elsewhere is None else f"files of other folders, as {str(elsewhere)!r}"
    raise Conflict(
        f"{gallery.path} holds {what}: choose another --gallery, or mix them by `lookalike add` and look at "
        "that by `lookalike serve`"
    )


@contextmanager
def alone_at(folder: Path) -> Iterator[None]:
    """Be the only one who takes a folder in, or raise Conflict; the lock goes with the process.

    Nothing is written.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as reason:  # Windows does not open folders
        if fcntl is not None:
            raise unreadable(folder, reason) from None
        yield
        return
    try:
        if fcntl is not None:
            # Some network disks know no locks: two runs there do the work twice, and add everything once.
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Conflict(
                    f"another `lookalike open` has {readable(folder)!r}: use its page, or end it first"
                ) from None
            except OSError as reason:
                logger.info("%r cannot be locked (%s)", readable(folder), reason.strerror)
        yield
    finally:
        os.close(handle)
