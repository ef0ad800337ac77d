"""Pictures: faces by opaque addresses, so that no request ever names a file, and none can be made up."""

from __future__ import annotations

import base64
import hashlib
import hmac
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from lookalike.collection.gallery import Gallery
from lookalike.errors import NotFound

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
