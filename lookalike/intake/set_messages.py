"""Set messages: a set that a child has read, as a header and bytes; its parent takes and checks them.

Texts are JSON, numbers and pixels raw bytes: nothing is unpickled, and no memory is taken before sizes were
found to agree.
"""

from __future__ import annotations

import json
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.intake.children import Ended, taken
from lookalike.intake.sourceset import SourceSet


def packed(found: SourceSet) -> tuple[dict[str, Any], list[Any]]:
    """The header of a message about a set, and the bytes that follow it."""
    # A set may have more faces than a header has room for their names and sizes.
    named = (found.id, found.origin, found.array, found.descriptor, *found.sources)
    texts = json.dumps(named).encode()
    pictures = [np.ascontiguousarray(picture) for picture in found.pictures]
    sizes = np.array([(*picture.shape, 0)[:3] for picture in pictures], dtype="<i8")
    header: dict[str, Any] = {"texts": len(texts), "faces": None, "pictures": len(pictures)}
    body: list[Any] = [texts]
    if found.faces is not None:
        header["faces"] = list(found.faces.shape)
        body.append(np.ascontiguousarray(found.faces, dtype="<f4"))
    return header, [*body, sizes, *pictures]


def take_set(header: dict[str, Any], answers: IO[bytes], most: int) -> SourceSet:
    """Take the rest of a message about a set.

    Parameters
    ----------
    header : dict
        What was said of it.
    answers : binary stream
        Where the bytes come from.
    most : int
        Most bytes to take.

    Raises
    ------
    Ended
        If they are not all there, or contradict themselves.
    """
    # Whoever took over the child may write anything: any error of these lines means that.
    try:
        length, count = int(header["texts"]), int(header["pictures"])
        if min(length, count) < 0 or length > most or 24 * count > most:
            raise Ended
        texts = json.loads(taken(answers, length).tobytes())
        if not isinstance(texts, list) or len(texts) < 4 or not all(isinstance(one, str) for one in texts):
            raise Ended
        id, origin, array, descriptor, *sources = texts
        if count not in (0, len(sources)):
            raise Ended
        faces = _faces(header["faces"], len(sources), answers, most)
        pictures = _pictures(count, answers, most)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise Ended from None
    return SourceSet(id, origin, tuple(sources), faces, pictures, array, descriptor)


def _faces(said: Any, count: int, answers: IO[bytes], most: int) -> NDArray[np.float32] | None:
    if said is None:
        return None
    rows, width = map(int, said)
    if rows != count or width < 0 or 4 * rows * width > most:
        raise Ended
    return taken(answers, 4 * rows * width).view("<f4").reshape(rows, width).astype(np.float32, copy=False)


def _pictures(count: int, answers: IO[bytes], most: int) -> tuple[NDArray[np.uint8], ...]:
    sizes = taken(answers, 24 * count).view("<i8").reshape(count, 3).tolist()
    if any(min(size) < 0 or size[2] not in (0, 3) for size in sizes):
        raise Ended
    # Whole numbers of Python do not overflow.
    lengths = [height * width * (channels or 1) for height, width, channels in sizes]
    if sum(lengths) > most:
        raise Ended
    # All in one piece: thousands of small ones would take as many calls of the system.
    pixels = taken(answers, sum(lengths))
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    return tuple(
        pixels[end - length : end].reshape(size if size[2] else size[:2])
        for end, length, size in zip(ends, lengths, sizes, strict=True)
    )
