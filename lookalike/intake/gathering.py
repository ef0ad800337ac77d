"""Gather: what children tell of files, put together file by file and described."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from lookalike.descriptors.contract import Descriptor
from lookalike.errors import LookalikeError
from lookalike.intake.albums import Album
from lookalike.intake.described import describe_aligned
from lookalike.intake.files import MediaPath
from lookalike.intake.jumps import Described
from lookalike.intake.purity import one_person_each
from lookalike.intake.seen import SeenFile, SeenTrack
from lookalike.intake.workers import Workers
from lookalike.kernels.threads import Helpers


@dataclass(frozen=True)
class Gathered:
    """Everything that one file shows, described.

    Parameters
    ----------
    tracks : sequence of tuples of SeenTrack and float32 array (n, d)
        Who it shows; jumps are joined, mixed tracks parted. Nobody if it was not wanted.
    remark : str
        What could not be read of it, if anything.
    reason : LookalikeError, optional
        Why the file is refused.
    """

    tracks: Sequence[Described] = ()
    remark: str = ""
    reason: LookalikeError | None = None


def gather(
    workers: Workers,
    files: Sequence[MediaPath],
    part: Descriptor,
    is_wanted: Callable[[int], bool] = lambda number: True,
) -> Iterator[tuple[int, float | Gathered]]:
    """Look at files and describe their faces.

    Parameters
    ----------
    workers : Workers
        Who looks.
    files : sequence of MediaPath
    part : Descriptor
        What describes the faces.
    is_wanted : callable
        Asked with the number of a file, on any thread, before it is opened.

    Yields
    ------
    tuple of int and float or Gathered
        Number of the file, from 0 and rising; then how many seconds of it have been looked at, or all that it
        shows, with which every file ends. Only so many files are begun and not ended as there are workers.
    """

    def described(track: SeenTrack) -> Described:
        return track, describe_aligned(track.pictures, part)

    begun: list[Callable[[], Described]] = []
    with Helpers() as helpers:
        for number, told in workers.look([file.path for file in files], is_wanted):
            if isinstance(told, float):
                yield number, told
            elif isinstance(told, SeenTrack):
                begun.append(helpers.begin(described, told))
                # Who looks waits for those who describe, so that the progress tells the truth.
                if len(begun) > 2 * helpers.count:
                    with suppress(LookalikeError):
                        begun[-1 - 2 * helpers.count]()
            else:
                yield number, _whole(begun, told, part, workers.settings.most)
                begun = []


def _whole(
    begun: Sequence[Callable[[], Described]],
    end: SeenFile | LookalikeError | None,
    part: Descriptor,
    most: int,
) -> Gathered:
    """All that a file shows, when the faces that were begun are described."""
    try:
        if isinstance(end, LookalikeError):
            raise end
        tracks = one_person_each([one() for one in begun], part, most)
    except LookalikeError as reason:
        return Gathered(reason=reason)
    return Gathered(tracks, "" if end is None else end.remark)


def is_grouped(file: MediaPath, part: Descriptor) -> bool:
    """Whether the faces of a file join those of its album: photos of a folder, where people can be told."""
    return file.media.kind == "photo" and bool(file.album) and part.same_person is not None


def place(album: Album, tracks: Sequence[Described]) -> list[int]:
    """The group of its album to which each face of a photo belongs."""
    return album.place(np.concatenate([faces for _, faces in tracks])) if tracks else []
