"""Films: the original film of a set, if it still lies where it was looked at, and who is seen when."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from lookalike.collection.gallery import Gallery
from lookalike.collection.media import MediaFile
from lookalike.collection.queries import SetFacts
from lookalike.errors import NotFound
from lookalike.questions import seen_at
from lookalike.server.models import FilmFace, FilmMoment
from lookalike.server.pictures import FILM, Pictures
from lookalike.sighting import box_at

if TYPE_CHECKING:
    from lookalike.server.browsing import Browsing

# What browsers are told; they play the first few.
TYPES: Final = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/mp4",
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
    ".ogv": "video/ogg",
    ".avi": "video/x-msvideo",
}


class Films:
    """Finds films by their opaque names. Only files that the gallery itself lists are ever opened.

    Parameters
    ----------
    gallery : Gallery
    browsing : Browsing
    pictures : Pictures
        Reads the opaque names.
    """

    def __init__(self, gallery: Gallery, browsing: Browsing, pictures: Pictures) -> None:
        self._gallery, self._browsing, self._pictures = gallery, browsing, pictures

    def find(self, token: str) -> tuple[Path, str]:
        """Where a film lies and what kind it is.

        Raises
        ------
        NotFound
            If it is not there any more, or was changed since faces were looked for in it.
        """
        facts = self._facts(token)
        path = film_of(self._gallery, facts.id)
        if path is not None:
            return path, TYPES.get(path.suffix.lower(), "application/octet-stream")
        raise NotFound(
            f"the film {facts.origin!r} is not where it was when it was added, or was changed since: put it "
            f"back, or add it again from where it is now"
        )

    def moment(self, token: str, at: float) -> FilmMoment:
        """Who is seen at a time of a film, from left to right.

        Raises
        ------
        NotFound
            If there is no such film.
        """
        facts = self._facts(token)
        catalogue, known = self._browsing.catalogue(), self._browsing.known()
        contents = [one.content for one in self._gallery.files_of(facts.id) if one.kind == "video"]
        ids = {set_id for content in contents for set_id in self._gallery.sets_of(content)}
        near = seen_at([catalogue.facts[one] for one in ids if one in catalogue.facts], at)
        placed = sorted((box_at(self._browsing.sightings(catalogue, one.id), at), one.id) for one in near)
        faces = []
        for number, (box, set_id) in enumerate(placed, start=1):
            shown = self._browsing.show(catalogue, known, set_id, 0)
            faces.append(
                FilmFace(number=number, key=shown.key, title=shown.title, person=shown.person, box=box)
            )
        return FilmMoment(at=at, faces=faces)

    def _facts(self, token: str) -> SetFacts:
        kind, key, _, _ = self._pictures.read(token)
        if kind != FILM:
            raise NotFound("there is no such film: load the page again")
        catalogue = self._browsing.catalogue()
        return catalogue.facts[catalogue.id(key)]


def film_of(gallery: Gallery, set_id: str) -> Path | None:
    """Where the film of a set lies; None if it has none, or it is not there any more."""
    try:
        files = gallery.files_of(set_id)
    except NotFound:  # the set was removed a moment ago
        return None
    for file in files:
        if file.kind == "video" and _is_the_same(Path(file.path), file):
            return Path(file.path)
    return None


def _is_the_same(path: Path, file: MediaFile) -> bool:
    """Whether a plain file of the same size and time lies there still."""
    try:
        said = path.stat()
        return path.is_file() and (said.st_size, said.st_mtime_ns) == (file.size, file.changed)
    except (OSError, ValueError):
        return False
