"""FaceSet: the faces of one video or album, which are all of one person."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lookalike.errors import BadInput, Conflict
from lookalike.sighting import Sighting

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
    """

    id: str
    faces: Faces
    origin: str = ""
    sources: Sequence[str] = field(default=())
    pictures: Sequence[bytes] = field(default=())
    sightings: Sequence[Sighting] = field(default=())

    def __post_init__(self) -> None:
        check_id(self.id)
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
    """Refuse what cannot be the name of a set.

    Raises
    ------
    BadInput
        If it is not a string, is empty, too long or holds control characters.
    """
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
    """Return the faces as an (n, d) array of floats, or say in one sentence what is wrong with them.

    Parameters
    ----------
    given : array_like (n, d)
        Descriptors, one face a row.
    owner : str
        What the sentence calls them, for instance ``set 'a'``.

    Raises
    ------
    BadInput
        If the array is empty, not a table of numbers, not finite, or has a zero or constant row.
    """
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
    """Refuse a collection in which two sets share an id.

    Raises
    ------
    Conflict
        Naming the first id that comes twice.
    """
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
