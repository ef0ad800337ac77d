"""Described: what was seen in footage becomes face sets, described by one model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors.contract import Descriptor, part_of
from lookalike.faceset import FaceSet
from lookalike.intake.pictures import decode_picture
from lookalike.intake.seen import SeenTrack
from lookalike.sighting import timecode

Vectors = NDArray[np.float32]


def describe_aligned(pictures: Sequence[bytes], descriptor: Descriptor) -> Vectors:
    """Describe aligned faces as they are kept in a gallery, one a row.

    Raises
    ------
    BadInput
        If a picture is damaged or cannot be described.
    """
    return descriptor.describe_many(
        [part_of(decode_picture(picture), descriptor.region) for picture in pictures]
    )


def describe_crops(pictures: Sequence[bytes], descriptor: Descriptor) -> Vectors:
    """Describe ready-made crops as they are kept in a gallery, one a row; see `describe_aligned`."""
    return descriptor.describe_many([decode_picture(picture) for picture in pictures])


def as_set(set_id: str, track: SeenTrack, faces: Vectors, name: str, origin: str) -> FaceSet:
    """Make a set of a track.

    Parameters
    ----------
    set_id : str
        What it is called.
    track : SeenTrack
        What was seen.
    faces : float32 array (n, d)
        Its descriptors.
    name, origin : str
        The file by its name in the collection, and by its whole path.
    """
    sources = [
        name if sighting.time is None else f"{name} at {timecode(sighting.time)}"
        for sighting in track.sightings
    ]
    return FaceSet(set_id, faces, origin, sources, track.pictures, track.sightings)
