"""Searches: the gallery ready to be asked, renewed in the background while others add to it."""

from __future__ import annotations

import gc
import inspect
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Final, Literal, NamedTuple, overload

from lookalike import registry
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput, Conflict, LookalikeError, NotFound, StorageFailed
from lookalike.gallery.gallery import Gallery
from lookalike.indexing.build import index
from lookalike.kernels.compiled import expect_much
from lookalike.kernels.threads import thread_count
from lookalike.search.query import Search, open_search
from lookalike.web.catalogue import Catalogue
from lookalike.web.jobs import Job, Jobs
from lookalike.web.models import MethodView

# For people who do not know the formulas of docs/explanation/method.md; in the order of the menu.
WORDS: Final = {
    "auto": "Chooses by itself: as the next one where that helps this collection, else by likeness alone.",
    "adaptive": "Takes off what strangers who look alike explain, and asks other clips of both people too.",
    "learnt": "Learns from this collection when a third clip that looks like both can be believed.",
    "baseline": "By likeness alone: no other clip is asked.",
    "arithmetic_mean": "Through the third clip that looks most like both, on average.",
    "geometric_mean": "Through the third clip that looks most like both; it must look like each.",
    "quadratic_mean": "Through the third clip that looks most like both; much like one is enough.",
    "as_norm": "Likeness measured against the clips that look most like each of the two.",
    "csls": "Takes off how much each of the two looks like everybody.",
    "query_expansion": "Searches with the first answers too.",
    "k_reciprocal": "Two clips belong together if each is near the other, and their neighbours are the same.",
    "cprr": "Clips that have both among their nearest vote for the pair.",
    "rl_sim": "Two clips belong together if their lists of nearest clips are the same.",
    "diffusion": "Follows likeness from clip to clip, as a walk that often starts anew.",
}


class Method(NamedTuple):
    """A way of searching: a set similarity and a re-ranker, as `lookalike.registry` writes them."""

    similarity: str
    reranker: str


def method_of(similarity: str, reranker: str, proxies: int | None) -> Method:
    """Choose by names alone: options could ask for any amount of work.

    The number of proxies is given to re-rankers that ask proxies; others have no use for it.

    Raises
    ------
    NotFound
        If there is no part of this name.
    """
    known, chosen = similarities(), {one.name: one for one in methods()}
    if similarity not in known:
        raise NotFound(f"there is no similarity called {similarity!r}: choose one of {', '.join(known)}")
    if reranker not in chosen:
        raise NotFound(f"there is no method called {reranker!r}: choose one of {', '.join(chosen)}")
    if proxies is None or not chosen[reranker].proxies:
        return Method(similarity, reranker)
    return Method(similarity, f"{reranker}:proxies={proxies}")


@cache
def similarities() -> tuple[str, ...]:
    """Names of all set similarities."""
    return tuple(registry.names("similarities"))


@cache
def methods() -> tuple[MethodView, ...]:
    """All re-rankers that work here: first those in plain words, then others as their authors tell."""
    found = {}
    for name in registry.names("rerankers"):
        try:
            cls = registry.part_class("rerankers", name)
        except LookalikeError:  # of another package, and broken
            continue
        words = WORDS.get(name) or (inspect.getdoc(cls) or name).partition("\n\n")[0].replace("\n", " ")
        asks = "proxies" in inspect.signature(cls).parameters
        found[name] = MethodView(name=name, words=words, proxies=asks)
    return (
        *(found[name] for name in WORDS if name in found),
        *(found[name] for name in found.keys() - WORDS.keys()),
    )


# Searches: the gallery ready to be asked, renewed in the background while others add to it.


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
        That of the catalogue when the search began to be opened.
    """

    def __init__(self, search: Search, version: str) -> None:
        self.search, self.version = search, version
        self._compared: tuple[str, int, int] = ("", 0, 0)

    def against(self, catalogue: Catalogue) -> tuple[int, int]:
        """How many sets of a catalogue the search does not know, and how many it knows that are gone."""
        version, newer, gone = self._compared
        if version != catalogue.version:
            known = self.search.tables.numbers
            both = sum(map(known.__contains__, catalogue.names))
            newer, gone = len(catalogue.names) - both, len(known) - both
            # Other threads compare with other versions meanwhile: what is told is never read back from here.
            self._compared = catalogue.version, newer, gone
        return newer, gone


class Searches:
    """Opens searches as jobs and keeps the ones used last.

    Parameters
    ----------
    gallery : Gallery
    jobs : Jobs
    look : callable
        Gives the catalogue as it is now; the very newest if called with True.
    engine : Engine or str, optional
        Where sets are compared.
    """

    def __init__(
        self,
        gallery: Gallery,
        jobs: Jobs,
        look: Callable[[bool], Catalogue],
        engine: Engine | str | None = None,
    ) -> None:
        self._gallery, self._jobs, self._look, self._engine = gallery, jobs, look, engine
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
            return f"{len(tables)} sets are indexed by {registry.spec(tables.similarity)}."

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
        expect_much()
        began = time.monotonic()
        try:
            version = self._look(True).version
            about = method.similarity, method.reranker
            search = open_search(self._gallery, *about, track=job.track, engine=self._engine)
            _warm(search)
            with self._lock:
                self._held[method] = Ready(search, version)
                self._held.move_to_end(method)
                while len(self._held) > KEPT:
                    self._held.popitem(last=False)
            _pass_over_what_stays()
        finally:
            ended = time.monotonic()
            with self._lock:
                self._rests[method] = ended + max(REST, RESTS * (ended - began))
        return f"{len(search.tables)} sets can be searched by {registry.spec(search.reranker)}."


def _warm(search: Search) -> None:
    """Ask once, so that nobody who asks waits for what is loaded and worked out with the first question."""
    if len(search.tables) > 1:
        search.find(search.tables.ids[0], top=1, decisions=False)


def _pass_over_what_stays() -> None:
    """From the first search on, pass over what is there when garbage is looked for.

    Searches make many small objects. Each time there were very many, all that libraries keep in memory was
    looked through too, and all requests waited for that: a tenth of a second.
    """
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()
