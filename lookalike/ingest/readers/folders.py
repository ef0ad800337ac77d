"""Reader of folders of pictures: each folder that directly holds pictures is one set."""

from __future__ import annotations

import os
from collections.abc import Iterator
from logging import getLogger
from pathlib import Path
from typing import Final, NamedTuple

from lookalike.errors import BadInput, leads_out, readable, unreadable
from lookalike.faceset import check_id, evenly, natural_order
from lookalike.ingest.pictures import START, SUFFIXES, looks_like_picture, read_picture
from lookalike.ingest.sourceset import SourceSet

logger = getLogger(__name__)

# Left by file managers and disks; what starts with a dot is left out anyway.
SYSTEM_NAMES: Final = frozenset(
    {"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "__macosx", "@eadir", "$recycle.bin"}
)


class _Album(NamedTuple):
    """One folder that directly holds pictures."""

    id: str
    folder: Path
    names: tuple[str, ...]


def read_folder(path: Path, most: int | None = None) -> Iterator[SourceSet]:
    """Find the sets of a folder: its folders that directly hold pictures, itself included.

    A set is called by its path below the given folder, with ``/``; the given folder itself by its name.
    Sets and pictures come in natural order: ``0.9`` before ``0.10``. Hidden files, system files and links
    to folders are left out; files that are no pictures are ignored, with their number in the log. All
    names are checked here, the pictures when their set is reached: those of one set are in memory at a
    time, at most so many, evenly spread.

    Raises BadInput if no picture is found, a folder or picture cannot be read, one is a link that leads
    out of the folder, or a name cannot be used.
    """
    albums, others = _albums(path)
    logger.info("a folder of %d sets; %d files that are no pictures were ignored", len(albums), others)
    if not albums:
        raise BadInput(
            f"{readable(path)!r} has no picture in it, nor in its folders: give a folder of pictures"
        )
    return (_set_of(path, album, most) for album in albums)


def _albums(path: Path) -> tuple[list[_Album], int]:
    def refuse(reason: OSError) -> None:
        raise unreadable(Path(reason.filename or path), reason)

    albums: dict[str, _Album] = {}
    others = 0
    # Links to folders are not followed: they may lead back up.
    for place, folders, files in os.walk(path, onerror=refuse, followlinks=False):
        folder = Path(place)
        folders[:] = sorted((name for name in folders if not is_hidden(name)), key=natural_order)
        seen = [name for name in files if not is_hidden(name)]
        names = sorted((name for name in seen if _is_picture(folder / name, path)), key=natural_order)
        others += len(seen) - len(names)
        if names:
            below = folder.relative_to(path).as_posix()
            id = below if below != "." else Path(os.path.abspath(path)).name or "/"
            album = _Album(id, folder, tuple(names))
            _check_names(album)
            if album.id in albums:
                raise BadInput(
                    f"{readable(albums[album.id].folder)!r} and {readable(folder)!r} would both be called "
                    f"{album.id!r}: move the pictures of the first into a folder of their own"
                )
            albums[album.id] = album
    return list(albums.values()), others


def _set_of(path: Path, album: _Album, most: int | None) -> SourceSet:
    files = [album.folder / album.names[place] for place in evenly(len(album.names), most)]
    return SourceSet(
        id=album.id,
        origin=readable(album.folder),
        sources=tuple(file.relative_to(path).as_posix() for file in files),
        pictures=tuple(read_picture(file) for file in files),
    )


def _check_names(album: _Album) -> None:
    for path in (album.folder, *(album.folder / name for name in album.names)):
        check_name(path)
    try:
        check_id(album.id)
    except BadInput as reason:
        raise BadInput(f"the folder {readable(album.folder)!r} cannot name a set: {reason}") from None


def check_name(path: Path) -> None:
    """Refuse a file or folder whose name is no text."""
    if readable(path.name) != path.name:
        raise BadInput(f"the name of {readable(path)!r} is not valid UTF-8: rename it")


def is_hidden(name: str) -> bool:
    """Whether a file or folder is not meant to be seen."""
    return name.startswith(".") or name.lower() in SYSTEM_NAMES


def _is_picture(file: Path, source: Path) -> bool:
    if leads_out(file, source):
        if file.suffix.lower() not in SUFFIXES:
            return False
        raise BadInput(
            f"{readable(file)!r} is a link that leads out of {readable(source)!r}: give the folder that it "
            f"leads to, or copy the picture"
        )
    # A picture by its name is one even if damaged, so that the damage is reported and not passed over.
    if file.suffix.lower() in SUFFIXES:
        return True
    # What is not a plain file (a pipe, a lost link) could be read for ever, or not at all.
    try:
        if not file.is_file():
            return False
        with file.open("rb") as stream:
            return looks_like_picture(stream.read(START))
    except OSError:
        return False
