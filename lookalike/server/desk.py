"""Desk: everything that the page and its JSON can ask for, as plain functions that return views."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lookalike.collection.opening import open_gallery
from lookalike.engines.contract import Engine
from lookalike.errors import LookalikeError, NotFound
from lookalike.server.answering import Answering
from lookalike.server.batches import BatchPage
from lookalike.server.browsing import Browsing
from lookalike.server.deciding import Deciding
from lookalike.server.evidence import Evidence
from lookalike.server.films import Films
from lookalike.server.jobs import Jobs
from lookalike.server.methods import method_of
from lookalike.server.models import (
    DecisionView,
    EvidenceView,
    FilmMoment,
    GalleryView,
    History,
    JobView,
    Judged,
    NameAsk,
    PeopleMade,
    PeopleView,
    PersonMade,
    PersonPage,
    SearchAsk,
    SearchView,
    SetPage,
    SetsAsk,
    SetView,
    UploadView,
)
from lookalike.server.pictures import FILM, UPLOAD, Pictures
from lookalike.server.searches import Searches
from lookalike.server.uploads import Uploads
from lookalike.strips import media_type


class Desk:
    """One gallery, opened for as long as the server runs. Every method may be called from any thread.

    What is wrong with a request is said by a `LookalikeError`, whose text is one sentence for people.

    Parameters
    ----------
    path : Path
        The gallery file.
    engine : Engine or str
        Where sets are compared.
    """

    def __init__(self, path: Path, engine: Engine | str = "local") -> None:
        self.gallery = open_gallery(path)
        self.jobs = Jobs(path)
        self.pictures = Pictures(self.gallery, secrets.token_bytes(32))
        self.uploads = Uploads(self.gallery, self.jobs, self.pictures)
        self.browsing = Browsing(self.gallery, self.pictures)
        self.searches = Searches(self.gallery, self.jobs, engine)
        self.films = Films(self.gallery, self.browsing, self.pictures)
        self.deciding = Deciding(self.gallery, self.browsing)
        self.answering = Answering(self.gallery, self.browsing, self.searches, self.uploads)
        self.explaining = Evidence(self.browsing, self.searches, self.answering)

    def begin(self) -> None:
        """Get ready for the usual question while the user still looks around."""
        # The list of a large gallery takes seconds to read; what is wrong with it is told to who asks.
        threading.Thread(target=self._look, name="first look", daemon=True).start()
        usual = SearchAsk()
        if len(self.gallery):
            self.searches.begin(method_of(usual.similarity, usual.reranker, None))

    def close(self) -> None:
        """End all work and give the gallery back."""
        self.jobs.close()
        self.uploads.close()
        self.gallery.close()

    def _look(self) -> None:
        with suppress(LookalikeError):
            self.browsing.catalogue()

    # Looking.

    def gallery_view(self) -> GalleryView:
        """The whole collection in numbers, and what can be chosen."""
        return self.answering.gallery_view()

    def set_page(self, ask: SetsAsk) -> SetPage:
        """Some of the sets that a filter lets through."""
        return self.browsing.page(ask)

    def set_view(self, key: str, whole: bool = False) -> SetView:
        """One set; the strip has up to ten faces, or all of them if asked for the whole."""
        return self.browsing.view(key, whole)

    def picture(self, token: str) -> tuple[bytes, str]:
        """The picture of an opaque name, and what kind it is."""
        kind, key, person, face = self.pictures.read(token)
        if kind == FILM:
            raise NotFound("there is no such picture: load the page again")
        if kind == UPLOAD:
            found = self.uploads.picture(key, person, face)
        else:
            catalogue = self.browsing.catalogue()
            set_id = catalogue.id(key)
            found = self.pictures.of_set(set_id, catalogue.contents[set_id], face)
        return found, media_type(found) or "application/octet-stream"

    def film(self, token: str) -> tuple[Path, str]:
        """Where the film of an opaque name lies, and what kind it is."""
        return self.films.find(token)

    def film_moment(self, token: str, at: float) -> FilmMoment:
        """Who is seen at a time of the film of an opaque name."""
        return self.films.moment(token, at)

    def search(self, ask: SearchAsk) -> SearchView:
        """Answers to a question, with everything decided about its person taken into account."""
        return self.answering.search(ask)

    def is_ready(self, ask: SearchAsk) -> bool:
        """Whether a question is answered at once, by the method that it asks for."""
        return self.answering.is_ready(ask)

    def evidence(self, ask: SearchAsk, target: str) -> EvidenceView:
        """Why the set of a key is an answer to a question."""
        return self.explaining.view(ask, target)

    # Deciding.

    def judge(self, query: str, targets: Sequence[str], verdict: str) -> Judged:
        """Say whether some sets show the person of another; keys."""
        return self.deciding.judge(query, targets, verdict)

    def undo(self, numbers: Sequence[int] = ()) -> list[DecisionView]:
        """Take decisions back, all of them or none; the last one unless numbers are given."""
        return self.deciding.undo(numbers)

    def history(self, offset: int = 0, limit: int = 50) -> History:
        """What was decided, the newest first."""
        return self.deciding.history(offset, limit)

    def batches(self, offset: int = 0, limit: int = 50) -> BatchPage:
        """The same, with what was said of many sets in one request together."""
        return self.deciding.batches(offset, limit)

    def people(self) -> PeopleView:
        """All named people, by name."""
        return self.deciding.people()

    def person(self, number: int) -> PersonPage:
        """One person with all sets and moments."""
        return self.deciding.person(number)

    def name(self, ask: NameAsk) -> PersonMade:
        """Give sets a name."""
        return self.deciding.name(ask)

    def rename(self, number: int, name: str) -> PersonMade:
        """Call a person something else."""
        return self.deciding.rename(number, name)

    def merge(self, number: int, into: int) -> PersonMade:
        """Say that a person is the same as another; the other one is returned."""
        return self.deciding.merge(number, into)

    def split(self, number: int, sets: Sequence[str], name: str = "") -> PeopleMade:
        """Take sets (keys) away from a person, as a new one if a name is given."""
        return self.deciding.split(number, sets, name)

    # Uploads and jobs.

    def upload(self, key: str) -> UploadView:
        """Who is in what was dropped onto the page."""
        return self.uploads.view(key)

    def job(self, number: int) -> JobView:
        """How far some work is."""
        return self.jobs.view(number)

    def job_list(self) -> list[JobView]:
        """All work of this run, the newest first."""
        return self.jobs.views()
