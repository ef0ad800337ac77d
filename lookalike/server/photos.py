"""Photos: dropped photos that show several faces, small enough to be shown, with where everybody is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from lookalike.errors import LookalikeError
from lookalike.faceset import FaceSet
from lookalike.intake.pictures import encode_picture
from lookalike.intake.reading_apart import read_crops_apart
from lookalike.server.jobs import Job
from lookalike.sighting import Box

# Longer side of what is shown, in pixels, and how many photos of an upload are shown.
LONGEST: Final = 1280
MOST: Final = 20


class PlacedFace(NamedTuple):
    """A face of a photo: where it is, in pixels from the left and the top, and who it is."""

    box: Box
    person: int
    face: int


@dataclass(frozen=True)
class Photo:
    """A photo that shows several faces.

    Parameters
    ----------
    file : str
        What it is called on the disk.
    content : bytes
        The photo, small.
    size : tuple of int and int
        Width and height of the original, in which boxes are.
    faces : tuple of PlacedFace
        From left to right.
    """

    file: str
    content: bytes
    size: tuple[int, int]
    faces: tuple[PlacedFace, ...]


def photos_of(folder: Path, people: Sequence[FaceSet], job: Job) -> list[Photo]:
    """Read photos that show several faces; what cannot be read any more is left out.

    Parameters
    ----------
    folder : Path
        Where they lie.
    people : sequence of FaceSet
        Who was seen in them, under the names of their files.
    job : Job
        May be stopped meanwhile.
    """
    seen: dict[str, list[PlacedFace]] = {}
    for person, one in enumerate(people):
        for face, (source, sighting) in enumerate(zip(one.sources, one.sightings, strict=False)):
            if sighting.time is None:
                seen.setdefault(source, []).append(PlacedFace(sighting.box, person, face))
    shown = sorted(file for file, faces in seen.items() if len(faces) > 1)[:MOST]
    photos = []
    for file, read in zip(shown, read_crops_apart([folder / file for file in shown], None), strict=True):
        job.check()
        if read is not None and not isinstance(read, LookalikeError):
            height, width = read.shape[:2]
            content = encode_picture(read, LONGEST)
            photos.append(Photo(file, content, (width, height), tuple(sorted(seen[file]))))
    return photos
