"""Scan: one photo or film becomes the faces it shows, a track for each person of each shot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import inf
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from lookalike.errors import BadInput
from lookalike.intake.alignment import align, encode_square
from lookalike.intake.certainty import sure_faces
from lookalike.intake.detector import Detector, Found
from lookalike.intake.paths import unreadable
from lookalike.intake.pictures import Picture, read_picture
from lookalike.intake.quality import judge
from lookalike.intake.recognition import START, recognise
from lookalike.intake.seen import SeenFile, SeenTrack, Settings
from lookalike.intake.shots import Cuts, thumbnail
from lookalike.intake.tracks import Seen, Track, Tracker
from lookalike.intake.video import Video, open_video
from lookalike.kernels.threads import in_order

# At least so often the child tells how far it is, in seconds.
OFTEN = 0.5


def scan(path: Path, settings: Settings, threads: int = 1) -> Iterator[float | SeenTrack | SeenFile]:
    """Look for faces in a photo or film.

    Parameters
    ----------
    path : Path
        The photo or film.
    settings : Settings
        How to look.
    threads : int
        How many look at frames of a film while others are decoded; what is found does not depend on it.

    Yields
    ------
    float
        How many seconds of the film have been looked at, now and then.
    SeenTrack
        A track, as soon as it has ended.
    SeenFile
        Last, without its tracks: how long the film is, and a remark.

    Raises
    ------
    NotFound, BadInput
        If it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            media = recognise(stream.read(START))
    except OSError as reason:
        raise unreadable(path, reason) from None
    if media is None:
        raise BadInput("is neither a photo nor a film that can be read: leave it out")
    if media.kind == "photo":
        yield from _photo(path, settings)
    else:
        yield from _film(path, media.container, settings, threads)


def _photo(path: Path, settings: Settings) -> Iterator[SeenTrack | SeenFile]:
    picture = read_picture(path)
    # At half the size it looks again where it is unsure.
    looks = (_detector(longest, settings.smallest) for longest in (settings.photo, settings.photo // 2))
    faces = _faces(picture, sure_faces(picture, *looks))
    numbers = frozenset(range(1, len(faces) + 1))
    for number, seen in enumerate(faces, start=1):
        yield SeenTrack(number, (seen.sighting,), (encode_square(seen.crop),), numbers - {number}, 1)
    yield SeenFile(())


def _film(
    path: Path, container: str, settings: Settings, threads: int
) -> Iterator[float | SeenTrack | SeenFile]:
    detector, tracker = _detector(settings.frame, settings.smallest), Tracker(settings.most)

    def seen(moment: _Moment) -> tuple[_Moment, list[Seen]]:
        picture = moment.picture
        return moment, [] if picture is None else _faces(picture, detector.find(picture), moment.time)

    with path.open("rb") as stream, open_video(stream, container) as video:
        time = None
        # Frames are decoded, and cuts found, in their order; meanwhile faces are looked for in earlier ones.
        for moment, faces in in_order(seen, _moments(video, settings), threads):
            time = moment.time
            if moment.is_cut:
                yield from map(_seen, tracker.cut(time))
            if moment.picture is not None:
                yield from map(_seen, tracker.see(time, faces))
            if moment.is_told:
                yield time
        yield from map(_seen, tracker.end())
        if time is None and not settings.since:
            raise BadInput("holds no frame that can be decoded: copy it again, or leave it out")
        yield SeenFile((), max(video.seconds, time or 0.0), video.remark)


class _Moment(NamedTuple):
    """A frame of a film: when it is, whether a shot begins with it, and its picture if it is looked at."""

    time: float
    is_cut: bool
    picture: Picture | None
    is_told: bool  # whether it is time to say how far the film is


def _moments(video: Video, settings: Settings) -> Iterator[_Moment]:
    """Frames that matter: those that are looked at, and those that begin a shot; the last one anyway."""
    cuts, step, looked, said, passed = Cuts(), 1 / settings.rate, -1, monotonic(), None
    for frame in video.frames(settings.since, inf if settings.until is None else settings.until):
        time, is_cut, picture = frame.time, False, None
        is_told = monotonic() - said > OFTEN
        if time >= settings.since:
            is_cut = cuts.is_cut(thumbnail(frame.brightness()), time)
            if is_cut:
                looked = -1
            # Frames are looked at on a fixed grid of times, and first thing after a cut or a flash.
            if int(time / step + 1e-6) != looked and not cuts.is_undecided:
                looked = int(time / step + 1e-6)
                picture = frame.picture()
        passed = _Moment(time, is_cut, picture, is_told)
        if is_told:
            said = monotonic()
        if is_told or is_cut or picture is not None:
            yield passed
            passed = None
    if passed is not None:
        yield passed


@lru_cache(maxsize=3)
def _detector(longest: int, smallest: float) -> Detector:
    """A detector, kept for the next file: opening the network takes longer than a small photo."""
    return Detector(longest, smallest)


def _faces(picture: Picture, faces: Sequence[Found], time: float | None = None) -> list[Seen]:
    """Faces that were found in a picture, aligned and judged, in the same order."""
    seen = []
    for found in faces:
        # A face whose eyes and mouth fall together, or outside of the picture, is none to go by.
        try:
            crop = align(picture, found.landmarks)
        except BadInput:
            continue
        seen.append(Seen(found, crop, judge(crop, found.landmarks, found.box, found.score, time)))
    return seen


def _seen(track: Track) -> SeenTrack:
    return SeenTrack(
        track.number,
        tuple(kept.sighting for kept in track.seen),
        tuple(kept.picture for kept in track.seen),
        frozenset(track.together),
        track.total,
        track.after,
    )
