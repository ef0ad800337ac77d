"""Faces of uploads: who is in files dropped onto the page, described so that the gallery can be asked.

Where a gallery holds ready-made crops, a dropped photo may be another crop or a photo like any other. Faces
are looked for in all that is larger than its crops, and cut as these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors.contract import Descriptor
from lookalike.errors import BadInput, LookalikeError, NotFound, readable
from lookalike.faceset import Box, FaceSet, evenly
from lookalike.gallery.gallery import Gallery
from lookalike.ingest.add import holds_crops
from lookalike.ingest.describe import FramedDescriptor, choose_descriptor, framing_of
from lookalike.ingest.detect import INSTALL, Detector
from lookalike.ingest.files import MediaPath, find_files
from lookalike.ingest.pictures import Picture, decode_picture, encode_picture
from lookalike.ingest.reading import read_crops_apart
from lookalike.ingest.seen import Settings
from lookalike.search.photo_query import Pictured, agree
from lookalike.search.query import Several
from lookalike.search.question import look_at
from lookalike.web.jobs import Job

# Crops of a gallery that are looked at to know how it was cut.
LOOKED_AT: Final = 32
# Longer side of a photo that is shown, in pixels, and how many photos of an upload are shown.
LONGEST: Final = 1280
MOST: Final = 20


@dataclass
class SeenPeople:
    """Who is in some files, with all that a gallery would keep of them.

    Those who are `apart` were seen side by side. Files of which nothing was taken have a sentence each in
    `left_out`; the remark is about all. Photos whose faces are less alike than `may_be_same` do not show
    one person.
    """

    descriptor: str
    model_file: str
    may_be_same: float | None = None
    people: list[FaceSet] = field(default_factory=list)
    apart: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    remark: str = ""


def see(gallery: Gallery, source: Path, job: Job) -> SeenPeople:
    """See who is in a photo, a film or a folder of them, of which crops are of one person; at least one.

    Raises BadInput or Conflict if nobody is, or the gallery holds numbers that cannot be made of
    pictures.
    """
    part = choose_descriptor(gallery.descriptor, None, gallery.hint("model_file"))
    found = find_files(source)
    failed = [reason for _, reason in found.failed]
    seen = SeenPeople(part.identity, part.model_file, part.may_be_same, left_out=failed)
    if holds_crops(gallery):
        _see_as_crops(gallery, part, found.media, seen, job)
    else:
        _look(part, found.media, seen, job)
    if not seen.people:
        first, *others = seen.left_out or ["there is no photo and no video in it: drop one of these"]
        raise BadInput(f"{first} ({len(others)} more could not be used either)" if others else first)
    return seen


def cannot_look() -> str:
    """Why faces cannot be looked for on this machine; empty if they can."""
    try:
        Detector()
    except BadInput as reason:
        return str(reason)
    return "" if find_spec("av") else f"looking through videos and photos needs PyAV: {INSTALL}"


def _look(part: Descriptor, files: Sequence[MediaPath], seen: SeenPeople, job: Job) -> None:
    """Look for faces."""
    if not files:
        return
    found = look_at(part, files, Settings(), job.track, job.on_stop)
    seen.people += [one for one, _ in found.sets]
    seen.apart += sorted(found.apart)
    seen.left_out += [str(reason) for reason in found.reasons]
    seen.left_out += [
        f"no face was found in {readable(file.path)!r}: give a picture that shows one"
        for file in found.faceless
    ]


def _see_as_crops(
    gallery: Gallery, part: Descriptor, files: Sequence[MediaPath], seen: SeenPeople, job: Job
) -> None:
    """Take crops as they are, and cut faces of everything else as the crops of the gallery are cut."""
    if cannot_look():
        photos = [file for file in files if file.media.kind == "photo"]
        read = read_crops_apart([file.path for file in photos], None)
        _describe(
            part, [(file, _taken(one, seen)) for file, one in zip(photos, read, strict=True)], seen, job
        )
        if seen.people:
            seen.remark = (
                f"No face was looked for, since what finds faces is not installed ({INSTALL}): what you gave "
                f"is taken for faces that are cut out already."
            )
        seen.left_out += [
            f"{readable(file.path)!r} is a video, and what finds faces in videos is not installed: {INSTALL}"
            for file in files
            if file not in photos
        ]
        return
    # Small faces too: crops may be hardly larger.
    detector = Detector(smallest=1.0)
    framing = framing_of(_some_crops(gallery), detector, part.region)
    crops: list[tuple[MediaPath, Picture | None]] = []
    others = [file for file in files if file.media.kind != "photo"]
    photos = [file for file in files if file.media.kind == "photo"]
    # What is larger, and so no crop, is looked at by those who look for faces.
    read = read_crops_apart([file.path for file in photos], framing.largest)
    for file, one in zip(photos, read, strict=True):
        picture = _taken(one, seen)
        if one is None or (picture is not None and not framing.is_crop(picture, detector)):
            others.append(file)
        else:
            crops.append((file, picture))
    _describe(part, crops, seen, job)
    _look(FramedDescriptor(part, framing), [file for file in files if file in others], seen, job)


def _some_crops(gallery: Gallery) -> list[Picture]:
    """Crops of a gallery, spread evenly; at least one."""
    # What was found in footage is known by how well it is seen.
    ids = [one.id for one in gallery.listing() if one.pictures and one.good is None]
    found = []
    for place in evenly(len(ids), LOOKED_AT):
        # Somebody may remove sets meanwhile.
        with suppress(NotFound):
            pictures = gallery.get(ids[place], pictures=True).pictures
            found.append(decode_picture(pictures[len(pictures) // 2]))
    if not found:
        raise BadInput("the collection has changed meanwhile: drop it again")
    return found


def _taken(read: Picture | LookalikeError | None, seen: SeenPeople) -> Picture | None:
    """A picture that was read; why there is none is noted."""
    if isinstance(read, LookalikeError):
        seen.left_out.append(str(read))
        return None
    return read


def _describe(
    part: Descriptor, crops: Sequence[tuple[MediaPath, Picture | None]], seen: SeenPeople, job: Job
) -> None:
    """Make one set of all crops."""
    faces: list[NDArray[np.float32]] = []
    taken: list[tuple[MediaPath, Picture]] = []
    for file, picture in job.track(crops, "describing faces", len(crops)) if crops else ():
        if picture is None:
            continue
        try:
            faces.append(part.describe(picture))
            taken.append((file, picture))
        except BadInput as reason:
            seen.left_out.append(f"{readable(file.path)!r} cannot be described: {reason}")
    if taken:
        names = [file.name for file, _ in taken]
        pictures = [encode_picture(picture) for _, picture in taken]
        seen.people.append(FaceSet("crops", np.stack(faces), names[0], names, pictures))


# Photos that show several faces, small enough to be shown, with where everybody is.


class PlacedFace(NamedTuple):
    """A face of a photo: where it is, in pixels from the left and the top, and who it is."""

    box: Box
    person: int
    face: int


@dataclass(frozen=True)
class Photo:
    """A photo that shows several faces, from left to right: what it is called on the disk, and it, small.

    The size is that of the original, in which boxes are.
    """

    file: str
    content: bytes
    size: tuple[int, int]
    faces: tuple[PlacedFace, ...]


@dataclass(frozen=True)
class Reading:
    """Who is in an upload: the people, who of them were seen side by side, and photos of several faces.

    Photos that are dropped together are read as showing one person, who is the first, and as whoever they
    show without that.
    """

    people: Sequence[FaceSet]
    apart: Sequence[tuple[str, str]]
    photos: Sequence[Photo]
    remark: str = ""

    def placed(self) -> Reading:
        """The same, with the faces of the photos by who they are here."""
        seen = _faces_by_photo(self.people)
        photos = [replace(photo, faces=tuple(sorted(seen[photo.file]))) for photo in self.photos]
        return replace(self, photos=photos)


def as_one_person(seen: Reading, least: float | None) -> Reading | None:
    """Read photos as showing one person (`lookalike.search.photo_query`); None if they do not agree on one.

    Faces that may be of one person are at least so much alike.
    """
    faces = [(one, place) for one in seen.people for place in range(len(one.sources))]
    if any(len(one.sightings) != len(one) or one.sightings[0].time is not None for one in seen.people):
        return None  # films, and crops, which are of one person anyway
    photos: dict[str, list[FaceSet]] = {}
    for one, place in sorted(faces, key=lambda face: face[0].sightings[face[1]].box):
        photos.setdefault(one.sources[place], []).append(_some_faces(one, [place]))
    if len(photos) < 2:
        return None
    try:
        found = agree([Pictured(name, people) for name, people in sorted(photos.items())], least)
    except Several:
        return None
    meant = {name: photos[name][face - 1] for name, face, _ in found.taken}
    others = []
    for one in seen.people:
        # A photo shows a person once.
        left = [place for place, name in enumerate(one.sources) if not _is_same(meant.get(name), one, place)]
        others += [_some_faces(one, left)] if left else []
    beside = [(found.asked.id, one.id) for one in others if meant.keys() & set(one.sources)]
    there = {one.id for one in others}
    apart = [pair for pair in seen.apart if set(pair) <= there]
    away = [name for name, _ in found.left_out]
    remark = "" if not away else f"Left out, since somebody else is seen: {', '.join(away)}."
    return Reading([found.asked, *others], [*apart, *beside], seen.photos, remark).placed()


def face_by_face(seen: Reading) -> Reading:
    """Read every face as somebody of their own."""
    alone = [
        replace(_some_faces(one, [place]), id=f"{one.id}.{place}")
        for one in seen.people
        for place in range(len(one))
    ]
    return Reading(alone, (), seen.photos).placed()


def _some_faces(one: FaceSet, places: Sequence[int]) -> FaceSet:
    return FaceSet(
        one.id,
        one.faces[list(places)],
        one.origin,
        [one.sources[place] for place in places],
        [one.pictures[place] for place in places] if one.pictures else (),
        [one.sightings[place] for place in places],
    )


def _is_same(face: FaceSet | None, one: FaceSet, place: int) -> bool:
    return face is not None and face.id == one.id and face.sightings[0] == one.sightings[place]


def _faces_by_photo(people: Sequence[FaceSet]) -> dict[str, list[PlacedFace]]:
    seen: dict[str, list[PlacedFace]] = {}
    for person, one in enumerate(people):
        for face, (source, sighting) in enumerate(zip(one.sources, one.sightings, strict=False)):
            if sighting.time is None:
                seen.setdefault(source, []).append(PlacedFace(sighting.box, person, face))
    return seen


def photos_of(folder: Path, people: Sequence[FaceSet], job: Job) -> list[Photo]:
    """Read photos of a folder that show several of the people who were seen in them, by the names of files.

    What cannot be read any more is left out.
    """
    seen = _faces_by_photo(people)
    shown = sorted(file for file, faces in seen.items() if len(faces) > 1)[:MOST]
    photos = []
    for file, read in zip(shown, read_crops_apart([folder / file for file in shown], None), strict=True):
        job.check()
        if read is not None and not isinstance(read, LookalikeError):
            height, width = read.shape[:2]
            content = encode_picture(read, LONGEST)
            photos.append(Photo(file, content, (width, height), tuple(sorted(seen[file]))))
    return photos
