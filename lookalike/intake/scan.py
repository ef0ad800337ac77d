"""Scan: one photo or film becomes the faces it shows, a track for each person of each shot."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path
from time import monotonic

from lookalike.errors import BadInput
from lookalike.intake.alignment import align, encode_square
from lookalike.intake.detector import Detector
from lookalike.intake.paths import unreadable
from lookalike.intake.pictures import Picture, read_picture
from lookalike.intake.quality import judge
from lookalike.intake.recognition import START, recognise
from lookalike.intake.seen import SeenFile, SeenTrack, Settings
from lookalike.intake.shots import Cuts, thumbnail
from lookalike.intake.tracks import Seen, Track, Tracker
from lookalike.intake.video import open_video

# At least so often the child tells how far it is, in seconds.
OFTEN = 0.5


def scan(path: Path, settings: Settings) -> Iterator[float | SeenTrack | SeenFile]:
    """Look for faces in a photo or film.

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
        yield from _film(path, media.container, settings)


def _photo(path: Path, settings: Settings) -> Iterator[SeenTrack | SeenFile]:
    faces = _faces(read_picture(path), Detector(settings.photo, settings.smallest))
    numbers = frozenset(range(1, len(faces) + 1))
    for number, seen in enumerate(faces, start=1):
        yield SeenTrack(number, (seen.sighting,), (encode_square(seen.crop),), numbers - {number}, 1)
    yield SeenFile(())


def _film(path: Path, container: str, settings: Settings) -> Iterator[float | SeenTrack | SeenFile]:
    detector, tracker, cuts = Detector(settings.frame, settings.smallest), Tracker(settings.most), Cuts()
    step, looked, said, time = 1 / settings.rate, -1, monotonic(), None
    with path.open("rb") as stream, open_video(stream, container) as video:
        until = inf if settings.until is None else settings.until
        for frame in video.frames(settings.since, until):
            time = frame.time
            if monotonic() - said > OFTEN:
                said = monotonic()
                yield time
            if time < settings.since:
                continue
            if cuts.is_cut(thumbnail(frame.brightness())):
                yield from map(_seen, tracker.cut(time))
                looked = -1
            # Frames are looked at on a fixed grid of times, and first thing after a cut.
            if int(time / step + 1e-6) != looked:
                looked = int(time / step + 1e-6)
                ended = tracker.see(time, _faces(frame.picture(), detector, time))
                yield from map(_seen, ended)
        yield from map(_seen, tracker.end())
        if time is None and not settings.since:
            raise BadInput("holds no frame that can be decoded: copy it again, or leave it out")
        yield SeenFile((), max(video.seconds, time or 0.0), video.remark)


def _faces(picture: Picture, detector: Detector, time: float | None = None) -> list[Seen]:
    """Faces of one picture, from left to right."""
    seen = []
    for found in detector.find(picture):
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
