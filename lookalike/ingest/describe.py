"""Describe: what a source holds becomes sets of one kind of descriptor, in crops that are framed alike."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from types import FunctionType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike import registry
from lookalike.descriptors.contract import Descriptor, Picture, Region, Vector, part_of
from lookalike.errors import BadInput, Conflict, readable
from lookalike.faceset import FaceSet, timecode
from lookalike.ingest.align import SIDE, similarity
from lookalike.ingest.detect import Detector, Found
from lookalike.ingest.pictures import LONGEST, decode_picture, encode_picture
from lookalike.ingest.reading import read_apart
from lookalike.ingest.seen import SeenTrack
from lookalike.ingest.sourceset import SourceSet

DEFAULT_DESCRIPTOR = "lbp"
# For films and photos: what is good enough to find people in everyday pictures.
FOOTAGE_DESCRIPTOR = "sface"


class Describer:
    """Turns what a source holds into sets of one kind of descriptor, the gallery's if it has one.

    Parameters
    ----------
    held : str or None
        What described the faces of the gallery; None if it is empty.
    descriptor : str, optional
        The user's choice. With an array it says what made its numbers.
    array, features, most, columns
        As for `read_source`.
    """

    def __init__(
        self,
        held: str | None,
        descriptor: str | None = None,
        array: str | None = None,
        features: Path | str | None = None,
        most: int | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self.columns = columns
        self.features = None if features is None else Path(features)
        self.most = most
        self.held = held
        self.given = descriptor
        self.asked = array is not None
        self.array = array
        if array is None and descriptor is None and held is not None and held.startswith("array:"):
            self.array = held.removeprefix("array:")
        self._part: Descriptor | None = None

    def read(self, path: Path) -> Iterator[SourceSet]:
        """Yield the sets of one source as they lie there; a child process reads them."""
        # The array of the gallery is only a guess for the source; what was asked for must be there.
        guessed = self.array is not None and not self.asked
        return read_apart(path, self.array, self.features, self.most, guessed, columns=self.columns)

    def kind(self, found: SourceSet) -> str:
        """Name what describes a set of this source; a gallery keeps one kind."""
        if found.faces is None:
            return self._descriptor().identity
        if self._given_kind is not None:
            return self._given_kind
        return found.descriptor or f"array:{found.array}"

    def refuse_other_kind(self, found: SourceSet) -> None:
        """Refuse (Conflict) a query that is described otherwise than the gallery, as far as names tell."""
        held = self.held or ""
        if (held.startswith("array:") or is_part(held)) and self.kind(found) != held:
            raise Conflict(
                f"set {found.id!r} is described by {self.kind(found)}, the gallery by {held}: "
                f"describe both the same way"
            )

    def describe(self, found: SourceSet) -> FaceSet:
        """Describe the faces of a set, unless the source did; pictures are kept as evidence.

        Raises BadInput if a face cannot be described.
        """
        faces = found.faces
        if faces is None:
            try:
                faces = self._descriptor().describe_many(found.pictures)
            except BadInput as reason:
                raise BadInput(f"set {found.id!r} cannot be described: {reason}") from reason
        pictures = [encode_picture(picture) for picture in found.pictures]
        return FaceSet(found.id, faces, found.origin, found.sources, pictures)

    @cached_property
    def _given_kind(self) -> str | None:
        """The user's choice: any text may name what made ready-made numbers, a part is written out."""
        if self.given is None or not is_part(self.given):
            return self.given
        identity: str = registry.build("descriptors", self.given).identity
        return identity

    def _descriptor(self) -> Descriptor:
        if self._part is None:
            wanted = self.given or self.held or DEFAULT_DESCRIPTOR
            if wanted.startswith("array:"):
                raise Conflict(
                    f"the gallery holds ready-made descriptors ({wanted}) and the source holds pictures: "
                    f"give a source with such an array, or use another gallery"
                )
            self._part = registry.build("descriptors", wanted)
        return self._part


def choose_descriptor(held: str | None, given: str | None, model_file: str | None = None) -> Descriptor:
    """The descriptor for footage, checked: the one that is given, that of the gallery, or the default.

    `held` describes the gallery, and is None if that is empty; `model_file` is where the file of its
    model was last seen, if it has one. Raises BadInput, NotFound or Conflict if there is no such
    descriptor, something it needs is missing, or the gallery is described otherwise.
    """
    if held is not None and not is_part(held):
        raise Conflict(
            f"the gallery holds ready-made descriptors ({held}), which cannot be made of photos and videos: "
            f"use another gallery"
        )
    if "model=" in (held or "") or not os.path.isabs(model_file or os.sep):
        raise BadInput(f"the gallery names a model file where it never would ({held}): do not trust it")
    there = f"{held},model={model_file}" if held and model_file else held
    part: Descriptor = registry.build("descriptors", given or there or FOOTAGE_DESCRIPTOR)
    part.check()
    if held is not None and part.identity != held:
        raise Conflict(
            f"the gallery is described by {held}, and {part.identity} was asked for: leave --descriptor out, "
            f"or describe the gallery anew (`lookalike describe`)"
        )
    return part


def same_person_of(held: str | None) -> float | None:
    """The cosine from which what describes a gallery takes two faces for one person; None if it cannot tell.

    Nothing of a model is loaded, so it need not be installed.
    """
    if held is None or not is_part(held):
        return None
    least: float | None = registry.build("descriptors", held).same_person
    return least


def successor_of(part: Descriptor, gallery: Path) -> str:
    """A sentence about the descriptor that knows people better than that of a gallery, and how to change."""
    command = f"lookalike describe {shlex.quote(readable(gallery))} --descriptor {part.succeeded_by}"
    return (
        f"{part.succeeded_by}, the default of new galleries, knows people better than {part.identity}, which "
        f"describes this one: `{command}` changes to it, and keeps names and decisions"
    )


def is_part(kind: str) -> bool:
    """Whether the name of a kind of descriptor is that of a part, and not somebody's own words."""
    return kind.partition(":")[0] in registry.names("descriptors")


Vectors = NDArray[np.float32]


class _Decoded(Sequence[Picture]):
    """Kept pictures, each decoded when it is asked for: those of a long track would take 5 MB at once."""

    def __init__(self, encoded: Sequence[bytes], region: Region | None = None) -> None:
        self._encoded, self._region = encoded, region

    def __len__(self) -> int:
        return len(self._encoded)

    def __getitem__(self, place: Any) -> Any:
        picture = decode_picture(self._encoded[place])
        return picture if self._region is None else part_of(picture, self._region)


def describe_aligned(pictures: Sequence[bytes], descriptor: Descriptor) -> Vectors:
    """Describe aligned faces as they are kept in a gallery, one a row; BadInput if a picture cannot be."""
    return descriptor.describe_many(_Decoded(pictures, descriptor.region))


def describe_crops(pictures: Sequence[bytes], descriptor: Descriptor) -> Vectors:
    """Describe ready-made crops as they are kept in a gallery, one a row; see `describe_aligned`."""
    return descriptor.describe_many(_Decoded(pictures))


def as_set(set_id: str, track: SeenTrack, faces: Vectors, name: str, origin: str) -> FaceSet:
    """Make a set of a track with its descriptors (n, d), seen in a file of this name and whole path."""
    sources = [
        name if sighting.time is None else f"{name} at {timecode(sighting.time)}"
        for sighting in track.sightings
    ]
    return FaceSet(set_id, faces, origin, sources, track.pictures, track.sightings)


class WrappedDescriptor(Descriptor):
    """A descriptor that hands on whatever the contract asks of it, but for what a kind of it does itself."""

    def __init__(self, part: Descriptor) -> None:
        self.part = part

    @property
    def dimension(self) -> int:
        """How many numbers describe a face."""
        return self.part.dimension

    def check(self) -> None:
        """Say what is missing before any work is done."""
        self.part.check()

    def describe(self, picture: Picture) -> Vector:
        """Describe one face."""
        return self.part.describe(picture)

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe many faces, one a row."""
        return self.part.describe_many(pictures)


def _handed_on(name: str) -> property:
    def asked(wrapped: WrappedDescriptor) -> Any:
        return getattr(wrapped.part, name)

    return property(asked, doc=f"`{name}` of the descriptor.")


# All that a descriptor says of itself, also what the contract may ask one day.
for _name, _said in vars(Descriptor).items():
    if not (_name.startswith("_") or isinstance(_said, FunctionType) or _name in vars(WrappedDescriptor)):
        setattr(WrappedDescriptor, _name, _handed_on(_name))


class WatchedDescriptor(WrappedDescriptor):
    """A descriptor that counts the `faces` it has described while others, on any thread, ask it."""

    def __init__(self, part: Descriptor) -> None:
        super().__init__(part)
        self.faces = 0
        self._lock = Lock()

    def describe(self, picture: Picture) -> Vector:
        """Describe one face, and count it."""
        found = super().describe(picture)
        self._count(1)
        return found

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe many faces, one a row, and count them."""
        found = super().describe_many(pictures)
        self._count(len(found))
        return found

    def _count(self, faces: int) -> None:
        with self._lock:
            self.faces += faces


# Framing: how faces stand in ready-made crops, so that a face found in a photo is cut the same way.
#
# Nobody says how crops were cut, and to descriptors that count patterns in the cells of a grid it is all that
# matters. So it is measured: faces are found in some crops, and the aligned square is cut as they lie in it.

# Faces must be found in this share of the crops; else the detector does not see what these crops show.
ENOUGH: Final = 1 / 3
# A picture is a crop up to so many times the size of those known, if its face is not much smaller in it.
LARGER: Final = 1.1
SMALLER: Final = 0.75
# Crops that were reduced to be kept were larger, nobody remembers how much: up to this side they are crops.
REDUCED: Final = 256


@dataclass(frozen=True)
class Framing:
    """How crops are cut, whose width and height are `size`, in pixels.

    The region is left, top, right, bottom of a crop in the aligned square, as shares of its side; it may
    reach beyond. A picture may be a crop up to the width and height `largest`. The face takes so much of
    the height of a crop (`fills`); None if the detector does not see faces in them.
    """

    region: Region
    size: tuple[int, int]
    largest: tuple[int, int]
    fills: float | None

    def is_crop(self, picture: Picture, detector: Detector) -> bool:
        """Whether a picture is a crop itself: as small as they are, without faces much smaller than theirs.

        One that shows no face to the detector may be one, as others are.
        """
        if picture.shape[1] > self.largest[0] or picture.shape[0] > self.largest[1]:
            return False
        found = [] if self.fills is None else detector.find(picture)
        largest = max((face.box[3] for face in found), default=None)
        return largest is None or largest >= SMALLER * (self.fills or 0.0) * picture.shape[0]

    def cut(self, square: Picture) -> Picture:
        """Cut an aligned square as a crop; what lies beyond its edge is as the edge."""
        left, top, right, bottom = (SIDE * share for share in self.region)
        beyond = int(np.ceil(max(0.0, -left, -top, right - SIDE, bottom - SIDE)))
        around = ((beyond, beyond), (beyond, beyond), (0, 0))
        wide = Image.fromarray(np.pad(square, around, mode="edge"))
        box = (left + beyond, top + beyond, right + beyond, bottom + beyond)
        return np.asarray(wide.resize(self.size, Image.Resampling.LANCZOS, box=box))


def framing_of(crops: Sequence[Picture], detector: Detector, region: Region) -> Framing:
    """Measure how crops are cut: at least one, as they are kept in a gallery.

    The detector takes small faces; where it sees a face in too few crops, the given region is taken.
    """
    sizes = np.array([crop.shape[1::-1] for crop in crops])
    width, height = (int(side) for side in np.median(sizes, axis=0))
    largest = tuple(int(LARGER * side) for side in sizes.max(axis=0))
    if sizes.max() >= LONGEST:
        largest = REDUCED, REDUCED
    measured = []
    for crop in crops:
        faces = detector.find(crop)
        if faces:
            measured.append(_measured(crop, max(faces, key=lambda face: face.box[2] * face.box[3])))
    if len(measured) < max(1, ENOUGH * len(crops)):
        return Framing(region, (width, height), (largest[0], largest[1]), None)
    middle = np.median(np.array(measured), axis=0)
    x, y, half_width, half_height, fills = (float(number) for number in middle)
    found = (x - half_width, y - half_height, x + half_width, y + half_height)
    return Framing(found, (width, height), (largest[0], largest[1]), fills)


def _measured(crop: Picture, face: Found) -> NDArray[np.float64]:
    """Centre and half sides of a crop in the aligned square, and which share of its height the face takes."""
    height, width = crop.shape[:2]
    move = similarity(face.landmarks)
    centre = move[:, :2] @ (width / 2, height / 2) + move[:, 2]
    scale = float(np.hypot(move[0, 0], move[1, 0])) / SIDE
    return np.array([*(centre / SIDE), scale * width / 2, scale * height / 2, face.box[3] / height])


class FramedDescriptor(WrappedDescriptor):
    """A descriptor that sees aligned squares as it saw crops that are cut so."""

    # The framing cuts what the descriptor wants to see.
    region = Descriptor.region

    def __init__(self, part: Descriptor, framing: Framing) -> None:
        super().__init__(part)
        self.framing = framing

    def describe(self, picture: Picture) -> Vector:
        """Describe an aligned square."""
        return super().describe(self.framing.cut(picture))

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe aligned squares, one a row."""
        return super().describe_many([self.framing.cut(picture) for picture in pictures])
