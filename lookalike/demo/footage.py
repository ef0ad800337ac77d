"""Footage: a drawn video with cuts and several people, of which is known who is seen where and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from lookalike import atomic
from lookalike.demo.films import script
from lookalike.demo.people import Person, View, draw_person
from lookalike.demo.scenes import SHORTEST, Grain, Pillar, Shot, Take, backdrop, cutout, paste_pillar, shots
from lookalike.errors import BadInput, StorageFailed

if TYPE_CHECKING:
    from av.container import OutputContainer
    from av.video.stream import VideoStream


LOOKS: Final = 7  # faces drawn for a second of film: between them a face moves, but keeps its look
SEEN: Final = 0.5  # a face of which less is visible ends its track
BRIDGED: Final = 1.0  # seconds without a face that do not end its track
# The box that a detector gives, in halves of the height of the head from the middle of the head.
FACE_TOP, FACE_LOW = -0.72, 1.00

_TAKE: Final = 8  # spawn key, apart from those of people, films, collections and scripts
_LEAST_SCALE: Final = 0.5  # of pictures compared with 640 by 360: faces of smaller ones could not be found


@dataclass(frozen=True, eq=False)
class DrawnTrack:
    """One face from where it comes into view until it goes, or until the cut.

    Parameters
    ----------
    person : int
        Index for `draw_person`, with the seed of the video.
    times : array (n,)
        Seconds, one for every frame from the first in which half of the face or more is visible to the last.
    boxes, visible : array (n, 4) and array (n,)
        Left, top, width, height of the face in pixels at these times, visible or not, and which share of that
        is inside the picture and not hidden.
    """

    person: int
    times: NDArray[np.float64]
    boxes: NDArray[np.float64]
    visible: NDArray[np.float64]

    @property
    def start(self) -> float:
        """Seconds at the first frame."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Seconds at the last frame."""
        return float(self.times[-1])

    def box(self, time: float) -> tuple[float, float, float, float]:
        """Left, top, width and height at the frame nearest to a time."""
        left, top, width, height = self.boxes[np.abs(self.times - time).argmin()].tolist()
        return left, top, width, height


@dataclass(frozen=True, eq=False)
class DrawnFootage:
    """A video that is drawn when it is looked at: so many frames a second of a width and height.

    The seed says of which world the people are, which rooms, and who plays what in the script (`shots`).
    The tracks are the truth about faces, in the order of their start, then from left to right.
    """

    rate: float
    size: tuple[int, int]
    seed: int
    difficulty: float
    shots: tuple[Shot, ...]
    tracks: tuple[DrawnTrack, ...]

    def __len__(self) -> int:
        return self.shots[-1].end

    @property
    def cuts(self) -> tuple[float, ...]:
        """Seconds at the first frame of every shot but the first."""
        return tuple(shot.first / self.rate for shot in self.shots[1:])

    def frames(self, every: int = 1) -> Iterator[NDArray[np.uint8]]:
        """Draw frame after frame (height, width, 3): with 5, the first, sixth, eleventh ..., as among all."""
        if every < 1:
            raise BadInput(f"every counts frames from one to the next, 1 or more, got {every}")
        grain = Grain(self.size, self.difficulty)
        for shot in self.shots:
            for number, frame in self._drawn(shot, every):
                yield grain.over(frame, number)

    def _drawn(self, shot: Shot, every: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        width, height = self.size
        numbers = np.arange(shot.first, shot.end)
        times = (numbers - shot.first) / self.rate
        # A camera that pans sees that much more of the room.
        offsets = (shot.scene.pan * times * width).round().astype(int)
        offsets -= offsets.min()
        room = backdrop(shot.room, width + int(offsets.max()), height, self.seed)
        # Whoever stands lower in the picture stands nearer, and is painted last.
        actors = [_Actor(self, shot, number) for number in range(len(shot.scene.takes))]
        actors.sort(key=lambda actor: float(actor.middles[0, 1]))
        for at in range(-shot.first % every, len(numbers), every):
            frame = room[:, offsets[at] : offsets[at] + width].copy()
            for actor in actors:
                actor.paste(frame, at)
            if shot.scene.pillar is not None:
                left, right = _pillar(shot.scene.pillar, times[at : at + 1], self.size)
                paste_pillar(frame, float(left[0]), float(right[0]))
            yield int(numbers[at]), frame


def draw_footage(
    people: int = 4,
    seconds: float = 20.0,
    rate: float = 25.0,
    size: tuple[int, int] = (640, 360),
    seed: int = 0,
    difficulty: float = 0.2,
) -> DrawnFootage:
    """Plan a video; nothing is drawn before its frames are asked for.

    Parameters
    ----------
    people : int
        How many play in it, at least 2; with 8 or fewer, everybody is seen in the first 20 seconds.
    seconds : float
        Length; 20 seconds show every scene once, see `lookalike.demo.scenes`.
    rate : float
        Frames a second, at least 10.
    size : tuple of int
        Width and height in pixels, even, at least half of 640 by 360; faces grow with it.
    seed : int
        Which video.
    difficulty : float
        From 0, all faces well lit, to 1.

    Returns
    -------
    DrawnFootage
    """
    _check(people, seconds, rate, size, seed, difficulty)
    plan = tuple(shots(people, seconds, rate, seed))
    tracks = [
        track for shot in plan for take in shot.scene.takes for track in _tracks(shot, take, rate, size, seed)
    ]
    tracks.sort(key=lambda track: (track.start, float(track.boxes[0, 0])))
    return DrawnFootage(rate, size, seed, difficulty, plan, tuple(tracks))


class _Actor:
    """A take while it is filmed: keeps the look of the moment."""

    def __init__(self, film: DrawnFootage, shot: Shot, number: int) -> None:
        self.take = shot.scene.takes[number]
        self.person = draw_person(film.seed, self.take.person)
        self.rate = film.rate
        self.scale = _scale(film.size)
        count = shot.end - shot.first
        self.middles = _middles(self.take, self.person, np.arange(count) / film.rate, film.size)
        sequence = np.random.SeedSequence(film.seed, spawn_key=(_TAKE, shot.room, number))
        looks = int((count - 1) / film.rate * LOOKS) + 1
        self.views: list[View] = script(np.random.default_rng(sequence), looks, film.difficulty)
        self.look = -1

    def paste(self, frame: NDArray[np.uint8], at: int) -> None:
        look = int(at / self.rate * LOOKS)
        if look != self.look:
            self.look = look
            self.cutout = cutout(self.person, self.views[look], self.take.width * self.scale)
        self.cutout.paste(frame, *self.middles[at].tolist())


def _tracks(shot: Shot, take: Take, rate: float, size: tuple[int, int], seed: int) -> Iterator[DrawnTrack]:
    """Cut a take where less than half of the face is seen for longer than a moment."""
    person = draw_person(seed, take.person)
    times = np.arange(shot.end - shot.first) / rate
    unit = _unit(take, person, size)
    width = take.width * _scale(size)
    corner = _middles(take, person, times, size) + np.array((-width / 2, FACE_TOP * unit))
    boxes = np.column_stack([corner, np.full((len(times), 2), (width, (FACE_LOW - FACE_TOP) * unit))])
    visible = _visible(shot, times, boxes, size)
    seen = np.flatnonzero(visible >= SEEN)
    breaks = np.flatnonzero(np.diff(seen) > BRIDGED * rate) + 1
    for run in np.split(seen, breaks):
        part = slice(run[0], run[-1] + 1)
        yield DrawnTrack(take.person, (times + shot.first / rate)[part], boxes[part], visible[part])


def _visible(
    shot: Shot, times: NDArray[np.float64], boxes: NDArray[np.float64], size: tuple[int, int]
) -> NDArray[np.float64]:
    """Share of each box that is in the picture and not behind the pillar."""
    left, top = boxes[:, 0], boxes[:, 1]
    right, low = left + boxes[:, 2], top + boxes[:, 3]
    inside_left, inside_right = left.clip(0, size[0]), right.clip(0, size[0])
    across = inside_right - inside_left
    if shot.scene.pillar is not None:
        first, last = _pillar(shot.scene.pillar, times, size)
        across = across - (np.minimum(inside_right, last) - np.maximum(inside_left, first)).clip(0)
    down = low.clip(0, size[1]) - top.clip(0, size[1])
    return across * down / (boxes[:, 2] * boxes[:, 3])


def _pillar(
    pillar: Pillar, times: NDArray[np.float64], size: tuple[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Left and right edge of a pillar, in pixels."""
    scale = _scale(size)
    middle = pillar.across * size[0] + (times - pillar.time) * pillar.speed * scale
    return middle - pillar.width * scale / 2, middle + pillar.width * scale / 2


def _middles(
    take: Take, person: Person, times: NDArray[np.float64], size: tuple[int, int]
) -> NDArray[np.float64]:
    """Middle of the head (n, 2) in pixels, for the middle of the face to be where the take wants it."""
    lift = (FACE_TOP + FACE_LOW) / 2 * _unit(take, person, size)
    return take.places(times) * size - (0.0, lift)


def _unit(take: Take, person: Person, size: tuple[int, int]) -> float:
    """Half the height of the head in pixels."""
    return take.width * _scale(size) / (2 * person.head.width)


def _scale(size: tuple[int, int]) -> float:
    return min(size[0] / 640, size[1] / 360)


def _check(
    people: int, seconds: float, rate: float, size: tuple[int, int], seed: int, difficulty: float
) -> None:
    if people < 2:
        raise BadInput(f"a video has 2 people or more, since some scenes show two, got people {people}")
    if not SHORTEST <= seconds <= 86_400:
        raise BadInput(f"a video lasts from {SHORTEST} seconds to a day, got seconds {seconds}")
    if not 10 <= rate <= 240:
        raise BadInput(f"a video has 10 to 240 frames a second, got rate {rate}: 25 is the default")
    if _scale(size) < _LEAST_SCALE or size[0] % 2 or size[1] % 2:
        raise BadInput(f"size is two even numbers, at least (320, 180), got {size}: for instance (640, 360)")
    if seed < 0:
        raise BadInput(f"a seed is 0 or more, got {seed}: any such number makes a video")
    if not 0 <= difficulty <= 1:
        raise BadInput(f"difficulty lies between 0 and 1, got {difficulty}: 0.2 is the default")


# Suffix: container, and codecs of which the first that is there is taken.
_H264: Final = ("libx264", "mpeg4")
CONTAINERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    ".mp4": ("mp4", _H264),
    ".m4v": ("mp4", _H264),
    ".mov": ("mov", _H264),
    ".mkv": ("matroska", _H264),
    ".avi": ("avi", ("mpeg4",)),  # AVI has no place for the times of H.264
    ".webm": ("webm", ("libvpx", "libvpx-vp9")),
    ".ts": ("mpegts", _H264),
    ".mts": ("mpegts", _H264),
    ".m2ts": ("mpegts", _H264),
}
_TICKS: Final = 30_000  # a second, for frames that come at times of their own


def write_footage(
    path: Path,
    frames: Iterable[NDArray[np.uint8]],
    rate: float = 25.0,
    times: Iterable[float] | None = None,
    rotation: int = 0,
    quality: int = 20,
    options: Mapping[str, str] | None = None,
) -> None:
    """Write frames as a video, as they come.

    Parameters
    ----------
    path : Path
        The suffix says which container: see `CONTAINERS`.
    frames : iterable of array (height, width, 3)
        Red, green, blue bytes, all of one even size.
    rate : float
        Frames a second.
    times : iterable of float, optional
        Seconds of each frame, growing, for a variable rate; `rate` is then what the file says it has.
    rotation : int
        Degrees by which players shall turn the frames counterclockwise, as phones write it: 90, 180 or 270.
    quality : int
        The encoder's constant quality, from 0, the best, to 51.
    options : mapping of str to str, optional
        For the container, such as ``{"movflags": "faststart"}``.

    Raises
    ------
    BadInput
        If the frames cannot be written so, or PyAV is missing.
    StorageFailed
        If the disk refuses.
    """
    try:
        import av
    except ImportError as reason:
        raise BadInput(
            "writing a video needs PyAV, which cannot be imported: pip install 'lookalike[video]'"
        ) from reason
    suffix = path.suffix.lower()
    if suffix not in CONTAINERS:
        raise BadInput(f"a video is named {', '.join(CONTAINERS)}, got {path.name!r}: choose one of these")
    container, codecs = CONTAINERS[suffix]
    if rotation % 90:
        raise BadInput(f"a video is turned by a multiple of 90 degrees, got rotation {rotation}")
    coming = iter(frames)
    first = next(coming, None)
    if first is None:
        raise BadInput("a video has 1 frame or more, got none")
    size = _size(first)
    try:
        # Unbuffered, since ffmpeg may read by its name what it wrote.
        with (
            atomic.writing(path, over=True, durable=False, buffered=False) as aside,
            av.open(aside, "w", format=container, container_options=dict(options or {})) as file,
        ):
            stream = _stream(file, codecs, size, Fraction(rate).limit_denominator(1001), quality)
            if times is not None:
                stream.codec_context.time_base = Fraction(1, _TICKS)
            if rotation:
                stream.set_display_rotation(rotation)
            moments = None if times is None else iter(times)
            for number, picture in enumerate(chain([first], coming)):
                if _size(picture) != size:
                    raise BadInput(f"frame {number} has the size {_size(picture)}, but the first has {size}")
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
                frame.pts = number if moments is None else _ticks(moments, number)
                frame.time_base = stream.codec_context.time_base
                file.mux(stream.encode(frame))
            file.mux(stream.encode(None))
    except (OSError, av.FFmpegError) as problem:
        raise StorageFailed(f"cannot write the video {path}: {problem}") from problem


def _stream(
    file: OutputContainer, codecs: tuple[str, ...], size: tuple[int, int], rate: Fraction, quality: int
) -> VideoStream:
    import av

    name = next((name for name in codecs if name in av.codecs_available), None)
    if name is None:
        raise BadInput(f"PyAV was built without {' and '.join(codecs)}: write another kind of file")
    stream: VideoStream = file.add_stream(name, rate=rate)  # type: ignore[assignment]
    stream.width, stream.height = size
    stream.pix_fmt = "yuv420p"
    stream.codec_context.time_base = 1 / rate
    if name == "libx264":
        stream.options = {"crf": str(quality), "preset": "veryfast"}
    elif name == "mpeg4":
        stream.options = {"qscale": str(2 + quality // 4), "flags": "+qscale"}
    else:
        stream.options = {"crf": str(quality), "b": "4M", "deadline": "realtime", "cpu-used": "6"}
    return stream


def _ticks(moments: Iterator[float], number: int) -> int:
    moment = next(moments, None)
    if moment is None:
        raise BadInput(f"times has {number} entries, but there are more frames: give one for each")
    return round(moment * _TICKS)


def _size(frame: NDArray[np.uint8]) -> tuple[int, int]:
    height, width = frame.shape[:2]
    if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8 or width % 2 or height % 2:
        raise BadInput(
            f"a frame is an array (height, width, 3) of bytes, height and width even, "
            f"got {frame.shape} of {frame.dtype}"
        )
    return width, height
