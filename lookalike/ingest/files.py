"""Files: the photos and films below a folder, told by their first bytes, in an order that people expect."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Literal, NamedTuple

from lookalike.errors import BadInput, is_folder, leads_out, readable, unreadable
from lookalike.faceset import natural_order
from lookalike.ingest.pictures import SUFFIXES, looks_like_picture
from lookalike.ingest.readers.folders import is_hidden

# Three packets of a transport stream with time codes (192 bytes each), and some more.
START: Final = 1024

VIDEO_SUFFIXES: Final = frozenset(
    {".3gp", ".avi", ".flv", ".m2ts", ".m4v", ".mkv", ".mov", ".mp4"}
    | {".mpeg", ".mpg", ".mts", ".ogv", ".ts", ".vob", ".webm", ".wmv"}
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


@contextmanager
def recognised(path: Path) -> Iterator[tuple[IO[bytes], Media | None]]:
    """A file, open at its start, and what it holds; NotFound or BadInput if it cannot be read."""
    try:
        with path.open("rb") as stream:
            media = recognise(stream.read(START))
            stream.seek(0)
            yield stream, media
    except OSError as reason:
        raise unreadable(path, reason) from None


def promises_media(path: Path) -> bool:
    """Whether the name promises a film or photo, so that its absence is worth telling."""
    return path.suffix.lower() in VIDEO_SUFFIXES | SUFFIXES


# Smaller files are read in a moment, holes and all; and some systems pack what is small.
HOLLOW_FROM: Final = 2**30


@dataclass(frozen=True)
class MediaPath:
    """One photo or film that was found.

    It is called by its path below the folder that was given, with ``/``; its album is called like its
    folder, or is empty if the file itself was given. `changed` is when it was last written, in
    nanoseconds.
    """

    path: Path
    name: str
    album: str
    media: Media
    size: int
    changed: int

    def sha256(self) -> str:
        """SHA-256 of its content, which this reads; NotFound or BadInput if it cannot."""
        try:
            with self.path.open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as reason:
            raise unreadable(self.path, reason) from None


@dataclass
class FoundFiles:
    """What a walk came upon: photos and films, what cannot be read and why, and how many others by reason."""

    media: list[MediaPath] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    @property
    def reasons(self) -> str:
        """Why files were left out, in words: how many for each reason."""
        told = self.others + Counter({"cannot be read": len(self.failed)})
        return ", ".join(f"{why}: {count}" for why, count in told.items())


def find_all(sources: Sequence[Path]) -> FoundFiles:
    """Find the photos and films of several folders and files, one after the other; see `find_files`.

    Raises NotFound or BadInput if one of them cannot be read, or none holds anything.
    """
    found = FoundFiles()
    for source in sources:
        one = find_files(source)
        found.media += one.media
        found.failed += one.failed
        found.others += one.others
    if not (found.media or found.failed):
        raise BadInput(
            f"{', '.join(repr(readable(one)) for one in sources)} holds no photo and no video: give a folder "
            f"that does, or ready-made faces"
        )
    return found


def find_files(source: Path) -> FoundFiles:
    """Find the photos and films of a folder and its folders, or take the one file that is given.

    Hidden files, system files and links to folders are left out. What cannot be read is listed, and so is
    a link that leads out of the folder; the rest is found all the same. Raises NotFound or BadInput if
    the source itself is not there or cannot be read, or is a file that is neither photo nor film.
    """
    found = FoundFiles()
    if not is_folder(source):
        _look(found, source, _shown(source.name), "")
        if not (found.media or found.failed):
            raise BadInput(f"{readable(source)!r} is neither a photo nor a video that can be read")
        return found
    for _ in _walk(source, found):
        pass
    return found


def holds_media(folder: Path) -> bool:
    """Whether `find_files` would find anything in a folder, or miss something; it looks no further."""
    found = FoundFiles()
    return any(found.media or found.failed for _ in _walk(folder, found))


def _walk(source: Path, found: FoundFiles) -> Iterator[None]:
    """Put every file below a folder where it belongs, one at each step."""
    try:
        os.listdir(source)
    except OSError as reason:
        raise unreadable(source, reason) from None
    top = _shown(Path(os.path.abspath(source)).name) or "/"

    def refuse(reason: OSError) -> None:
        place = Path(reason.filename or source)
        found.failed.append((readable(place), str(unreadable(place, reason))))

    # Links to folders are not followed: they may lead back up.
    for place, folders, files in os.walk(source, onerror=refuse, followlinks=False):
        folder = Path(place)
        shown_folders = [name for name in folders if not is_hidden(name)]
        # What is in a folder that is left out is not counted: nobody looks into it.
        found.others += Counter(
            {
                "hidden folders": len(folders) - len(shown_folders),
                "links to folders": sum((folder / name).is_symlink() for name in shown_folders),
                "hidden or of the system": sum(map(is_hidden, files)),
            }
        )
        folders[:] = sorted(shown_folders, key=natural_order)
        below = folder.relative_to(source).as_posix()
        for name in sorted((name for name in files if not is_hidden(name)), key=natural_order):
            shown = name if below == "." else f"{below}/{name}"
            if leads_out(folder / name, source):
                _leave_out(found, folder / name, source)
            else:
                _look(found, folder / name, _shown(shown), top if below == "." else _shown(below))
            yield
    yield


def _leave_out(found: FoundFiles, path: Path, source: Path) -> None:
    """List a link that leads out of the source, if its name promises anything; it is not opened."""
    if promises_media(path):
        told = f"{readable(path)!r} is a link that leads out of {readable(source)!r}: give what it leads to"
        found.failed.append((readable(path), told))
    else:
        found.others["links that lead out"] += 1


def _look(found: FoundFiles, path: Path, name: str, album: str) -> None:
    """Put one file where it belongs."""
    try:
        # What is not a plain file (a pipe, a lost link) could be read for ever, or not at all.
        if not path.is_file():
            if promises_media(path):
                told = "no file but a pipe, a socket, a device or a lost link: take it away"
                found.failed.append((readable(path), f"{readable(path)!r} is {told}"))
            else:
                found.others["no files (pipes, sockets, devices, lost links)"] += 1
            return
        with path.open("rb") as stream:
            said = os.fstat(stream.fileno())
            start = stream.read(START)
    except OSError as reason:
        found.failed.append((readable(path), str(unreadable(path, reason))))
        return
    media = recognise(start)
    if media is not None and _is_hollow(said):
        told = "hardly there: it says that it is much longer than what was ever written of it"
        found.failed.append((readable(path), f"{readable(path)!r} is {told}: get it again, or take it away"))
    elif media is not None:
        found.media.append(MediaPath(path, name, album, media, said.st_size, said.st_mtime_ns))
    elif promises_media(path):
        what = "empty" if not start else "neither a photo nor a video, whatever its name says"
        found.failed.append((readable(path), f"{readable(path)!r} is {what}: replace it or take it away"))
    else:
        found.others["neither photos nor videos"] += 1


def _is_hollow(said: os.stat_result) -> bool:
    """Whether a large file is almost all holes, as an unfinished download is: reading it would take hours."""
    written = getattr(said, "st_blocks", said.st_size) * 512  # not every system tells
    return said.st_size > HOLLOW_FROM and written < said.st_size / 10


def _shown(name: str) -> str:
    """A name that a set can have: bytes that are no text, and characters that steer a terminal, by number."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in readable(name))
