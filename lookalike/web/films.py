"""Pictures and films by opaque addresses, so that no request ever names a file."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import struct
import threading
from binascii import b2a_base64
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from lookalike.errors import NotFound
from lookalike.faceset import Sighting, box_at
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from lookalike.gallery.people import Judged
from lookalike.gallery.set_rows import SetFacts
from lookalike.ingest.pictures import encode_picture
from lookalike.ingest.reading import read_still_apart
from lookalike.search.question import seen_at
from lookalike.web.catalogue import Catalogue
from lookalike.web.models import FilmFace, FilmMoment, FilmTrack, PhotoFace, PhotoView, SetView

if TYPE_CHECKING:
    from lookalike.web.sets import Browsing


Value = TypeVar("Value")

SET, UPLOAD, FILM, PHOTO, ORIGINAL = b"s", b"u", b"f", b"p", b"o"
# Kind, key of the set or upload, person of the upload, face; then a mark that only this run can make.
PLACE = struct.Struct(">c8sII")
MARK = 15
# Letters of base 64 that mean nothing in an address.
SAFE: Final = bytes.maketrans(b"+/", b"-_")
# Bytes of pictures that are remembered: a page shows a hundred strips, each of ten requests. Some sets have
# ten faces and some thousands, so they are not counted by sets.
REMEMBERED = 128 * 2**20


class Latest(Generic[Value]):
    """Remembers the values that were used last, as long as they are not too large together; for any thread.

    All values are of size 1 unless told. The newest is remembered however large it is.
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

    The secret marks addresses as ours; another run of the server knows none of them.
    """

    def __init__(self, gallery: Gallery, secret: bytes) -> None:
        self._gallery = gallery
        # Copied for every address: a page has hundreds of them.
        self._keyed = hashlib.blake2b(key=secret, digest_size=MARK)
        self._shown: Latest[Sequence[bytes]] = Latest(REMEMBERED, lambda shown: sum(map(len, shown)))

    def token(self, kind: bytes, key: str, person: int = 0, face: int = 0) -> str:
        """The opaque name of a face or film."""
        return self.tokens(kind, key, [face], person)[0]

    def tokens(self, kind: bytes, key: str, faces: Iterable[int], person: int = 0) -> list[str]:
        """The opaque names of several faces: a search shows a thousand, so every step counts."""
        owner = bytes.fromhex(key)
        places = [PLACE.pack(kind, owner, person, face) for face in faces]
        encoded = [b2a_base64(place + self._mark(place), newline=False) for place in places]
        return [one.translate(SAFE).decode().rstrip("=") for one in encoded]

    def read(self, token: str) -> tuple[bytes, str, int, int]:
        """Kind, key, person and face of an opaque name; NotFound if this run did not make it."""
        try:
            whole = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except ValueError:
            whole = b""
        place, mark = whole[: PLACE.size], whole[PLACE.size :]
        if len(place) != PLACE.size or not hmac.compare_digest(mark, self._mark(place)):
            raise NotFound("there is no such picture or video: load the page again")
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
    """Finds films by their opaque names. Only files that the gallery itself lists are ever opened."""

    def __init__(self, gallery: Gallery, browsing: Browsing, pictures: Pictures) -> None:
        self._gallery, self._browsing, self._pictures = gallery, browsing, pictures

    def find(self, token: str) -> tuple[Path, str]:
        """Where a film lies and what kind it is.

        Raises NotFound if it is not there any more, or was changed since faces were looked for in it.
        """
        facts = self._facts(token)
        path = film_among(self._gallery.files_of_sets([facts.id]).get(facts.id, ()))
        if path is not None:
            return path, TYPES.get(path.suffix.lower(), "application/octet-stream")
        raise NotFound(
            f"the video {facts.origin!r} is not where it was when it was added, or was changed since: put it "
            f"back, or add it again from where it is now"
        )

    def moment(self, token: str, at: float, ahead: float = 0.0, asked: str = "") -> FilmMoment:
        """Who is seen at a time of a film, from left to right, and who until some seconds later.

        The film is named as a set has it, and who is in this set is asked for, or in another one
        (`asked`, a key). Raises NotFound if there is no such film.
        """
        facts = self._facts(token)
        catalogue, known = self._browsing.catalogue(), self._browsing.known()
        contents = [one.content for one in self._gallery.files_of(facts.id) if one.kind == "video"]
        ids = {set_id for content in contents for set_id in self._gallery.sets_of(content)}
        near = seen_at([catalogue.facts[one] for one in ids if one in catalogue.facts], at)
        placed = sorted((box_at(self._browsing.sightings(catalogue, one.id), at), one.id) for one in near)
        # A film of two hours has thousands of sets, which are not all read for some seconds of it.
        near_by = [
            one.id
            for one in map(catalogue.facts.get, sorted(ids))
            if one is not None and one.start is not None and one.end is not None
            if one.start <= at + ahead and one.end >= at
        ]
        stretch = {
            one: looks_between(self._browsing.sightings(catalogue, one), at, at + ahead) for one in near_by
        }
        meant = _meant(catalogue, known, facts.id, asked)
        every = dict.fromkeys([*(set_id for _, set_id in placed), *near_by])
        shown = {one: _who(view) for one, view in self._browsing.show_all(catalogue, known, every, 0).items()}
        faces = [
            FilmFace(number=number, box=box, **shown[one])
            for number, (box, one) in enumerate(placed, start=1)
        ]
        tracks = [
            FilmTrack(
                asked=one in meant, looks=[(look.time or 0.0, *look.box) for look in looks], **shown[one]
            )
            for one, looks in stretch.items()
            if looks
        ]
        return FilmMoment(at=at, faces=faces, until=at + ahead, tracks=tracks)

    def _facts(self, token: str) -> SetFacts:
        kind, key, _, _ = self._pictures.read(token)
        if kind != FILM:
            raise NotFound("there is no such video: load the page again")
        catalogue = self._browsing.catalogue()
        return catalogue.facts[catalogue.id(key)]


def _meant(catalogue: Catalogue, known: Judged, set_id: str, asked: str) -> set[str]:
    """A set, another one by its key if there is such, and all that is confirmed of either."""
    names = {set_id, *([catalogue.ids[asked]] if asked in catalogue.ids else ())}
    return names | {other for one in names for other in known.confirmed(one)}


def _who(view: SetView) -> dict[str, Any]:
    return {"key": view.key, "title": view.title, "person": view.person}


def looks_between(sightings: Sequence[Sighting], since: float, until: float) -> list[Sighting]:
    """The sightings of a track from one time to another, with the last before and the first after these.

    Nothing if the track is over before, or begins after.
    """
    ordered = sorted((one for one in sightings if one.time is not None), key=lambda one: one.time or 0.0)
    times = [one.time or 0.0 for one in ordered]
    if not times or times[0] > until or times[-1] < since:
        return []
    return ordered[max(0, bisect_right(times, since) - 1) : bisect_left(times, until) + 1]


# Photos: the original photo of a face, decoded in a child process, with everybody in it.

# Longer side of a photo that is shown, in pixels, and how many bytes of such are remembered.
LONGEST: Final = 1600
REMEMBERED_PHOTOS: Final = 64 * 2**20
# A photo of a telephone takes 150 MB of memory while it is decoded: so many at a time.
AT_ONCE: Final = 2


class Photos:
    """Shows the original photos of sets. Only files that the gallery itself lists are opened, to be read."""

    def __init__(self, gallery: Gallery, browsing: Browsing, pictures: Pictures) -> None:
        self._gallery, self._browsing, self._pictures = gallery, browsing, pictures
        self._read: Latest[tuple[bytes, int, int]] = Latest(REMEMBERED_PHOTOS, lambda read: len(read[0]))
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    def view(self, key: str, face: int, asked: str = "") -> PhotoView:
        """The photo of a face of a set, where the person of another set may be asked for (`asked`, a key).

        Raises NotFound or BadInput if there is no such face, or its photo is not there any more, was
        changed, or cannot be read.
        """
        catalogue, known = self._browsing.catalogue(), self._browsing.known()
        set_id = catalogue.id(key)
        mine = self._files(set_id)
        file = self._file(mine, face)
        _, width, height = self._decoded(file)
        meant = _meant(catalogue, known, set_id, asked)
        placed = sorted(
            (sighting.box, one)
            for one in self._gallery.sets_of(file.content)
            if one in catalogue.facts
            for sighting, of in zip(self._gallery.get(one).sightings, self._files(one), strict=False)
            if of is not None and of.content == file.content
        )
        views = self._browsing.show_all(catalogue, known, [set_id, *(one for _, one in placed)], 0)
        return PhotoView(
            set=views[set_id],
            face=face,
            photos=[number for number, one in enumerate(mine) if one is not None],
            file=file.path,
            captured=file.captured or None,
            picture=f"/pictures/{self._pictures.token(ORIGINAL, key, 0, face)}",
            width=width,
            height=height,
            faces=[
                PhotoFace(number=number, box=box, asked=one in meant, **_who(views[one]))
                for number, (box, one) in enumerate(placed, start=1)
            ],
        )

    def picture(self, key: str, face: int) -> bytes:
        """The photo of a face of a set, the right way up, as a JPEG of at most `LONGEST` pixels a side."""
        return self._decoded(self._file(self._files(self._browsing.catalogue().id(key)), face))[0]

    def _files(self, set_id: str) -> list[MediaFile | None]:
        photos = [one for one in self._gallery.files_of(set_id) if one.kind == "photo"]
        return photos_of_faces(self._gallery.get(set_id).sources, photos)

    def _file(self, files: Sequence[MediaFile | None], face: int) -> MediaFile:
        found = files[face] if face < len(files) else None
        if found is None:
            raise NotFound("this face is of no photo that the collection knows: add its folder again")
        return found

    def _decoded(self, file: MediaFile) -> tuple[bytes, int, int]:
        """A photo, small, and the width and height of the original."""
        if not _is_the_same(file):
            raise NotFound(
                f"the photo {file.path!r} is not where it was when it was added, or was changed since: put "
                f"it back, or add it again from where it is now"
            )
        read = self._read.get(file.content)
        if read is None:
            with self._turns:
                picture = read_still_apart(Path(file.path))
            height, width = picture.shape[:2]
            read = encode_picture(picture, LONGEST), width, height
            self._read.put(file.content, read)
        return read


def photos_of_faces(sources: Sequence[str], photos: Sequence[MediaFile]) -> list[MediaFile | None]:
    """The photo that each face of a set is from, by where each came from; each photo shows one of them.

    A face is named after its photo as it lay below the folder that was added; photos may have moved
    since. So it is the photo whose path ends most like the name, or the one that nothing else is from;
    None where several would do.
    """
    named = [[_same_end(source, photo.path) for photo in photos] for source in sources]
    found: list[MediaFile | None] = []
    for ends in named:
        best = max(ends, default=0)
        found.append(photos[ends.index(best)] if best and ends.count(best) == 1 else None)
    # One photo of two faces would be one of two people.
    found = [None if found.count(one) > 1 else one for one in found]
    rest = [one for one in photos if one not in found]
    if len(rest) == 1 and found.count(None) == 1:
        found[found.index(None)] = rest[0]
    return found


def _same_end(source: str, path: str) -> int:
    """How many of the last parts of two paths are the same."""
    pairs = zip(*(reversed(re.split(r"[/\\]", one)) for one in (source, path)), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def film_among(files: Iterable[MediaFile]) -> Path | None:
    """Where the film among the files of a set lies; None if there is none, or it is not there any more."""
    for file in files:
        if file.kind == "video" and _is_the_same(file):
            return Path(file.path)
    return None


def _is_the_same(file: MediaFile) -> bool:
    """Whether a plain file of the same size and time lies there still; a search asks it of many."""
    try:
        said = os.stat(file.path)
    except (OSError, ValueError):
        return False
    return S_ISREG(said.st_mode) and (said.st_size, said.st_mtime_ns) == (file.size, file.changed)
