"""Pictures and films by opaque addresses, so that no request ever names a file."""

from __future__ import annotations

import base64
import hashlib
import hmac
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from lookalike.errors import NotFound
from lookalike.faceset import box_at
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from lookalike.gallery.set_rows import SetFacts
from lookalike.search.question import seen_at
from lookalike.web.models import FilmFace, FilmMoment

if TYPE_CHECKING:
    from lookalike.web.sets import Browsing


Value = TypeVar("Value")

SET, UPLOAD, FILM, PHOTO = b"s", b"u", b"f", b"p"
# Kind, key of the set or upload, person of the upload, face; then a mark that only this run can make.
PLACE = struct.Struct(">c8sII")
MARK = 15
# Bytes of pictures that are remembered: a page shows a hundred strips, each of ten requests. Some sets have
# ten faces and some thousands, so they are not counted by sets.
REMEMBERED = 128 * 2**20


class Latest(Generic[Value]):
    """Remembers the values that were used last, as long as they are not too large together; for any thread.

    Parameters
    ----------
    most : int
        How large, at most; the newest value is remembered however large it is.
    size : callable
        How large a value is; all count the same unless given.
    """

    def __init__(self, most: int, size: Callable[[Value], int] = lambda value: 1) -> None:
        self._most, self._size = most, size
        self._held: OrderedDict[object, tuple[Value, int]] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def get(self, name: object) -> Value | None:
        """The value of a name, if it is remembered."""
        with self._lock:
            if name not in self._held:
                return None
            self._held.move_to_end(name)
            return self._held[name][0]

    def put(self, name: object, value: Value) -> None:
        """Remember a value, and forget those that were not used for longest."""
        size = self._size(value)
        with self._lock:
            self._total += size - self._held.pop(name, (value, 0))[1]
            self._held[name] = value, size
            while self._total > self._most and len(self._held) > 1:
                self._total -= self._held.popitem(last=False)[1][1]


class Pictures:
    """Makes and reads the addresses of pictures and films, and holds the pictures that are in use.

    Parameters
    ----------
    gallery : Gallery
    secret : bytes
        Marks addresses as ours; another run of the server knows none of them.
    """

    def __init__(self, gallery: Gallery, secret: bytes) -> None:
        self._gallery = gallery
        # Copied for every address: a page has hundreds of them.
        self._keyed = hashlib.blake2b(key=secret, digest_size=MARK)
        self._shown: Latest[Sequence[bytes]] = Latest(REMEMBERED, lambda shown: sum(map(len, shown)))

    def token(self, kind: bytes, key: str, person: int = 0, face: int = 0) -> str:
        """The opaque name of a face or film."""
        place = PLACE.pack(kind, bytes.fromhex(key), person, face)
        return base64.b64encode(place + self._mark(place), b"-_").decode().rstrip("=")

    def read(self, token: str) -> tuple[bytes, str, int, int]:
        """Kind, key, person and face of an opaque name.

        Raises
        ------
        NotFound
            If this run did not make it.
        """
        try:
            whole = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except ValueError:
            whole = b""
        place, mark = whole[: PLACE.size], whole[PLACE.size :]
        if len(place) != PLACE.size or not hmac.compare_digest(mark, self._mark(place)):
            raise NotFound("there is no such picture or film: load the page again")
        kind, key, person, face = PLACE.unpack(place)
        return kind, key.hex(), person, face

    def of_set(self, set_id: str, content: str, face: int) -> bytes:
        """The picture of a face of the gallery."""
        shown = self._shown.get((set_id, content))
        if shown is None:
            shown = self._gallery.get(set_id, pictures=True).pictures
            self._shown.put((set_id, content), shown)
        if face >= len(shown):
            raise NotFound("this face has no picture: its set was added without pictures")
        return shown[face]

    def _mark(self, place: bytes) -> bytes:
        marked = self._keyed.copy()
        marked.update(place)
        return marked.digest()


# Films: the original film of a set, if it still lies where it was looked at, and who is seen when.


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
        path = film_among(self._gallery.files_of_sets([facts.id]).get(facts.id, ()))
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
        views = self._browsing.show_all(catalogue, known, [set_id for _, set_id in placed], 0)
        faces = [
            FilmFace(
                number=number,
                key=views[set_id].key,
                title=views[set_id].title,
                person=views[set_id].person,
                box=box,
            )
            for number, (box, set_id) in enumerate(placed, start=1)
        ]
        return FilmMoment(at=at, faces=faces)

    def _facts(self, token: str) -> SetFacts:
        kind, key, _, _ = self._pictures.read(token)
        if kind != FILM:
            raise NotFound("there is no such film: load the page again")
        catalogue = self._browsing.catalogue()
        return catalogue.facts[catalogue.id(key)]


def film_among(files: Iterable[MediaFile]) -> Path | None:
    """Where the film among the files of a set lies; None if there is none, or it is not there any more."""
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
