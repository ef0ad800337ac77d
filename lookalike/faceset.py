"""FaceSet: the faces of one video or album, which are all of one person, and where each was seen."""

from __future__ import annotations

import hashlib
import json
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lookalike.errors import BadInput, Conflict, is_whole


def natural_order(name: str) -> tuple[list[str | int], str]:
    """Return a sort key that compares the numbers in a name as numbers: ``#2`` comes before ``#10``."""
    pieces: list[str | int] = [*re.split(r"(\d+)", name)]
    pieces[1::2] = [int(piece) for piece in pieces[1::2]]
    # The name itself decides between 1 and 01.
    return pieces, name


# Sighting: where in a picture or film a face was seen, and how well.


# Left, top, width and height, in pixels.
Box = tuple[float, float, float, float]

# Below these a face is still kept, but marked: what it shows is little to go by.
SMALL = 40.0
UNSURE = 0.75
BLURRED = 0.15
DARK, BRIGHT = 0.12, 0.92
TURNED = 0.6


@dataclass(frozen=True)
class Sighting:
    """One face as it was seen."""

    box: Box  # left, top, width, height in pixels of the picture or frame, the right way up
    score: float  # how sure the detector was, from 0 to 1
    sharpness: float  # from 0, all blur, to 1 (`ingest.align`)
    exposure: float  # mean brightness of the face, from 0 to 1
    turn: float  # from 0, seen from the front, to 1, seen from the side
    time: float | None = None  # seconds from the start of the video; none in a photo

    def __post_init__(self) -> None:
        numbers = (*self.box, self.score, self.sharpness, self.exposure, self.turn, self.time or 0.0)
        if len(self.box) != 4 or not all(math.isfinite(number) for number in numbers):
            raise BadInput(f"a sighting is made of finite numbers and a box of four, got {self}")
        object.__setattr__(self, "box", tuple(float(number) for number in self.box))

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """What makes the face little to go by, in words; empty if nothing does."""
        found = {
            "small": min(self.box[2:]) < SMALL,
            "unsure": self.score < UNSURE,
            "blurred": self.sharpness < BLURRED,
            "dark": self.exposure < DARK,
            "bright": self.exposure > BRIGHT,
            "turned": self.turn > TURNED,
        }
        return tuple(word for word, holds in found.items() if holds)

    def as_text(self) -> str:
        """Write it as one line of JSON, with as many digits as mean something."""
        said: dict[str, Any] = asdict(self)
        said["box"] = [round(number, 1) for number in self.box]
        for name in ("score", "sharpness", "exposure", "turn"):
            said[name] = round(said[name], 3)
        said["time"] = None if self.time is None else round(self.time, 3)
        return json.dumps(said, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Sighting:
        """Read back what `as_text` wrote."""
        try:
            said = json.loads(text)
            return cls(**{**said, "box": tuple(said["box"])})
        except (ValueError, TypeError, KeyError, AttributeError):
            raise BadInput(f"{text[:80]!r} does not describe a sighting") from None


def box_at(sightings: Sequence[Sighting], time: float) -> Box:
    """Where a face of a video is at a time: between the sightings before and after it, in even motion.

    Each sighting has its time; before the first and after the last the face stands still.
    """
    ordered = sorted(sightings, key=lambda one: one.time or 0.0)
    place = bisect_left(ordered, time, key=lambda one: one.time or 0.0)
    before, after = ordered[max(0, place - 1)], ordered[min(place, len(ordered) - 1)]
    length = (after.time or 0.0) - (before.time or 0.0)
    share = min(1.0, max(0.0, (time - (before.time or 0.0)) / length)) if length else 0.0
    left, top, width, height = (a + share * (b - a) for a, b in zip(before.box, after.box, strict=True))
    return left, top, width, height


def timecode(seconds: float) -> str:
    """Write a time as people do: hours, minutes, seconds, and tenths."""
    tenths = round(10 * seconds)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{rest // 10:02d}.{rest % 10}"


def seconds(text: str) -> float:
    """Read a time as people write it: 00:01:10, 1:10.5 or 70."""
    if not re.fullmatch(r"(?:\d+:[0-5]?\d:[0-5]?\d|\d+:[0-5]?\d|\d+)(?:\.\d+)?", text.strip(), re.ASCII):
        raise BadInput(f"a time is written as 00:01:10, 1:10 or 70.5 (seconds), got {text!r}")
    total = 0.0
    for piece in text.strip().split(":"):
        total = 60 * total + float(piece)
    return total


def is_moment(given: object) -> bool:
    """Whether it is a time as files of a gallery are dated by: 2019-07-14T12:30:05, perhaps with +02:00."""
    if not isinstance(given, str):
        return False
    try:
        return datetime.fromisoformat(given).isoformat(timespec="seconds") == given
    except ValueError:
        return False


Faces = NDArray[np.floating[Any]]

LONGEST_ID = 1024


@dataclass(frozen=True, eq=False)
class FaceSet:
    """Faces seen together: one video, one album. It has no person label, by design.

    Parameters
    ----------
    id : str
        What the set is called; unique in a gallery.
    faces : array (n, d)
        One descriptor a row; finite, and neither zero nor constant along a row.
    origin : str
        Where the set came from (a file, a folder), for people to read.
    sources : sequence of str
        Where each face came from (a file, a frame); empty, or one for each face.
    pictures : sequence of bytes
        An encoded picture (PNG, JPEG or WebP) of each face; empty, or one for each face.
    sightings : sequence of Sighting
        Where and how well each face was seen; empty, or one for each face.

    Examples
    --------
    >>> from lookalike import FaceSet
    >>> clip = FaceSet("clip-7", [[0.1, 0.9, 0.3], [0.2, 0.8, 0.4]], origin="holiday.mp4")
    >>> len(clip), clip.dimension
    (2, 3)
    """

    id: str
    faces: Faces
    origin: str = ""
    sources: Sequence[str] = field(default=())
    pictures: Sequence[bytes] = field(default=())
    sightings: Sequence[Sighting] = field(default=())

    def __post_init__(self) -> None:
        check_id(self.id)
        # Of a text of NumPy, which is one too but is written otherwise, the plain text.
        object.__setattr__(self, "id", str(self.id))
        faces = checked_faces(self.faces, f"set {self.id!r}").astype(np.float32)
        faces.setflags(write=False)
        object.__setattr__(self, "faces", faces)
        if not isinstance(self.origin, str):
            raise BadInput(f"the origin of set {self.id!r} must be text, got {type(self.origin).__name__}")
        for name, kind in (("sources", str), ("pictures", bytes), ("sightings", Sighting)):
            given = getattr(self, name)
            kept = tuple(given) if isinstance(given, Iterable) and not isinstance(given, kind) else (None,)
            if not all(isinstance(one, kind) for one in kept):
                raise BadInput(
                    f"{name} of set {self.id!r} must be a list of {kind.__name__}, one for each face"
                )
            object.__setattr__(self, name, kept)
            if kept and len(kept) != len(faces):
                raise BadInput(
                    f"set {self.id!r} has {len(faces)} faces but {len(kept)} {name}: "
                    f"give one for each face, or none"
                )

    def __len__(self) -> int:
        return len(self.faces)

    @property
    def dimension(self) -> int:
        """How many numbers describe a face."""
        return int(self.faces.shape[1])

    def content_hash(self) -> str:
        """SHA-256 of the descriptors and pictures: what makes two sets the same set, wherever they lie."""
        digest = hashlib.sha256()
        digest.update(np.asarray(self.faces.shape, dtype="<i8").tobytes())
        digest.update(self.faces.astype("<f4").tobytes())
        for picture in self.pictures:
            digest.update(b"p%d:" % len(picture) + picture)
        return digest.hexdigest()


def check_id(given: object) -> None:
    """Refuse what cannot be the name of a set: not text, empty, too long, or with control characters."""
    if not isinstance(given, str) or not given.strip():
        raise BadInput(f"a set id must be a non-empty string, got {given!r}: give the set a name")
    if len(given) > LONGEST_ID:
        raise BadInput(
            f"a set id may have {LONGEST_ID} characters, got {len(given)}: shorten {given[:40]!r}..."
        )
    if any(ord(character) < 32 or ord(character) == 127 for character in given):
        raise BadInput(f"a set id may not hold control characters, got {given!r}: rename the set")
    if not given.isprintable() and any(0xD800 <= ord(character) <= 0xDFFF for character in given):
        raise BadInput(f"a set id must be valid Unicode, got {given!r}: rename the set")


def checked_faces(given: ArrayLike, owner: str) -> Faces:
    """Return faces as an (n, d) array of floats, or say in a sentence about `owner` what is wrong."""
    try:
        faces = np.asarray(given)
    except ValueError:
        raise BadInput(f"the faces of {owner} differ in length: give one row of d numbers per face") from None
    if faces.dtype.kind not in "fiub":
        raise BadInput(
            f"the faces of {owner} are of type {faces.dtype}, not numbers: give an array of floats"
        )
    if faces.ndim != 2:
        raise BadInput(f"the faces of {owner} have shape {faces.shape}: give (faces, numbers per face)")
    if faces.shape[0] == 0:
        raise BadInput(f"{owner} is empty: a set needs at least one face")
    if faces.shape[1] < 2:
        raise BadInput(
            f"the faces of {owner} are {faces.shape[1]} numbers long: a descriptor needs at least 2 numbers"
        )
    faces = faces.astype(np.float64) if faces.dtype.kind != "f" else faces
    # Descriptors are kept in single precision: what overflows there is refused like what is infinite.
    with np.errstate(over="ignore"):
        narrow = faces.astype(np.float32)
    finite = np.isfinite(narrow).all(axis=1)
    if not finite.all():
        raise BadInput(
            f"{_rows(~finite)} of {owner} {_has(~finite)} a NaN or infinite number: "
            f"describe the faces again or leave them out"
        )
    flat = np.equal(narrow, narrow[:, :1]).all(axis=1)
    if flat.any():
        raise BadInput(
            f"{_rows(flat)} of {owner} {_has(flat)} all numbers equal, which describes nothing: "
            f"leave such faces out"
        )
    return faces


def unique_ids(sets: Iterable[FaceSet]) -> None:
    """Refuse a collection in which two sets share an id, naming the first that comes twice."""
    seen: set[str] = set()
    for faceset in sets:
        if faceset.id in seen:
            raise Conflict(f"two sets are called {faceset.id!r}: set ids must be unique, rename one")
        seen.add(faceset.id)


def _rows(wrong: ArrayLike) -> str:
    where = np.flatnonzero(wrong)
    shown = ", ".join(str(row) for row in where[:3])
    return f"face {shown}" if len(where) == 1 else f"faces {shown}{', ...' if len(where) > 3 else ''}"


def _has(wrong: ArrayLike) -> str:
    return "has" if np.count_nonzero(wrong) == 1 else "have"


def from_arrays(vectors: ArrayLike, ids: Iterable[object]) -> list[FaceSet]:
    """Make sets of an array of descriptors, one face a row, and the id of the set that each row belongs to.

    Any vectors of one length will do: faces, voices, animals.

    Parameters
    ----------
    vectors : array_like (n, d)
    ids : iterable of n ids
        Text or whole numbers; rows of one id need not follow one another.

    Returns
    -------
    list of FaceSet
        In the order in which their ids come first, rows in the order given.

    Raises
    ------
    BadInput
        If these are no descriptors, or there is not one id for each.

    Examples
    --------
    >>> from lookalike import from_arrays
    >>> from_arrays([[1, 2], [3, 5], [2, 1]], ["a", "b", "a"])[0].faces.tolist()
    [[1.0, 2.0], [2.0, 1.0]]
    """
    faces = checked_faces(vectors, "the array")
    if isinstance(ids, str | bytes):
        raise BadInput(f"ids must be a list, one for each row of vectors, got the text {ids!r}")
    names = [str(one) if is_whole(one, 0) else one for one in ids]
    if len(names) != len(faces):
        raise BadInput(f"there are {len(faces)} vectors and {len(names)} ids: give one id for each vector")
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        check_id(name)
        rows.setdefault(str(name), []).append(row)
    return [FaceSet(name, faces[places]) for name, places in rows.items()]


def evenly(total: int, most: int | None = None) -> NDArray[np.intp]:
    """Choose up to `most` of so many places, spread evenly and rising, the first and the last among them.

    All unless `most` is given; one alone is the first.
    """
    if most is None or most >= total:
        return np.arange(total)
    # Place i is i * (total - 1) / (most - 1), rounded; in whole numbers, so that no machine rounds otherwise.
    steps = max(1, most - 1)
    return (2 * np.arange(most) * (total - 1) + steps) // (2 * steps)


def check_most(most: object) -> None:
    """Refuse a number of faces, if one is given, that is no whole number from 1 up."""
    if most is not None and not is_whole(most, 1):
        raise BadInput(f"the most faces of a set must be a whole number from 1 up, got {most!r}")
