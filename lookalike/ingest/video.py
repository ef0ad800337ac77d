"""Video: the frames of a film in their order, the right way up, with their times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, readable, unreadable
from lookalike.faceset import timecode
from lookalike.ingest.files import START, recognise
from lookalike.ingest.pictures import Picture, read_picture

if TYPE_CHECKING:
    import av


# 8K film has 33 million pixels a frame; what claims more would fill the memory.
MOST_PIXELS: Final = 40_000_000
# A film on a damaged disk loses some packets; one that loses so many in a row is over.
MOST_LOST: Final = 200
# Seconds by which the times of a film may jump back without being those of another film.
JUMP: Final = 1.0
# Containers that list their whole frames.
INDEXED: Final = ("mov", "matroska", "avi")
# Pixel formats whose first plane is brightness, one byte a pixel: cuts are seen in it without conversion.
_BRIGHTNESS_FIRST: Final = ("yuv", "yuvj", "nv12", "nv21", "gray")


@dataclass(frozen=True, eq=False)
class Frame:
    """One frame of a film; nothing is converted before it is asked for."""

    time: float
    decoded: Any
    turns: int

    def brightness(self) -> NDArray[np.uint8]:
        """Brightness (height, width), as it lies in the file: not turned."""
        name = self.decoded.format.name
        if name.startswith(_BRIGHTNESS_FIRST) and not name.endswith(("le", "be")):
            plane = self.decoded.planes[0]
            rows = np.frombuffer(plane, dtype=np.uint8).reshape(-1, plane.line_size)
            return rows[: self.decoded.height, : self.decoded.width]
        return np.asarray(self.decoded.to_ndarray(format="gray"))

    def picture(self) -> NDArray[np.uint8]:
        """RGB (height, width, 3), the right way up."""
        return np.ascontiguousarray(np.rot90(self.decoded.to_ndarray(format="rgb24"), self.turns))


class Video:
    """A film that is open for reading.

    Parameters
    ----------
    container : av.container.InputContainer
    """

    def __init__(self, container: av.container.InputContainer) -> None:
        self._container = container
        self._stream = container.streams.video[0]
        # Frames are decoded one after the other anyway: FFmpeg may work on several at once.
        self._stream.thread_type = "AUTO"
        # Each thread holds frames of its own, and others are looking at other films.
        self._stream.codec_context.thread_count = 2
        self.size = (self._stream.codec_context.width, self._stream.codec_context.height)
        # Why there are fewer frames than the film promises; filled by `frames`.
        self.remark = ""
        self._failure = ""

    @property
    def seconds(self) -> float:
        """How long the film says it is; 0 if it does not say."""
        if self._stream.duration and self._stream.time_base:
            return float(self._stream.duration * self._stream.time_base)
        return (self._container.duration or 0) / 1e6

    @property
    def tags(self) -> dict[str, str]:
        """What the container says of the film; where it is silent, what the stream of pictures says."""
        found = {**self._stream.metadata, **self._container.metadata}
        return {_text(name): _text(value) for name, value in found.items()}

    @property
    def rates(self) -> tuple[Fraction | None, Fraction | None]:
        """Frames a second: on average, and of the shortest frames; None where the film does not say."""
        return self._stream.average_rate or None, self._stream.base_rate or None

    @property
    def start(self) -> str:
        """The time code of the first frame as it is written in the film; empty if none is."""
        written = (self._stream, *self._container.streams, self._container)
        # Matroska writes the names of what it knows in capitals.
        found = (
            code for each in written for name, code in each.metadata.items() if name.lower() == "timecode"
        )
        return _text(next(filter(None, found), ""))[:100]

    def frames(self, since: float = 0.0, until: float = math.inf) -> Iterator[Frame]:
        """Every frame that can be decoded, with rising times from 0.

        What is damaged is left out, and what decoders can mend in part is not; `remark` says so of both.

        Parameters
        ----------
        since, until : float
            Seconds between which frames are wanted; what lies before is jumped over where the film can, and
            comes too where it cannot.
        """
        first = self._jump(since)
        last, number, in_part = -1.0, -1, 0
        rate = float(self._stream.average_rate or 25)
        for number, decoded in enumerate(self._decoded()):
            in_part += decoded.is_corrupt
            if decoded.width * decoded.height > MOST_PIXELS:
                raise _too_large(decoded.width, decoded.height)
            said = number / rate if decoded.time is None else float(decoded.time)
            first = said if first is None else first
            # A long jump back begins another clock, as in films cut together: time goes on from here.
            if last >= 0 and said - first < last - JUMP:
                first = said - last - 1 / rate
            # Times that stand still or jump back a little come from damage.
            last = max(said - first, last + 1e-3 if last >= 0 else 0.0)
            if last > until:
                return
            yield Frame(last, decoded, round(decoded.rotation / 90) % 4)
        # Behind a jump frames may be flagged that lack only those from before it.
        damage = [f"frames that are not whole: {in_part} of {number + 1}"] if in_part and not since else []
        if self._failure:
            damage.insert(0, self._failure)
        if damage:
            self.remark = f"is damaged ({'; '.join(damage)}): what could be read was taken"
        promised = self.seconds
        if not self.remark and last >= 0 and promised > last + max(1.0, 0.02 * promised):
            self.remark = f"ends at {timecode(last)}, though it says it lasts until {timecode(promised)}"

    def _jump(self, since: float) -> float | None:
        """Go to the last whole frame before a time; return when the film begins, None if it does not say."""
        stream = self._stream
        if not since or stream.start_time is None or stream.time_base is None:
            return None
        begins = float(stream.start_time * stream.time_base)
        # Where no list tells which frames are whole, a jump may land behind the last of them.
        if not self._container.format.name.startswith(INDEXED):
            return begins
        import av

        with suppress(av.error.FFmpegError):
            self._container.seek(round(since / stream.time_base) + stream.start_time, stream=stream)
        return begins

    def _decoded(self) -> Iterator[Any]:
        import av

        lost = 0
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets, None)
                if packet is None:
                    return
                found = packet.decode()
                lost = 0
            except av.error.FFmpegError as reason:
                lost += 1
                self._failure = _said(reason)
                if lost > MOST_LOST:
                    return
                continue
            yield from found


@contextmanager
def open_video(stream: IO[bytes], container: str) -> Iterator[Video]:
    """Open a film that was recognised.

    Only the container that its first bytes name is tried, and whatever it refers to outside itself
    (other files, the network) is not opened: no film leads anywhere.

    Parameters
    ----------
    stream : file
        Open for reading in binary.
    container : str
        As `recognition.recognise` tells.

    Raises
    ------
    BadInput
        If it cannot be read, shows nothing, or claims frames that are too large.
    """
    av = _library()

    def refuse(url: str, flags: int, options: dict[str, str]) -> IO[bytes]:
        raise PermissionError(f"a video may not open {url!r}")

    try:
        opened = av.open(
            stream,
            format=container,
            io_open=refuse,
            container_options={"protocol_whitelist": "none", "enable_drefs": "0", "use_absolute_path": "0"}
            if container == "mov"
            else {"protocol_whitelist": "none"},
            # Tags that are no UTF-8 are replaced; from 19 on PyAV takes them as they are, and asks nothing.
            **({"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}),
        )
    except (av.error.FFmpegError, ValueError, PermissionError) as reason:
        raise BadInput(
            f"cannot be read as a video ({_said(reason)}): copy it again, or leave it out"
        ) from None
    try:
        if not opened.streams.video and opened.streams.audio:
            raise BadInput("holds sound but no pictures: leave it out")
        if not opened.streams.video:
            raise BadInput("holds nothing that can be read: copy it again, or leave it out")
        width, height = (
            opened.streams.video[0].codec_context.width,
            opened.streams.video[0].codec_context.height,
        )
        if width * height > MOST_PIXELS:
            raise _too_large(width, height)
        yield Video(opened)
    finally:
        opened.close()


def probe(path: Path) -> float:
    """How many seconds a film says it lasts, without decoding it; 0 for what is none.

    Raises
    ------
    BadInput
        If it cannot be opened.
    """
    with path.open("rb") as stream:
        media = recognise(stream.read(START))
        if media is None or media.kind != "video":
            return 0.0
        stream.seek(0)
        with open_video(stream, media.container) as video:
            return video.seconds


def _text(written: str) -> str:
    """A tag of a film without what is no UTF-8 in it."""
    return written.encode("utf-8", "replace").decode()


def _library() -> Any:
    try:
        import av
    except ImportError:
        raise BadInput(
            "is a video, and what reads videos is not installed: pip install 'lookalike[video]'"
        ) from None
    # What FFmpeg thinks of a file is told in our words, or not at all.
    av.logging.set_level(None)
    return av


def _said(reason: Exception) -> str:
    return " ".join(str(getattr(reason, "strerror", None) or reason).split())[:200]


def _too_large(width: int, height: int) -> BadInput:
    return BadInput(
        f"claims frames of {width} x {height} pixels, over {MOST_PIXELS // 10**6} million: make it smaller"
    )


def read_still(path: Path, time: float | None = None) -> Picture:
    """Read a photo, or the frame that a film shows at a time, the right way up.

    Parameters
    ----------
    path : Path
        A photo or film.
    time : float, optional
        Seconds from the start of the film; behind its end the last frame is meant.

    Raises
    ------
    NotFound, BadInput
        If it cannot be read, or shows nothing.
    """
    try:
        with path.open("rb") as stream:
            media = recognise(stream.read(START))
            if media is None or media.kind == "photo":
                return read_picture(path)
            stream.seek(0)
            with open_video(stream, media.container) as video:
                shown = None
                for frame in video.frames(time or 0.0):
                    if shown is not None and frame.time > (time or 0.0) + 1e-3:
                        break
                    shown = frame
                if shown is None:
                    raise BadInput(f"{readable(path)!r} holds no frame that can be decoded: copy it again")
                return shown.picture()
    except OSError as reason:
        raise unreadable(path, reason) from None
