"""Purity: a last guard against tracks that show two people, by a descriptor that can tell.

Somebody may step before somebody else in a crowd, or a cut be missed, and a track goes on with the other.
Faces of one person through one shot form a chain: each is alike to some other, however far the head turns in
between. Two people form two chains. Tried on tracks of two edited films, nine of 62 of which were mixed since
cuts were missed, and on 108 tracks of five films as they are now: SFace parts eight of the nine (of the 75
that come of it two are still mixed), finds one more in a crowd that no cut could have told, and tears one
that is pure. dlib's network parts five of the nine (7 of 72 are still mixed) and tears five that are pure: a
descriptor has to say that it can do this (`parts_people`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from lookalike.descriptors.contract import Descriptor
from lookalike.intake.jumps import Described, join_jumps

# Chains of fewer faces are turned or blurred ones of somebody who is there anyway.
FEWEST: Final = 3


def one_person_each(tracks: Sequence[Described], part: Descriptor, most: int) -> list[Described]:
    """Join the tracks of one film that jumps tore, and part those that show two people.

    Parameters
    ----------
    tracks : sequence of tuples of SeenTrack and float32 array (n, d)
        All tracks of the film, or the faces of a photo, with their descriptors.
    part : Descriptor
        What described them.
    most : int
        Faces kept of a track at most.
    """
    joined = join_jumps(tracks, part.same_person, most, part.parts_people)
    if part.same_person is None or not part.parts_people:
        return joined
    return part_mixed(joined, part.same_person)


def part_mixed(tracks: Sequence[Described], least: float) -> list[Described]:
    """Part the tracks of one film whose faces fall into several people.

    Who was seen together with a parted track is not known any more, since it is not known with which part.

    Parameters
    ----------
    tracks : sequence of tuples of SeenTrack and float32 array (n, d)
        With the descriptors of their faces.
    least : float
        Cosine from which two faces are taken for one person.

    Returns
    -------
    list of tuples
        In the order in which they begin; the first part of a track keeps its number.
    """
    free = max((track.number for track, _ in tracks), default=0) + 1
    found: list[Described] = []
    parted = set()
    for track, faces in tracks:
        chains = people(faces, least)
        if len(chains) == 1:
            found.append((track, faces))
            continue
        parted.add(track.number)
        for number, chain in zip([track.number, *range(free, free + len(chains) - 1)], chains, strict=True):
            one = replace(
                track,
                number=number,
                sightings=tuple(track.sightings[place] for place in chain),
                pictures=tuple(track.pictures[place] for place in chain),
                together=frozenset(),
                total=max(len(chain), track.total * len(chain) // len(faces)),
            )
            found.append((one, faces[chain]))
        free += len(chains) - 1
    if not parted:
        return found
    known = [(replace(track, together=track.together - parted), faces) for track, faces in found]
    return sorted(known, key=lambda one: (one[0].start or 0.0, one[0].number))


def people(faces: NDArray[np.float32], least: float) -> list[NDArray[np.intp]]:
    """Tell which faces of a track are of one person, as far as a chain of likenesses links them.

    Parameters
    ----------
    faces : array (n, d)
        Descriptors, in order of time.
    least : float
        Cosine from which two are taken for one person.

    Returns
    -------
    list of int arrays
        Places of the faces of each person, rising; the person of the first face first. What belongs to a
        chain of fewer than `FEWEST` faces goes to whom it is most alike.
    """
    unit = faces.astype(np.float64)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-12)
    count, chain = connected_components(unit @ unit.T >= least, directed=False)
    long = [one for one in range(count) if (chain == one).sum() >= FEWEST]
    if len(long) < 2:
        return [np.arange(len(faces))]
    means = np.array([unit[chain == one].mean(axis=0) for one in long])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    owner = (unit @ means.T).argmax(axis=1)
    for number, one in enumerate(long):
        owner[chain == one] = number
    parts = [np.flatnonzero(owner == number) for number in range(len(long))]
    return sorted(parts, key=lambda part: int(part[0]))
