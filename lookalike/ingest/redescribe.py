"""Redescribe: what another model makes of the faces of a gallery, from the pictures that it keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

from lookalike import registry
from lookalike.descriptors.contract import Descriptor
from lookalike.errors import BadInput
from lookalike.faceset import FaceSet
from lookalike.gallery.gallery import Gallery
from lookalike.ingest.describe import Vectors, describe_aligned, describe_crops
from lookalike.progress import Track, silent

# Sets are kept in groups of so many, or after so many seconds: whoever interrupts loses at most one group.
TOGETHER, SECONDS = 64, 3.0


@dataclass(frozen=True)
class DescribedAgain:
    """What `describe` did: which model is in use now, which was before, and how many sets were described."""

    descriptor: str
    before: str
    sets: int


def describe(gallery: Gallery, descriptor: Descriptor | str, track: Track = silent) -> DescribedAgain:
    """Describe every face anew by another model, and use that from now on.

    Ids, pictures and times stay, and so does what the former model made: going back to it costs nothing.
    If this is interrupted, the same call goes on where it stopped, and the former model stays in use until
    every face is described.

    Parameters
    ----------
    gallery : Gallery
        One that keeps pictures.
    descriptor : Descriptor or str
        The other model.
    track : callable
        Shows progress.

    Raises
    ------
    BadInput
        If the gallery is empty, a set of it has no pictures, or a picture cannot be described.
    """
    part: Descriptor = registry.build("descriptors", descriptor)
    part.check()
    before, name = gallery.descriptor, part.identity
    if before is None:
        raise BadInput(f"{gallery.path} is empty: add sets first")
    missing = gallery.undescribed(name)
    asked = set(missing)
    bare = [one.id for one in gallery.listing() if one.pictures < one.faces and one.id in asked]
    if bare:
        raise BadInput(
            f"{gallery.path} keeps no pictures of {len(bare)} sets ({bare[0]!r} first), and only pictures "
            f"can be described: add these sets again from pictures, or leave the gallery as it is"
        )
    for _ in track(_described(gallery, part, name, missing), "describing sets", len(missing)):
        pass
    gallery.use(name)
    # Questions are described by the same file.
    gallery.set_hint("model_file", part.model_file or None)
    return DescribedAgain(name, before, len(missing))


def _described(gallery: Gallery, part: Descriptor, name: str, missing: Sequence[str]) -> Iterator[str]:
    made: list[tuple[str, Vectors]] = []
    began = monotonic()
    for set_id in missing:
        made.append((set_id, _vectors(gallery.get(set_id, pictures=True), part)))
        if len(made) >= TOGETHER or monotonic() - began >= SECONDS:
            gallery.describe(name, made)
            made, began = [], monotonic()
        yield set_id
    if made:
        gallery.describe(name, made)


def _vectors(faceset: FaceSet, part: Descriptor) -> Vectors:
    try:
        # Crops that came ready-made are given whole: nobody knows where in them the face is.
        work = describe_aligned if faceset.sightings else describe_crops
        return work(faceset.pictures, part)
    except BadInput as reason:
        raise BadInput(f"set {faceset.id!r} cannot be described: {reason}") from reason
