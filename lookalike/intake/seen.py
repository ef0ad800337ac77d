"""SeenFace and SeenTrack: what a photo or film was found to show, on its way from the child that looked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lookalike.sighting import Sighting


@dataclass(frozen=True)
class Settings:
    """How footage is looked at.

    Parameters
    ----------
    rate : float
        Frames a second in which faces are looked for; cuts are looked for in all.
    most : int
        Faces of a track that are kept at most, evenly spread in time.
    smallest : float
        Faces less wide or high than this many pixels are not taken.
    frame, photo : int
        Longer side of what the detector sees; larger frames and photos are reduced for it.
    since, until : float or None
        Seconds of a film between which is looked; to its end unless given.
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

    Parameters
    ----------
    number : int
        Rising in the order in which they appear; in a photo from left to right. Some may be missing.
    sightings : tuple of Sighting
        Where each kept face was seen.
    pictures : tuple of bytes
        An aligned picture of each, encoded.
    together : frozenset of int
        Numbers of those that were seen in the same frame: certainly other people.
    total : int
        How many faces there were before some were chosen to be kept.
    after : tuple of int and float, optional
        Number of the track that a cut ended in the same place right before this one, if it was not unlike,
        and how alike they look, up to 1.
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
            "bytes": [len(picture) for picture in self.pictures],
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
    """All that one photo or film was found to show, with a remark if not all of it could be read."""

    tracks: tuple[SeenTrack, ...]
    seconds: float = 0.0
    remark: str = ""
