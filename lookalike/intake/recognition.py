"""Recognition: what a file is, told by its first bytes and never by its name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal, NamedTuple

from lookalike.intake.pictures import SUFFIXES, looks_like_picture

# Three packets of a transport stream with time codes (192 bytes each), and some more.
START: Final = 1024

VIDEO_SUFFIXES: Final = frozenset(
    [
        ".3gp",
        ".avi",
        ".flv",
        ".m2ts",
        ".m4v",
        ".mkv",
        ".mov",
        ".mp4",
        ".mpeg",
        ".mpg",
        ".mts",
        ".ogv",
        ".ts",
        ".vob",
        ".webm",
        ".wmv",
    ]
)
_ISO: Final = re.compile(rb"....(ftyp|moov|mdat|wide|free|skip|pnot)", re.DOTALL)
_OTHERS: Final = (
    (re.compile(rb"\x1a\x45\xdf\xa3"), "matroska"),
    (re.compile(rb"RIFF....AVI ", re.DOTALL), "avi"),
    (re.compile(rb"\0\0\x01\xba"), "mpeg"),
    (re.compile(rb"FLV\x01"), "flv"),
    (re.compile(rb"\x30\x26\xb2\x75\x8e\x66\xcf\x11"), "asf"),
    (re.compile(rb"OggS"), "ogg"),
)


class Media(NamedTuple):
    """What a file holds: a photo, or a film in a container that FFmpeg calls so."""

    kind: Literal["photo", "video"]
    container: str = ""


def recognise(start: bytes) -> Media | None:
    """Tell from the first `START` bytes of a file what it holds; None if neither photo nor film.

    Playlists and scripts that name other files are texts: they are neither, so nothing ever follows them.
    """
    if looks_like_picture(start):
        return Media("photo")
    if _ISO.match(start):
        return Media("video", "mov")
    for magic, container in _OTHERS:
        if magic.match(start):
            return Media("video", container)
    # A transport stream repeats its mark in every packet, of 188 bytes or, with time codes before them, 192.
    if any(start[first::step][:5] == b"G" * 5 for first, step in ((0, 188), (4, 192))):
        return Media("video", "mpegts")
    return None


def promises_media(path: Path) -> bool:
    """Whether the name promises a film or photo, so that its absence is worth telling."""
    return path.suffix.lower() in VIDEO_SUFFIXES | SUFFIXES
