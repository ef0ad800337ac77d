"""Tracks: the faces of a photo or film, joined to one track for each person through one shot.

A face continues the track that it fits best by place (overlap of boxes, the track's moved on as it moved
before) and by appearance; what does not look alike at all starts a new track, even in the same place. Tracks
that were seen in one frame are certainly of different people, and know of each other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.faceset import UNSURE, Sighting
from lookalike.ingest.align import SIDE, align, encode_square, judge
from lookalike.ingest.detect import Detector, Found, opencv, sure_faces
from lookalike.ingest.files import recognised
from lookalike.ingest.header import captured, film_time, written
from lookalike.ingest.pictures import Picture, read_picture
from lookalike.ingest.seen import SAME, SeenFile, SeenTrack, Settings, best_pairs
from lookalike.ingest.shots import Cuts, thumbnail
from lookalike.ingest.video import Video, open_video
from lookalike.kernels.threads import in_order

# Appearance. Half of it is a gray patch, compared by correlation: features, hair, what is around. The other
# half is which colours there are, wherever they are: a head that turns keeps them. Measured on 75 filmed
# videos of five frames that lie seconds apart: the likeness of neighbouring frames is .42 or more, and .64 or
# more for 95 of 100 (by the patch alone -.13 and .34; a turn of the head was enough). That of frames of
# different people, who are in other places, is .31 in the middle and under .58 for 95 of 100. People who
# share a stage and its light are more alike, .56 to .76 in the one video that has such.

PATCH: Final = 24  # side of the gray patch
GRID: Final = 48  # side of the picture whose colours are counted
LEVELS: Final = (4, 8, 8)  # of brightness, red against green, blue against both
# Colours of faces and rooms lie in the middle half of both axes; what is outside counts as on its edge.
NARROW: Final = 64.0


def look(square: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Describe an aligned square (192, 192, 3), as `lookalike.ingest.align.align` makes it: (832,).

    It has length 1, or less where there is nothing to see; the likeness of two is their dot product.
    """
    if square.shape != (SIDE, SIDE, 3):
        raise BadInput(f"an aligned square has shape {(SIDE, SIDE, 3)}, got {square.shape}")
    cv2 = opencv()
    colours = cv2.resize(square, (GRID, GRID), interpolation=cv2.INTER_AREA).astype(np.float32)
    luma = colours @ np.array([0.299, 0.587, 0.114], np.float32)
    gray = cv2.resize(luma, (PATCH, PATCH), interpolation=cv2.INTER_AREA).ravel()
    return np.concatenate([_unit(gray - gray.mean()), _unit(np.sqrt(_counts(colours)))]) * np.sqrt(0.5)


def _counts(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    red, green, blue = np.moveaxis(colours, 2, 0)
    bright, reddish, bluish = LEVELS
    places = (
        (red + green + blue) / 768 * bright,
        ((red - green) / 2 + NARROW) / (2 * NARROW) * reddish,
        ((blue - (red + green) / 2) / 2 + NARROW) / (2 * NARROW) * bluish,
    )
    bins = [place.astype(int).clip(0, most - 1) for place, most in zip(places, LEVELS, strict=True)]
    flat = np.ravel_multi_index(tuple(bins), LEVELS).ravel()
    return np.bincount(flat, minlength=bright * reddish * bluish).astype(np.float32)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    # A gray level is the least that counts as contrast, so that rounding of a plain square is not blown up.
    return vector / max(float(np.linalg.norm(vector)), 1.0)


Box = NDArray[np.float64]

# Likeness below which a face is another person's, even in the same place. Of 300 frames of filmed videos,
# seconds apart, none is below it to all frames before; of frames of different people, in other places, 81 of
# 100 are.
ALIKE: Final = 0.5
# Likeness counts so many times as much as overlap, so that people who pass each other keep their tracks.
WEIGHT: Final = 5.0
# Boxes are enlarged so many times before their overlap is taken, since a head may move by its width in 0.2 s.
REACH: Final = 2.0
# Behind a cut a face may be the same person if the enlarged boxes overlap by more than this,
NEARBY: Final = 0.1
# and is in the same place if the boxes as they are do: moved by less than two thirds of the width. Elsewhere
# looks do not count: of 40 pairs of tracks on both sides of cuts in real films six show two people who look
# the same (`SAME`), and dlib's network took four of these for one; none overlaps by more than .17.
PLACE: Final = 0.2
ELSEWHERE: Final = SAME - 0.01  # as alike as two may look there
# From one look to the next no face becomes so many times as wide, or that part of it: of 1,090 steps in real
# films the largest was 1.7, but for one from a man to a woman behind him.
GROWTH: Final = 2.0
# Behind a cut, where dlib's network took a boy for a woman of half his size: of 87 jumps of one person in
# stills of filmed videos the largest was 1.2.
GROWTH_BEHIND_CUT: Final = 1.5
# Looks of a track that new faces are compared with; one that differs by less than FRESH says nothing new.
LOOKS: Final = 8
FRESH: Final = 0.95


@dataclass(frozen=True, eq=False)
class Seen:
    """One face of a sampled frame: as found, its aligned square, how well it was seen."""

    found: Found
    crop: NDArray[np.uint8]
    sighting: Sighting


@dataclass(frozen=True)
class Kept:
    """One face of a track that is kept: how it was seen, and its aligned square, encoded."""

    sighting: Sighting
    picture: bytes


@dataclass(eq=False)
class Track:
    """One person through one shot, from the first face to the last.

    Tracks are numbered from 0 in the order of their start, those of one frame from left to right; numbers
    of tracks that were dropped as noise are missing. The faces that are kept of a `total` come in order
    of time, spread evenly. `together` are the tracks that were in a frame together with this one. `after`
    is the track that the cut before this one ended, and its likeness, if its face was nearby and not
    unlike: a film may jump within one scene. Unless it was in the very same place, the likeness is no
    more than `ELSEWHERE`. Whether it is the same person is for others to say (`lookalike.ingest.seen`).
    """

    number: int
    start: float
    end: float
    seen: list[Kept] = field(default_factory=list)
    total: int = 0
    together: set[int] = field(default_factory=set)
    after: tuple[int, float] | None = None


class Tracker:
    """Joins faces to tracks, frame after frame, in memory that does not grow with the length of a shot.

    A track goes on for `gap` seconds without being seen. It is dropped as noise if it has fewer faces
    than `least`, unless its face was in every sampled frame of its shot (a shot, or a film, too short for
    more), or if the detector was never sure of it (`UNSURE`). When more than `most` of its faces are
    kept, encoded, every second is dropped, and from then on only every second of those that would have
    been kept is: so they stay spread evenly over a track of any length.
    """

    def __init__(
        self,
        most: int = 50,
        gap: float = 1.0,
        least: int = 2,
        encode: Callable[[NDArray[np.uint8]], bytes] = encode_square,
    ) -> None:
        for name, number in (("most", most), ("least", least)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise BadInput(f"{name} must be a whole number of faces from 1 up, got {number!r}")
        if not gap >= 0:
            raise BadInput(f"a gap in a track must be 0 seconds or more, got {gap!r}")
        self.most, self.gap, self.least = most, float(gap), least
        self._encode = encode
        self._open: list[_Open] = []
        self._before: list[_Open] = []  # ended by a cut, with no frame since
        self._started = 0
        self._frames = 0  # sampled in this shot
        self._frame = -np.inf  # time of the last frame
        self._time = -np.inf  # of the last frame or cut

    def see(self, time: float, faces: Sequence[Seen]) -> list[Track]:
        """Take the faces of the next sampled frame, in any order; the tracks that ended since, by number.

        The time is in seconds from the start of the film, later than that of the frame before.
        """
        self._pass(time, is_frame=True)
        lost = [track for track in self._open if time - track.track.end > self.gap + 1e-9]
        ended = self._ended(lost)
        given = sorted(faces, key=_place)
        looks = [look(face.crop) for face in given]
        boxes = np.array([face.found.box for face in given], dtype=np.float64).reshape(-1, 4)
        owners = self._owners(self._open, time, boxes, looks)
        before, self._before = self._owners(self._before, time, boxes, looks, behind_cut=True), []
        for number, face in enumerate(given):
            if number not in owners:
                owners[number] = _Open(Track(self._started, time, time))
                self._open.append(owners[number])
                self._started += 1
                if (old := before.get(number)) is not None:
                    is_there = old.overlap(time, boxes[number : number + 1], 1.0)[0] > PLACE
                    alike = float(old.likeness([looks[number]])[0])
                    owners[number].track.after = (
                        old.track.number,
                        alike if is_there else min(alike, ELSEWHERE),
                    )
            owners[number].add(time, boxes[number], looks[number])
            self._keep(owners[number], face)
        present = {owner.track.number for owner in owners.values()}
        for owner in owners.values():
            owner.track.together |= present - {owner.track.number}
        return ended

    def cut(self, time: float) -> list[Track]:
        """End all tracks, since a new shot starts at this time; return them by number."""
        self._pass(time, is_frame=False)
        # Cuts that follow each other without a frame that was looked at are one.
        self._before = self._open or self._before
        ended = self._ended(list(self._open))
        self._frames = 0
        return ended

    def end(self) -> list[Track]:
        """End all tracks, since the film is over; return them by number."""
        return self._ended(list(self._open))

    def _pass(self, time: float, is_frame: bool) -> None:
        # A cut may be told at the time of a frame; two frames are never at one time.
        if not (time > self._frame if is_frame else time >= self._frame) or not self._time <= time < np.inf:
            raise BadInput(f"frames come in the order of time, got {time!r} after {self._time!r}")
        self._time = time
        if is_frame:
            self._frame = time
            self._frames += 1

    def _owners(
        self,
        tracks: list[_Open],
        time: float,
        boxes: Box,
        looks: list[NDArray[np.float32]],
        behind_cut: bool = False,
    ) -> dict[int, _Open]:
        """Assign faces, by their place in the frame, to tracks: at most one each way."""
        if not (tracks and looks):
            return {}
        alike = np.stack([track.likeness(looks) for track in tracks])
        near = np.stack([track.overlap(time, boxes, REACH) for track in tracks])
        grown = np.stack([_growth(track.box, boxes) for track in tracks])
        is_there = near > NEARBY if behind_cut else (near > 0) | (alike >= SAME)
        fits = (alike >= ALIKE) & (grown < (GROWTH_BEHIND_CUT if behind_cut else GROWTH)) & is_there
        # What does not fit is worth nothing and is left out below, so it is the same as not assigned.
        worth = np.where(fits, near + WEIGHT * (alike - ALIKE) + 1e-6, 0.0)
        return {face: tracks[track] for track, face in best_pairs(worth) if fits[track, face]}

    def _keep(self, owner: _Open, face: Seen) -> None:
        track = owner.track
        if track.total % owner.stride == 0:
            track.seen.append(Kept(face.sighting, self._encode(face.crop)))
            if len(track.seen) > self.most:
                track.seen = track.seen[::2]
                owner.stride *= 2
        track.total += 1
        owner.surest = max(owner.surest, face.sighting.score)

    def _ended(self, tracks: list[_Open]) -> list[Track]:
        self._open = [track for track in self._open if track not in tracks]
        kept = [
            one.track
            for one in tracks
            if one.surest >= UNSURE and (one.track.total >= self.least or one.track.total == self._frames)
        ]
        return sorted(kept, key=lambda track: track.number)


class _Open:
    """A track that may go on: where its face was, how fast it moves, what it looks like."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.box: Box = np.zeros(4)
        self.stride = 1
        self.surest = 0.0
        self._velocity = np.zeros(2)  # of the centre, pixels a second
        self._looks: deque[NDArray[np.float32]] = deque(maxlen=LOOKS)

    def add(self, time: float, box: Box, seen: NDArray[np.float32]) -> None:
        if self._looks:
            self._velocity = (_centre(box) - _centre(self.box)) / (time - self.track.end)
        if not self._looks or self.likeness([seen])[0] < FRESH:
            self._looks.append(seen)
        self.box = box
        self.track.end = time

    def overlap(self, time: float, boxes: Box, reach: float) -> NDArray[np.float64]:
        """Of each box with the track's where it was, or where it is expected at a time, whichever is more."""
        shift = self._velocity * (time - self.track.end)
        expected = self.box + np.array([*shift, 0.0, 0.0])
        return np.maximum(_overlap(self.box, boxes, reach), _overlap(expected, boxes, reach))

    def likeness(self, looks: list[NDArray[np.float32]]) -> NDArray[np.float64]:
        """Of each look to the nearest of the track's."""
        return (np.stack(list(self._looks)) @ np.stack(looks).T).max(axis=0)


def _place(face: Seen) -> tuple[float, ...]:
    return (*face.found.box, *face.found.landmarks.ravel().tolist(), face.found.score)


def _centre(box: Box) -> NDArray[np.float64]:
    return box[..., :2] + box[..., 2:] / 2


def _overlap(box: Box, boxes: Box, reach: float) -> NDArray[np.float64]:
    """Intersection over union of one box with many, all enlarged about their centres."""
    sides, many = reach * box[2:], reach * boxes[:, 2:]
    apart = np.abs(_centre(boxes) - _centre(box))
    common = np.clip(np.minimum((sides + many) / 2 - apart, np.minimum(sides, many)), 0, None).prod(axis=1)
    return common / np.maximum(sides.prod() + many.prod(axis=1) - common, 1e-9)


def _growth(box: Box, boxes: Box) -> NDArray[np.float64]:
    """How many times as wide one of two boxes is as the other, by the root of their areas."""
    side, sides = np.sqrt(box[2:].prod()), np.sqrt(boxes[:, 2:].prod(axis=1))
    return np.maximum(side, sides) / np.maximum(np.minimum(side, sides), 1e-9)


# At least so often the child tells how far it is, in seconds.
OFTEN = 0.5


def scan(path: Path, settings: Settings, threads: int = 1) -> Iterator[float | SeenTrack | SeenFile]:
    """Look for faces in a photo or film.

    One thread decodes a film while the others look at frames; what is found does not depend on how many.
    How many seconds of the film have been looked at is yielded now and then, a `SeenTrack` as soon as it
    has ended, and last a `SeenFile`, without its tracks: how long the film is, and a remark.

    Raises NotFound or BadInput if it cannot be read.
    """
    with recognised(path) as (_, media):
        pass
    if media is None:
        raise BadInput("is neither a photo nor a video that can be read: leave it out")
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
    yield SeenFile((), captured=captured(path))


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
        for moment, faces in in_order(seen, _moments(video, settings), threads, is_busy=True):
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
        yield SeenFile((), max(video.seconds, time or 0.0), video.remark, written(film_time(video.tags)))


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
