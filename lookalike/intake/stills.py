"""Stills: a photo, or one frame of a film, as people see it."""

from __future__ import annotations

from pathlib import Path

from lookalike.errors import BadInput
from lookalike.intake.paths import readable, unreadable
from lookalike.intake.pictures import Picture, read_picture
from lookalike.intake.recognition import START, recognise
from lookalike.intake.video import open_video


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
