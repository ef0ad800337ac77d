"""Pace: how fast this machine looks through these very files, measured on a few moments of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from time import monotonic
from typing import Final

import numpy as np

from lookalike.descriptors.contract import Descriptor, Picture, Vector
from lookalike.intake.described import describe_aligned
from lookalike.intake.files import MediaPath
from lookalike.intake.gathering import Gathered, gather
from lookalike.intake.plan import USUAL, Pace
from lookalike.intake.sampling import evenly
from lookalike.intake.seen import Settings
from lookalike.intake.workers import Workers

# How many seconds of a film a moment is.
MOMENT: Final = 2.0
# Moments of films, and photos, that are looked at: one for each so many seconds that all of it usually takes.
MOST: Final = 5
WORTH: Final = 10.0
# Faces that are described to know how long one takes.
DESCRIBED: Final = 6


def measure(
    files: Sequence[MediaPath], lengths: Sequence[float], part: Descriptor, settings: Settings, usual: float
) -> Pace:
    """Look at a few moments of films and at a few photos, and describe some of the faces.

    Parameters
    ----------
    files, lengths
        As for `make_plan`.
    part : Descriptor
        What describes the faces.
    settings : Settings
        How to look.
    usual : float
        How many seconds all of it takes at the usual pace: where that is little, nothing is measured.

    Returns
    -------
    Pace
        The usual one of what there is none of, or cannot be read.
    """
    count = min(MOST, int(usual / WORTH))
    photos = [file for file in files if file.media.kind == "photo"]
    films = [(file, length) for file, length in zip(files, lengths, strict=True) if length]
    chosen = [photos[place] for place in evenly(len(photos), count)] if count else []
    film = _looked_at(
        (file, replace(settings, since=since, until=since + MOMENT), min(MOMENT, length))
        for file, since, length in _moments(films, count)
    )
    photo = _looked_at((file, settings, 1.0) for file in chosen)
    each = _seconds_a_face([*film.pictures, *photo.pictures], part)
    pace = USUAL
    if film.units:
        faces = len(film.pictures) / film.units
        pace = replace(pace, film=film.seconds / film.units, film_faces=each * faces)
    if photo.units:
        faces = len(photo.pictures) / photo.units
        pace = replace(pace, photo=photo.seconds / photo.units, photo_faces=each * faces)
    return pace


class _Undescribed(Descriptor):
    """Describes nothing, so that looking is timed alone."""

    @property
    def dimension(self) -> int:
        """How many numbers describe a face."""
        return 1

    def describe(self, picture: Picture) -> Vector:
        """Say nothing of a face."""
        return np.zeros(1, dtype=np.float32)


@dataclass
class _Sample:
    """How long it took to look at so many seconds of film, or photos, and the faces that were found."""

    seconds: float = 0.0
    units: float = 0.0
    pictures: list[bytes] = field(default_factory=list)


def _moments(
    films: Sequence[tuple[MediaPath, float]], count: int
) -> Iterator[tuple[MediaPath, float, float]]:
    """So many moments, spread over all films as if they were one: film, when, how long the film lasts."""
    ends = list(accumulate(length for _, length in films))
    for number in range(count if films else 0):
        middle = (number + 0.5) / count * ends[-1]
        place = next(place for place, end in enumerate(ends) if middle < end)
        file, length = films[place]
        begin = middle - (ends[place] - length) - MOMENT / 2
        yield file, max(0.0, min(begin, length - MOMENT)), length


def _looked_at(asked: Iterable[tuple[MediaPath, Settings, float]]) -> _Sample:
    """Look at files as they are asked for, each for so many units; what cannot be read is left out."""
    sample = _Sample()
    for file, settings, units in asked:
        with Workers(settings) as workers:
            # A child that was asked something has started.
            list(workers.lengths([file.path]))
            began = monotonic()
            for _, told in gather(workers, [file], _Undescribed()):
                if isinstance(told, Gathered) and told.reason is None:
                    sample.seconds += monotonic() - began
                    sample.units += units
                    sample.pictures += [picture for track, _ in told.tracks for picture in track.pictures]
    return sample


def _seconds_a_face(pictures: Sequence[bytes], part: Descriptor) -> float:
    """How long it takes to describe a face; 0 without any."""
    if not pictures:
        return 0.0
    some = [pictures[place] for place in evenly(len(pictures), DESCRIBED)]
    # The first loads the model.
    describe_aligned(some[:1], part)
    began = monotonic()
    describe_aligned(some, part)
    return (monotonic() - began) / len(some)
