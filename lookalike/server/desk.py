"""Desk: everything that the page and its JSON can ask, of one gallery."""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress
from pathlib import Path

from lookalike.collection.opening import open_gallery
from lookalike.engines.contract import Engine
from lookalike.errors import LookalikeError, NotFound
from lookalike.server.answering import Answering
from lookalike.server.browsing import Browsing
from lookalike.server.deciding import Deciding
from lookalike.server.evidence import Evidence
from lookalike.server.films import Films
from lookalike.server.jobs import Jobs
from lookalike.server.methods import method_of
from lookalike.server.models import SearchAsk
from lookalike.server.pictures import FILM, PHOTO, UPLOAD, Pictures
from lookalike.server.searches import Searches
from lookalike.server.uploads import Uploads
from lookalike.strips import media_type


class Desk:
    """One gallery, opened for as long as the server runs, and who answers for it, each from any thread.

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

    def picture(self, token: str) -> tuple[bytes, str]:
        """The picture of an opaque name, and what kind it is."""
        kind, key, person, face = self.pictures.read(token)
        if kind == FILM:
            raise NotFound("there is no such picture: load the page again")
        if kind == UPLOAD:
            found = self.uploads.picture(key, person, face)
        elif kind == PHOTO:
            found = self.uploads.photo(key, face)
        else:
            catalogue = self.browsing.catalogue()
            set_id = catalogue.id(key)
            found = self.pictures.of_set(set_id, catalogue.contents[set_id], face)
        return found, media_type(found) or "application/octet-stream"
