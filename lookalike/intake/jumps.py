"""Jumps: cuts within one scene, after which the same person goes on in the same place.

Interviews are cut so, and stills that lie seconds apart look so. Every cut ends all tracks, since people who
share a room and its light may look alike to a tracker. A descriptor that can tell people apart knows better,
and joins what belongs together: where the looks say one person and the descriptor agrees, or where it is very
sure and the looks do not object. dlib's network needs the looks, and the same place (`tracks.PLACE`): behind
cuts of real films it was sure of four pairs of strangers elsewhere in the frame. SFace does not: of 37 pairs
of strangers there none reaches .36, of three pairs of one person each does .6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lookalike.intake.sampling import evenly
from lookalike.intake.seen import SeenTrack
from lookalike.intake.tracks import SAME

# A track with its descriptors, one face a row.
Described = tuple[SeenTrack, NDArray[np.float32]]


def join_jumps(
    tracks: Sequence[Described], least: float | None, most: int, is_sure: bool = False
) -> list[Described]:
    """Join the tracks of one film that show one person before and after a jump.

    Parameters
    ----------
    tracks : sequence of tuples of SeenTrack and float32 array (n, d)
        All tracks of the film with the descriptors of their faces, in any order.
    least : float or None
        Cosine from which two descriptors are taken for one person, if they look alike; if they do not, it
        must lie nearer to 1 than to this. None if they cannot tell, and nothing is joined.
    most : int
        Faces kept of a track at most.
    is_sure : bool
        Whether the descriptor is to be believed whatever they look like.

    Returns
    -------
    list of tuples
        By number; a joined track has that of its first part.
    """
    ordered = sorted(tracks, key=lambda one: one[0].number)
    if least is None:
        return ordered
    owner: dict[int, int] = {}
    parts: dict[int, list[Described]] = {}
    for track, faces in ordered:
        before, alike = track.after or (track.number, 1.0)
        first = owner.get(before, track.number)
        if first != track.number:
            cosine = _cosine([one for _, one in parts[first]], [faces])
            if cosine < (least if is_sure or alike >= SAME else (least + 1) / 2):
                first = track.number
        owner[track.number] = first
        parts.setdefault(first, []).append((track, faces))
    return [_joined(several, owner, most) for several in parts.values()]


def _cosine(some: list[NDArray[np.float32]], others: list[NDArray[np.float32]]) -> float:
    """Of the mean faces."""
    one, other = (np.concatenate(faces).astype(np.float64) for faces in (some, others))
    first, second = (
        (faces / np.maximum(np.linalg.norm(faces, axis=1, keepdims=True), 1e-12)).mean(axis=0)
        for faces in (one, other)
    )
    return float(first @ second / max(float(np.linalg.norm(first) * np.linalg.norm(second)), 1e-12))


def _joined(parts: list[Described], owner: dict[int, int], most: int) -> Described:
    first, faces = parts[0]
    together = frozenset(owner.get(other, other) for track, _ in parts for other in track.together)
    if len(parts) == 1:
        return replace(first, together=together), faces
    sightings = [sighting for track, _ in parts for sighting in track.sightings]
    pictures = [picture for track, _ in parts for picture in track.pictures]
    kept = evenly(len(sightings), most)
    whole = replace(
        first,
        sightings=tuple(sightings[place] for place in kept),
        pictures=tuple(pictures[place] for place in kept),
        together=together,
        total=sum(track.total for track, _ in parts),
    )
    return whole, np.concatenate([one for _, one in parts])[kept]
