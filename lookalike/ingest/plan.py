"""Plan: what a run through footage will look at, and about how long it takes and how much it keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from time import monotonic
from typing import Final

import numpy as np

from lookalike.descriptors.contract import Descriptor, Picture, Vector
from lookalike.faceset import evenly
from lookalike.ingest.describe import describe_aligned
from lookalike.ingest.files import MediaPath
from lookalike.ingest.seen import Settings
from lookalike.ingest.workers import Gathered, Workers, gather
from lookalike.progress import Track, silent

# Bytes kept: of a second of film five faces, of a photo one; an aligned picture and a descriptor each.
FILM_BYTES: Final = 27_000
PHOTO_BYTES: Final = 8_000
# Seconds that the least work takes: the program and its child start, networks are opened, and while the faces
# of the last track are described, one after the other, there is nothing else to do. Four seconds of a
# crowd in a street took 4 to 7 s on two machines.
START: Final = 3.0


@dataclass(frozen=True)
class Pace:
    """How long one processor works, in seconds, on a second of film or a photo, and on the faces in it.

    Unless it was measured (`measure`), as `python -m benchmarks intake` measures it, with one face in
    every frame and photo.
    """

    film: float = 0.17
    photo: float = 0.2
    film_faces: float = 0.1
    photo_faces: float = 0.03


USUAL: Final = Pace()


@dataclass(frozen=True)
class Plan:
    """What is to be done, before it is done.

    So many new films and photos, how long the films last, in how many folders the photos lie; how many
    files are known, or left out and for which reasons; about how long it takes, and how much the gallery
    grows.
    """

    films: int
    photos: int
    film_seconds: float
    albums: int
    known: int
    left_out: int
    seconds: float
    bytes: int
    left_out_for: str = ""

    def __str__(self) -> str:
        work = []
        if self.films:
            work.append(f"{counted(self.films, 'video')} of {lasting(self.film_seconds)}")
        if self.photos:
            work.append(f"{counted(self.photos, 'photo')} in {counted(self.albums, 'album')}")
        said = " and ".join(work) or "nothing new"
        if work:
            said += f": about {lasting(self.seconds)}, {max(1, round(self.bytes / 1e6))} MB"
        if self.known:
            said += f"; {counted(self.known, 'file')} known already"
        why = f" ({self.left_out_for})" if self.left_out_for else ""
        return f"{said}; {counted(self.left_out, 'file')} left out{why}" if self.left_out else said


def make_plan(
    files: Sequence[MediaPath],
    lengths: Sequence[float],
    known: int,
    left_out: int,
    processors: int,
    pace: Pace = USUAL,
    left_out_for: str = "",
) -> Plan:
    """Add up what there is to do with new files, whose films last so many seconds each, and photos 0.

    So many processors work at the same time, at a pace; the other files are known, or left out for some
    reasons.
    """
    photos = [file for file in files if file.media.kind == "photo"]
    length = float(sum(lengths))
    work = (pace.film + pace.film_faces) * length + (pace.photo + pace.photo_faces) * len(photos)
    return Plan(
        films=len(files) - len(photos),
        photos=len(photos),
        film_seconds=length,
        albums=len({file.album for file in photos}),
        known=known,
        left_out=left_out,
        seconds=START + work / processors if files else 0.0,
        bytes=round(FILM_BYTES * length + PHOTO_BYTES * len(photos)),
        left_out_for=left_out_for,
    )


def counted(number: int, noun: str) -> str:
    """A number of things in words."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def lasting(seconds: float) -> str:
    """A length of time in words, as exact as anybody wants to know."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


# How many seconds of a film a moment is.
MOMENT: Final = 2.0
# Moments of films, and photos, that are looked at: one for each so many seconds that all of it usually takes.
MOST: Final = 5
WORTH: Final = 10.0
# Where all of it is less, the longest film is looked at once, so many seconds from its start: in a crowd
# describing takes longer than all the rest.
EARLY: Final = 1.0
# Faces that are described to know how long one takes.
DESCRIBED: Final = 6


def measure(
    files: Sequence[MediaPath],
    lengths: Sequence[float],
    part: Descriptor,
    workers: Workers,
    usual: float,
    track: Track = silent,
) -> Pace:
    """Look at a few moments of films and at a few photos, and describe some of the faces.

    Files and lengths are as of `make_plan`. One child looks, which was asked something before, and so has
    started. All of it takes so many seconds at the usual pace: where that is little, only faces are
    counted, in one look at a film, and only more of them than usual change it. The pace stays the usual
    one for what there is none of, or cannot be read.
    """
    settings, count = workers.settings, min(MOST, int(usual / WORTH))
    photos = [file for file in files if file.media.kind == "photo"]
    films = [(file, length) for file, length in zip(files, lengths, strict=True) if length]
    film, photo = _Sample(), _Sample()
    if count:
        asked = [
            (film, file, replace(settings, since=since, until=since + MOMENT), min(MOMENT, length))
            for file, since, length in _moments(films, count)
        ]
        asked += [(photo, photos[place], settings, 1.0) for place in evenly(len(photos), count)]
    else:
        asked = [(film, *_one_look(films, settings))] if films else []
    for sample, file, workers.settings, units in track(asked, "measuring the pace", len(asked)):
        sample.look(workers, file, units)
    workers.settings = settings
    each = _seconds_a_face([*film.pictures, *photo.pictures], part)
    pace = USUAL
    if film.units:
        faces = each * len(film.pictures) / film.units
        if count:
            pace = replace(pace, film=film.seconds / film.units, film_faces=faces)
        else:
            pace = replace(pace, film_faces=max(faces, pace.film_faces))
    if photo.units:
        faces = each * len(photo.pictures) / photo.units
        pace = replace(pace, photo=photo.seconds / photo.units, photo_faces=faces)
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

    def look(self, workers: Workers, file: MediaPath, units: float) -> None:
        """Look at so many units of a file; what cannot be read is left out."""
        began = monotonic()
        for _, told in gather(workers, [file], _Undescribed()):
            if isinstance(told, Gathered) and told.reason is None:
                self.seconds += monotonic() - began
                self.units += units
                self.pictures += [picture for track, _ in told.tracks for picture in track.pictures]


def _one_look(
    films: Sequence[tuple[MediaPath, float]], settings: Settings
) -> tuple[MediaPath, Settings, float]:
    """The longest film, settings by which one frame of it is looked at, for how many seconds that stands."""
    file, length = max(films, key=lambda one: one[1])
    step = 1 / settings.rate
    since = int(min(EARLY, length / 2) / step) * step
    return file, replace(settings, since=since, until=since + step / 2), step


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


def _seconds_a_face(pictures: Sequence[bytes], part: Descriptor) -> float:
    """How long it takes one processor to describe a face; 0 without any."""
    if not pictures:
        return 0.0
    some = [pictures[place] for place in evenly(len(pictures), DESCRIBED)]
    # The first loads the model.
    describe_aligned(some[:1], part)
    began = monotonic()
    # One by one: several at once go on several processors, by which the plan divides.
    for one in some:
        describe_aligned([one], part)
    return (monotonic() - began) / len(some)
