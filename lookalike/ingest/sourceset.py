"""SourceSet: the faces of one video or album as found in a source, before they are described."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, readable
from lookalike.ingest.sandbox import Ended, Message

# A face that was cut out has fewer pixels, and all faces of a set together: more would fill the memory where
# they are described.
MOST_PIXELS_OF_A_FACE: Final = 4_000_000
MOST_PIXELS_OF_A_SET: Final = 400_000_000
# No set has more faces, no face is described by more numbers, no file holds more sets.
MOST_FACES: Final = 1_000_000
MOST_NUMBERS: Final = 65_536
MOST_SETS: Final = 5_000_000


@dataclass(frozen=True, eq=False)
class SourceSet:
    """Faces seen together, as a reader found them: pictures, ready-made descriptors, or both.

    Parameters
    ----------
    id : str
        What the set is called; unique within its source.
    origin : str
        The file or folder the set was found in, for people to read.
    sources : tuple of str
        Where each face came from (a file, a row); one for each face.
    faces : float32 array (n, d), or None
        Descriptors, one face a row, if the source has them.
    pictures : tuple of uint8 arrays (height, width) or (height, width, 3)
        A gray or RGB picture of each face, or none. If there are no descriptors, there are pictures.
    array, descriptor : str
        What the array is called that the faces were taken from, and what made them, if the source says so.
    """

    id: str
    origin: str
    sources: tuple[str, ...]
    faces: NDArray[np.float32] | None = None
    pictures: tuple[NDArray[np.uint8], ...] = ()
    array: str = ""
    descriptor: str = ""

    def __len__(self) -> int:
        return len(self.sources)

    def message(self) -> tuple[dict[str, Any], list[Any]]:
        """The header of a message about this set, and its parts; `from_message` is the other end."""
        # A set may have more faces than a header has room for their names and sizes.
        texts = json.dumps((self.id, self.origin, self.array, self.descriptor, *self.sources)).encode()
        pictures = [np.ascontiguousarray(picture) for picture in self.pictures]
        sizes = np.array([(*picture.shape, 0)[:3] for picture in pictures], dtype="<i8")
        faces = np.empty(0) if self.faces is None else np.ascontiguousarray(self.faces, dtype="<f4")
        width = None if self.faces is None else self.faces.shape[1]
        return {"width": width}, [texts, faces, sizes, pictures]

    @classmethod
    def from_message(cls, message: Message) -> SourceSet:
        """The set that a message is about; Ended if that contradicts itself."""
        # Whoever took over the child may write anything: any error of these lines means that.
        try:
            said, numbers, sizes, pixels = message.parts
            texts, width = json.loads(said.tobytes()), message.header["width"]
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise Ended
            id, origin, array, descriptor, *sources = texts
            faces = None
            if width is not None:
                faces = numbers.view("<f4").reshape(len(sources), -1).astype(np.float32, copy=False)
                if faces.shape[1] != width:
                    raise Ended
            pictures = _pictures(sizes, pixels)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
            raise Ended from None
        if len(pictures) not in (0, len(sources)):
            raise Ended
        return cls(id, origin, tuple(sources), faces, pictures, array, descriptor)


@contextmanager
def refused_of(path: Path, text: str) -> Iterator[None]:
    """Say of a file what is refused in the block."""
    try:
        yield
    except BadInput as reason:
        raise BadInput(f"{readable(path)!r} {text}: {reason}") from None


def limited(sets: Iterator[SourceSet]) -> Iterator[SourceSet]:
    """Hand out sets, as long as they keep to the limits of what can be described (else BadInput)."""
    for number, found in enumerate(sets):
        if number == MOST_SETS:
            raise BadInput(f"{found.origin!r} holds more than {MOST_SETS:,} sets: split it")
        if len(found) > MOST_FACES:
            raise BadInput(
                f"set {found.id!r} has {len(found):,} faces, more than {MOST_FACES:,}: keep some (--most)"
            )
        if found.faces is not None and found.faces.shape[1] > MOST_NUMBERS:
            raise BadInput(
                f"set {found.id!r} has {found.faces.shape[1]:,} numbers a face, and at most {MOST_NUMBERS:,} "
                f"are read: describe its faces by fewer"
            )
        for picture in found.pictures:
            check_pixels(picture.shape, f"set {found.id!r}")
        if sum(picture.shape[0] * picture.shape[1] for picture in found.pictures) > MOST_PIXELS_OF_A_SET:
            raise BadInput(
                f"set {found.id!r} has more than {MOST_PIXELS_OF_A_SET // 10**6} million pixels in all: make "
                f"its pictures smaller, or keep some (--most)"
            )
        yield found


def check_pixels(shape: Sequence[int], owner: str) -> None:
    """Refuse pictures that are too large for a face, by their height and width."""
    if shape[0] * shape[1] > MOST_PIXELS_OF_A_FACE:
        raise BadInput(
            f"{owner} has a picture of {shape[1]} x {shape[0]} pixels, and a face that was cut out has at "
            f"most {MOST_PIXELS_OF_A_FACE // 10**6} million: make it smaller, or add it as a photo (--photos)"
        )


def _pictures(said: NDArray[np.uint8], pixels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], ...]:
    """Pictures by their sizes; all their pixels come in one piece."""
    sizes = said.view("<i8").reshape(-1, 3).tolist()
    if any(min(size) < 0 or size[2] not in (0, 3) for size in sizes):
        raise Ended
    # Whole numbers of Python do not overflow.
    lengths = [height * width * (channels or 1) for height, width, channels in sizes]
    if sum(lengths) != len(pixels):
        raise Ended
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    return tuple(
        pixels[end - length : end].reshape(size if size[2] else size[:2])
        for end, length, size in zip(ends, lengths, sizes, strict=True)
    )
