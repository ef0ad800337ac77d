"""Dates: when a photo or film was taken, as it says itself; never guessed from its name or place on the disk.

Of a photo the EXIF field DateTimeOriginal counts, with OffsetTimeOriginal where a camera writes it: without
one the time is that of the camera's clock, wherever that was. Of a film the creation time of the container
counts, which is in UTC, or the one with an offset that telephones write beside it. What cannot be the time of
a recording is unknown: clocks that were never set, dates that have not come yet, and what is no date at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, Final

from PIL import ExifTags, Image

from lookalike.errors import BadInput, unreadable
from lookalike.ingest.files import START, recognise
from lookalike.ingest.pictures import DAMAGE, FORMATS, HEIF, TOO_LARGE, looks_like_heif
from lookalike.ingest.video import open_video

# Zero of QuickTime's clock is the first second of 1904: no earlier year is believed, nor that one.
FIRST_YEAR: Final = 1905
# Zero of Unix's clock, and of the file system of memory cards: cameras whose clocks were never set say this.
ZEROS: Final = (datetime(1970, 1, 1), datetime(1980, 1, 1))
# Clocks ahead of ours in other time zones, or a little wrong, still tell the truth.
AHEAD: Final = timedelta(days=1)
# Tags of a film, the surest first.
FILM_TAGS: Final = ("com.apple.quicktime.creationdate", "creation_time")

_EXIF: Final = re.compile(r"(\d{4}):(\d\d):(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.\d+)?", re.ASCII)
_OFFSET: Final = re.compile(r"([+-])(\d\d):?(\d\d)", re.ASCII)


def captured(path: Path) -> str:
    """When a photo or film was taken, as `lookalike.gallery.media.MediaFile.captured` writes it.

    Returns
    -------
    str
        Empty if the file does not say, or says what cannot be.

    Raises
    ------
    NotFound, BadInput
        If there is no such file, or it may not be read.
    """
    try:
        with path.open("rb") as stream:
            start = stream.read(START)
            media = recognise(start)
            stream.seek(0)
            if media is None:
                return ""
            said = _photo(stream, start) if media.kind == "photo" else _film(stream, media.container)
    except OSError as reason:
        raise unreadable(path, reason) from None
    return "" if said is None else said.isoformat(timespec="seconds")


def exif_time(said: object, offset: object = "") -> datetime | None:
    """The time that EXIF writes as ``2019:07:14 12:30:05``, with an offset as ``+02:00`` if it has one.

    Returns
    -------
    datetime or None
        None if it is no time, or cannot be that of a recording.
    """
    found = _EXIF.fullmatch(_text(said))
    zone = _OFFSET.fullmatch(_text(offset))
    if found is None:
        return None
    year, month, day, *clock = found.groups()
    east = "" if zone is None else f"{zone[1]}{zone[2]}:{zone[3]}"
    return believable(f"{year}-{month}-{day}T{':'.join(clock)}{east}")


def film_time(tags: Mapping[str, str]) -> datetime | None:
    """The time in the tags of a film, as ``2019-07-14T10:30:05.000000Z`` or ``2019-07-14T12:30:05+0200``."""
    for name in FILM_TAGS:
        if name in tags and (found := believable(_text(tags[name]))) is not None:
            return found
    return None


def believable(said: str) -> datetime | None:
    """A time of ISO 8601 to the second, if something can have been recorded then."""
    try:
        time = datetime.fromisoformat(said).replace(microsecond=0)
        # Year 1 in a zone east of Greenwich is before the first: such a time has no moment in UTC.
        moment = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    is_past = time.year >= FIRST_YEAR and moment <= datetime.now(UTC) + AHEAD
    return time if is_past and time.replace(tzinfo=None) not in ZEROS else None


def _photo(stream: IO[bytes], start: bytes) -> datetime | None:
    formats: tuple[str, ...] = FORMATS
    if looks_like_heif(start):
        try:
            import pillow_heif
        except ImportError:
            return None
        pillow_heif.register_heif_opener(thumbnails=False)
        formats = (HEIF,)
    # Whoever decodes the photo says what is wrong with it.
    with suppress(*DAMAGE, *TOO_LARGE), Image.open(stream, formats=formats) as image:
        tags: Mapping[int, Any] = image.getexif().get_ifd(ExifTags.IFD.Exif)
        return exif_time(
            tags.get(ExifTags.Base.DateTimeOriginal), tags.get(ExifTags.Base.OffsetTimeOriginal, "")
        )
    return None


def _film(stream: IO[bytes], container: str) -> datetime | None:
    with suppress(BadInput), open_video(stream, container) as video:
        return film_time(video.tags)
    return None


def _text(said: object) -> str:
    """A tag as text: some come as bytes, with zeros behind them; and many spaces stand for no time."""
    text = said.decode("latin-1") if isinstance(said, bytes) else said if isinstance(said, str) else ""
    return text.strip(" \0")
