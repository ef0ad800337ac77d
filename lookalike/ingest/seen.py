"""Seen: what photos and films were found to show: tracks, albums, joined and parted by person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors.contract import Descriptor
from lookalike.errors import BadInput
from lookalike.faceset import Sighting, evenly

# Likeness from which on it is the same person wherever in the frame, as after a jerk of the camera.
SAME: Final = 0.75


@dataclass(frozen=True)
class Settings:
    """How footage is looked at: `rate` frames a second for faces; cuts are looked for in all.

    Of a track at most `most` faces are kept, evenly spread in time. Faces less wide or high than
    `smallest` pixels are not taken. Larger frames and photos are reduced to a longer side of `frame` and
    `photo`. A film is looked at from the second `since` to the second `until`, or to its end.
    """

    rate: float = 5.0
    most: int = 50
    smallest: float = 24.0
    frame: int = 960
    photo: int = 1280
    since: float = 0.0
    until: float | None = None


@dataclass(frozen=True)
class SeenTrack:
    """One face through one shot of a film, or one face of a photo.

    Numbers rise in the order in which they appear, in a photo from left to right; some may be missing.
    Each face that was kept, of a `total`, has a sighting and an aligned picture, encoded. `together` are
    the numbers of those that were seen in the same frame: certainly other people. `after` is the number
    of the track that a cut ended in the same place right before this one, if it was not unlike, and how
    alike they look, up to 1.
    """

    number: int
    sightings: tuple[Sighting, ...]
    pictures: tuple[bytes, ...]
    together: frozenset[int]
    total: int
    after: tuple[int, float] | None = None

    @property
    def start(self) -> float | None:
        """When the first kept face was seen; None in a photo."""
        return self.sightings[0].time

    @property
    def end(self) -> float | None:
        """When the last kept face was seen."""
        return self.sightings[-1].time

    def header(self) -> dict[str, Any]:
        """What is sent before the pictures."""
        return {
            "track": self.number,
            "sightings": [sighting.as_text() for sighting in self.sightings],
            "together": sorted(self.together),
            "total": self.total,
            "after": self.after,
        }

    @classmethod
    def from_header(cls, header: dict[str, Any], pictures: tuple[bytes, ...]) -> SeenTrack:
        """What a header tells; any error means that the sender is not to be believed."""
        after = header["after"]
        return cls(
            int(header["track"]),
            tuple(Sighting.from_text(str(said)) for said in header["sightings"]),
            pictures,
            frozenset(int(number) for number in header["together"]),
            int(header["total"]),
            None if after is None else (int(after[0]), float(after[1])),
        )


@dataclass(frozen=True)
class SeenFile:
    """All that one photo or film was found to show, with a remark if not all of it could be read.

    `captured` is when it was taken, as `MediaFile.captured` writes it.
    """

    tracks: tuple[SeenTrack, ...]
    seconds: float = 0.0
    remark: str = ""
    captured: str = ""


# Jumps: cuts within one scene, after which the same person goes on in the same place. Interviews are cut so,
# and stills that lie seconds apart look so. Every cut ends all tracks, since people who share a room and its
# light may look alike to a tracker. A descriptor that can tell people apart knows better, and joins what
# belongs together: where the looks say one person and the descriptor agrees, or where it is very sure and the
# looks do not object. dlib's network needs the looks, and the same place (`tracks.PLACE`): behind cuts of
# real films it was sure of four pairs of strangers elsewhere in the frame. SFace does not: of 37 pairs of
# strangers there none reaches .36, of three pairs of one person each does .6.

# A track with its descriptors, one face a row.
Described = tuple[SeenTrack, NDArray[np.float32]]


def join_jumps(
    tracks: Sequence[Described], least: float | None, most: int, is_sure: bool = False
) -> list[Described]:
    """Join the tracks of one film that show one person before and after a jump.

    They come in any order, with the descriptors (n, d) of their faces, and leave by number; a joined
    track has that of its first part, and at most `most` faces. `least` is the cosine from which two
    descriptors are taken for one person, if they look alike; if they do not, it must lie nearer to 1 than
    to this, unless the descriptor is sure (`is_sure`) whatever they look like. If it is None they cannot
    tell, and nothing is joined.
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


# Purity: a last guard against tracks that show two people, by a descriptor that can tell. Somebody may step
# before somebody else in a crowd, or a cut be missed, and a track goes on with the other. Faces of one person
# through one shot form a chain: each is alike to some other, however far the head turns in between. Two
# people form two chains. Tried on tracks of two edited films, nine of 62 of which were mixed since cuts were
# missed, and on 108 tracks of five films as they are now: SFace parts eight of the nine (of the 75 that come
# of it two are still mixed), finds one more in a crowd that no cut could have told, and tears one that is
# pure. dlib's network parts five of the nine (7 of 72 are still mixed) and tears five that are pure: a
# descriptor has to say that it can do this (`parts_people`).

# Chains of fewer faces are turned or blurred ones of somebody who is there anyway.
FEWEST: Final = 3


def one_person_each(tracks: Sequence[Described], part: Descriptor, most: int) -> list[Described]:
    """Join the tracks of one film that jumps tore, and part those that show two people.

    They are all tracks of the film, or the faces of a photo, with what `part` made of them.
    """
    joined = join_jumps(tracks, part.same_person, most, part.parts_people)
    if part.same_person is None or not part.parts_people:
        return joined
    return part_mixed(joined, part.same_person)


def part_mixed(tracks: Sequence[Described], least: float) -> list[Described]:
    """Part the tracks of one film whose faces fall into several people, by a cosine as of `join_jumps`.

    Who was seen together with a parted track is not known any more, since it is not known with which
    part. The tracks come in the order in which they begin; the first part of one keeps its number.
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
    """Tell which faces (n, d) of a track are of one person, as far as a chain of likenesses links them.

    `least` is the cosine from which two are taken for one person. The places of the faces of each person
    are rising, and the person of the first face comes first. What belongs to a chain of fewer than
    `FEWEST` faces goes to whom it is most alike.
    """
    unit = faces.astype(np.float64)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-12)
    chain = _chains(unit @ unit.T >= least)
    long = [one for one in range(len(faces)) if (chain == one).sum() >= FEWEST]
    if len(long) < 2:
        return [np.arange(len(faces))]
    means = np.array([unit[chain == one].mean(axis=0) for one in long])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    owner = (unit @ means.T).argmax(axis=1)
    for number, one in enumerate(long):
        owner[chain == one] = number
    parts = [np.flatnonzero(owner == number) for number in range(len(long))]
    return sorted(parts, key=lambda part: int(part[0]))


def _chains(linked: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The number of the chain to which each belongs, where (n, n) says which two are linked."""
    chain = np.full(len(linked), -1)
    for start in range(len(linked)):
        if chain[start] < 0:
            found = np.zeros(len(linked), dtype=bool)
            more = found.copy()
            more[start] = True
            while more.any():
                found |= more
                more = linked[more].any(axis=0) & ~found
            chain[found] = chain.max() + 1
    return chain


def best_pairs(worth: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pair rows with columns, as many as there can be and each of them once, so that the sum is greatest.

    The worth of each pair is given as (rows, columns); the pairs come by row. The Hungarian method, by
    shortest augmenting paths. SciPy has it too, and takes 55 MB to be loaded, of which nobody who looks
    for faces has any other use.
    """
    rows, columns = worth.shape
    if rows > columns:
        return sorted((row, column) for column, row in best_pairs(worth.T))
    # Row and column 0 stand for nobody: there a path begins that pairs one row more.
    of_row, of_column = np.zeros(rows + 1), np.zeros(columns + 1)
    owner = np.zeros(columns + 1, dtype=int)
    for row in range(1, rows + 1):
        owner[0], column = row, 0
        length, before = np.full(columns + 1, np.inf), np.zeros(columns + 1, dtype=int)
        is_free = np.ones(columns + 1, dtype=bool)
        while column == 0 or owner[column]:
            is_free[column] = False
            way = -worth[owner[column] - 1] - of_row[owner[column]] - of_column[1:]
            is_shorter = is_free[1:] & (way < length[1:])
            length[1:][is_shorter] = way[is_shorter]
            before[1:][is_shorter] = column
            nearest = int(np.where(is_free, length, np.inf)[1:].argmin()) + 1
            step = length[nearest]
            of_row[owner[~is_free]] += step
            of_column[~is_free] -= step
            length[is_free] -= step
            column = nearest
        while column:
            owner[column], column = owner[before[column]], int(before[column])
    return sorted((int(owner[column]) - 1, column - 1) for column in range(1, columns + 1) if owner[column])


# No two people of one photo are the same: such a pair is never chosen.
_NEVER = -4.0


class Album:
    """Groups of faces in one folder, grown photo by photo.

    A face joins the group to whose mean it is most alike, if their cosine is at least `least`, from which
    on two faces almost surely show one person; two faces of one photo never join the same group. What is
    like no group begins one. The order of the photos is that of their names, so the groups do not depend
    on chance. If `least` is None the descriptor cannot tell, and every face is a group of its own.
    """

    def __init__(self, least: float | None) -> None:
        self.least = least
        self._sums: list[NDArray[np.float64]] = []

    def __len__(self) -> int:
        return len(self._sums)

    def remember(self, faces: NDArray[np.float32]) -> None:
        """Take over a group that was made before, from the descriptors of its faces (n, d)."""
        self._sums.append(_unit(faces).sum(axis=0))

    def place(self, faces: NDArray[np.float32]) -> list[int]:
        """The number of a group for each face (n, d) of one photo; one not seen before is a new group."""
        unit = _unit(faces)
        chosen = [-1] * len(unit)
        if self.least is not None and self._sums:
            means = _unit(np.array(self._sums))
            alike = unit @ means.T
            for row, column in best_pairs(np.where(alike >= self.least, alike, _NEVER)):
                if alike[row, column] >= self.least:
                    chosen[row] = column
        for row, face in enumerate(unit):
            if chosen[row] < 0:
                chosen[row] = len(self._sums)
                self._sums.append(face.copy())
            else:
                self._sums[chosen[row]] += face
        return chosen


def _unit(faces: NDArray[np.floating]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(faces.astype(np.float64), axis=1, keepdims=True)
    if not np.all(lengths > 0):
        raise BadInput("a face is described by zeros only, which compares with nothing: leave it out")
    return faces / lengths
