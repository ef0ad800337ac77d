"""Plan: what a run through footage will look at, and about how long it takes and how much it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lookalike.intake.files import MediaPath

# Bytes kept: of a second of film five faces, of a photo one; an aligned picture and a descriptor each.
FILM_BYTES: Final = 27_000
PHOTO_BYTES: Final = 8_000
# Seconds that the least work takes: the network is opened that finds faces, and while the faces of the last
# track are described, one after the other, there is nothing else to do.
START: Final = 1.0


@dataclass(frozen=True)
class Pace:
    """How long the work takes one processor, in seconds.

    Unless it was measured (`lookalike.intake.pace`), as `python -m benchmarks intake` measures it, with one
    face in every frame and photo.

    Parameters
    ----------
    film, photo : float
        Looking at a second of film, and at a photo.
    film_faces, photo_faces : float
        Describing the faces that are found there.
    """

    film: float = 0.17
    photo: float = 0.2
    film_faces: float = 0.1
    photo_faces: float = 0.03


USUAL: Final = Pace()


@dataclass(frozen=True)
class Plan:
    """What is to be done, before it is done.

    Parameters
    ----------
    films, photos : int
        How many files of each are new.
    film_seconds : float
        How long the films last.
    albums : int
        In how many folders the photos lie.
    known : int
        Files that were looked at before.
    left_out : int
        Files that are neither, or cannot be read.
    seconds : float
        About how long it takes.
    bytes : int
        About how much the gallery grows.
    """

    films: int
    photos: int
    film_seconds: float
    albums: int
    known: int
    left_out: int
    seconds: float
    bytes: int

    @property
    def units(self) -> int:
        """Steps of the progress: seconds of film, and photos."""
        return round(self.film_seconds) + self.photos

    def __str__(self) -> str:
        work = []
        if self.films:
            work.append(f"{counted(self.films, 'film')} of {lasting(self.film_seconds)}")
        if self.photos:
            work.append(f"{counted(self.photos, 'photo')} in {counted(self.albums, 'album')}")
        said = " and ".join(work) or "nothing new"
        if work:
            said += f": about {lasting(self.seconds)}, {max(1, round(self.bytes / 1e6))} MB"
        if self.known:
            said += f"; {counted(self.known, 'file')} known already"
        return f"{said}; {counted(self.left_out, 'file')} left out" if self.left_out else said


def make_plan(
    files: Sequence[MediaPath],
    lengths: Sequence[float],
    known: int,
    left_out: int,
    processors: int,
    pace: Pace = USUAL,
) -> Plan:
    """Add up what there is to do.

    Parameters
    ----------
    files : sequence of MediaPath
        What is new.
    lengths : sequence of float
        How many seconds each film lasts; 0 for photos.
    known, left_out : int
        How many other files there are.
    processors : int
        How many work at the same time.
    pace : Pace
        How long it takes.
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
