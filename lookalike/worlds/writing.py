"""Writing: frames as a video file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from lookalike import disk
from lookalike.errors import BadInput, StorageFailed

if TYPE_CHECKING:
    from av.container import OutputContainer
    from av.video.stream import VideoStream

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
            "writing a video needs PyAV, which cannot be imported: pip install 'lookalike[footage]'"
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
            disk.writing(path, over=True, durable=False, buffered=False) as aside,
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
