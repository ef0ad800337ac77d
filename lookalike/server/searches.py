"""Searches: the gallery ready to be asked, renewed in the background while others add to it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal, overload

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput, Conflict, NotFound, StorageFailed
from lookalike.indexing import index
from lookalike.kernels.threads import thread_count
from lookalike.retrieval import Search, open_search
from lookalike.server.catalogue import Catalogue
from lookalike.server.jobs import Job, Jobs
from lookalike.server.methods import Method

# Ways of searching that are kept ready; each holds tables in memory.
KEPT = 4
# So often getting ready is begun anew because a set left the gallery meanwhile.
TRIES = 5
# After getting ready, rest so many seconds and so many times as long as it took: adding goes on for hours.
REST, RESTS = 1.0, 2.0


class Ready:
    """A search, and the version of the gallery that it knows.

    Parameters
    ----------
    search : Search
    version : str
        Fingerprint of the gallery when the search began to be opened.
    """

    def __init__(self, search: Search, version: str) -> None:
        self.search, self.version = search, version
        self._compared: tuple[str, int, int] = ("", 0, 0)

    def against(self, catalogue: Catalogue) -> tuple[int, int]:
        """How many sets of a catalogue the search does not know, and how many it knows that are gone."""
        version, newer, gone = self._compared
        if version != catalogue.version:
            known = self.search.tables.numbers
            both = sum(set_id in known for set_id in catalogue.facts)
            newer, gone = len(catalogue.facts) - both, len(known) - both
            # Other threads compare with other versions meanwhile: what is told is never read back from here.
            self._compared = catalogue.version, newer, gone
        return newer, gone


class Searches:
    """Opens searches as jobs and keeps the ones used last.

    Parameters
    ----------
    gallery : Gallery
    jobs : Jobs
    engine : Engine or str
        Where sets are compared.
    """

    def __init__(self, gallery: Gallery, jobs: Jobs, engine: Engine | str = "local") -> None:
        self._gallery, self._jobs, self._engine = gallery, jobs, engine
        self._lock = threading.Lock()
        self._held: OrderedDict[Method, Ready] = OrderedDict()
        self._opening: dict[Method, Job] = {}
        self._rests: dict[Method, float] = {}
        # A query uses all processors: more at a time would only wait for each other in memory.
        self._turns = threading.BoundedSemaphore(thread_count())

    def ready(self, method: Method, look: Callable[[bool], Catalogue]) -> tuple[Ready, Catalogue]:
        """The search to ask: the newest, or one that only lacks what was added since, which is then renewed.

        Waits if there is none yet, or if a set has left the gallery that no answer may name any more.

        Parameters
        ----------
        method : Method
        look : callable
            Gives the catalogue as it is now; the very newest if called with True.

        Returns
        -------
        Ready
        Catalogue
            One that has every set that the search knows.

        Raises
        ------
        LookalikeError
            If the gallery cannot be searched, for instance since it is empty.
        """
        held, catalogue = self.held(method), look(False)
        if held is not None and held.against(catalogue)[1]:
            # The search may know sets that this catalogue is too old for.
            catalogue = look(True)
        if held is not None and not held.against(catalogue)[1]:
            if held.version != catalogue.version:
                self._renew(method, at_once=False)
            return held, catalogue
        for _ in range(TRIES):
            held = self._wait(method)
            catalogue = look(True)
            if not held.against(catalogue)[1]:
                return held, catalogue
        raise BadInput("The collection is changing too fast to be searched: ask again.")

    def is_ready(self, method: Method, catalogue: Catalogue) -> bool:
        """Whether `ready` would not have to wait."""
        held = self.held(method)
        return held is not None and not held.against(catalogue)[1]

    def _wait(self, method: Method) -> Ready:
        """The search once it is ready."""
        job = self._renew(method, at_once=True)
        while not job.wait(0.5):
            if self._jobs.closing:
                raise BadInput("The server is about to end: start it again, then ask again.")
        if job.failure is not None:
            raise type(job.failure)(str(job.failure))
        held = self.held(method)
        if job.state != "done" or held is None:
            raise BadInput("Getting the collection ready was stopped: ask again to go on.")
        return held

    def held(self, method: Method) -> Ready | None:
        """The search that is ready now, whatever it lacks."""
        with self._lock:
            if method in self._held:
                self._held.move_to_end(method)
            return self._held.get(method)

    def begin(self, method: Method) -> None:
        """Make a search ready before anybody asks."""
        self._renew(method, at_once=False)

    @contextmanager
    def turn(self, search: Search) -> Iterator[None]:
        """Wait for a turn to ask a search; one that fails is kept no longer.

        It may have lost its cluster, or what it was opened with may be gone or have changed since.
        """
        with self._turns:
            try:
                yield
            except (StorageFailed, NotFound, Conflict):
                with self._lock:
                    for method in [one for one, held in self._held.items() if held.search is search]:
                        del self._held[method]
                raise

    def start(self, kind: str, method: Method) -> Job:
        """Begin a job that somebody asked for: ``index`` or ``train``."""
        if kind == "train":
            return self._renew(method, at_once=True)

        def work(job: Job) -> str:
            tables = index(self._gallery, method.similarity, job.track, engine=self._engine)
            return f"{len(tables)} sets are indexed by {parts.spec(tables.similarity)}."

        return self._jobs.start("index", "comparing the sets", work)

    @overload
    def _renew(self, method: Method, at_once: Literal[True]) -> Job: ...
    @overload
    def _renew(self, method: Method, at_once: Literal[False]) -> Job | None: ...
    def _renew(self, method: Method, at_once: bool) -> Job | None:
        """Begin to open a search anew, unless somebody does; None while it rests, unless asked at once."""
        with self._lock:
            job = self._opening.get(method)
            if job is not None and not job.is_over:
                return job
            if not at_once and time.monotonic() < self._rests.get(method, 0.0):
                return None
            work = partial(self._open, method)
            job = self._opening[method] = self._jobs.start("train", "getting the collection ready", work)
            return job

    def _open(self, method: Method, job: Job) -> str:
        began = time.monotonic()
        try:
            version = self._gallery.fingerprint()
            about = method.similarity, method.reranker
            search = open_search(self._gallery, *about, track=job.track, engine=self._engine)
            with self._lock:
                self._held[method] = Ready(search, version)
                self._held.move_to_end(method)
                while len(self._held) > KEPT:
                    self._held.popitem(last=False)
        finally:
            ended = time.monotonic()
            with self._lock:
                self._rests[method] = ended + max(REST, RESTS * (ended - began))
        return f"{len(search.tables)} sets can be searched by {parts.spec(search.reranker)}."
