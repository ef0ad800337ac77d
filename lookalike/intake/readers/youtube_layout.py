"""Layout of the YouTube Faces data set: where its parts lie, and which videos they hold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from logging import getLogger
from pathlib import Path
from typing import Final, NamedTuple

from lookalike.errors import BadInput, LookalikeError
from lookalike.faceset import check_id
from lookalike.intake.paths import readable, unreadable
from lookalike.intake.readers.folders import SYSTEM_NAMES

logger = getLogger(__name__)

DESCRIPTORS: Final = "descriptors_DB"
ALIGNED: Final = "aligned_images_DB"
FRAMES: Final = "frame_images_DB"
# In the order of preference: ready-made descriptors first, then faces that are cut out already.
PARTS: Final = (DESCRIPTORS, ALIGNED, FRAMES)
# The faces of `aligned_video_*.mat` were turned upright before they were described.
VARIANTS: Final = ("aligned_video", "video")
BOXES: Final = ".labeled_faces.txt"

# Every folder of the data set is of one kind, so a few entries tell which; a photo library has many.
LOOK: Final = 40
_DESCRIPTOR_FILE: Final = re.compile(r"(aligned_video|video)_([0-9]{1,9})\.mat")
_VIDEO_FOLDER: Final = re.compile(r"[0-9]{1,9}")


class Video(NamedTuple):
    """One video: a file of descriptors, or a folder of pictures."""

    subject: str
    number: str
    place: Path

    @property
    def id(self) -> str:
        """What its set is called, the same in every part of the data set."""
        return f"{self.subject}/{self.number}"


def parts_at(path: Path) -> dict[str, Path]:
    """Which parts of the data set lie at a path, in the order of preference.

    Parameters
    ----------
    path : Path
        The root of the data set, or one of its three folders, known by its name or content.

    Returns
    -------
    dict of Path by name of the part
        Empty if this is no folder, or something else.
    """
    below = {name: path / name for name in PARTS if _is_folder(path / name)}
    if below:
        return below
    name = Path(os.path.abspath(path)).name
    kind = name if name in PARTS and _is_folder(path) else _kind_by_content(path)
    return {kind: path} if kind else {}


def find_videos(part: str, folder: Path) -> dict[str, list[Video]]:
    """List the videos of a part, by subject, then by number: 9 before 10.

    Parameters
    ----------
    part : str
        One of `PARTS`.
    folder : Path
        Where it lies.

    Returns
    -------
    dict of lists of Video
        By variant of the descriptors, only those that are there; pictures have one, called by the
        name of the part.

    Raises
    ------
    BadInput
        If a folder cannot be read, or a name cannot be that of a set.
    """
    found: dict[str, list[Video]] = {}
    others = 0
    for subject in sorted(_folders(folder), key=lambda entry: entry.name):
        for entry in _entries(Path(subject.path)):
            match = _DESCRIPTOR_FILE.fullmatch(entry.name) if part == DESCRIPTORS else None
            if match:
                found.setdefault(match[1], []).append(Video(subject.name, match[2], Path(entry.path)))
            elif part != DESCRIPTORS and _VIDEO_FOLDER.fullmatch(entry.name) and _is_folder(Path(entry.path)):
                found.setdefault(part, []).append(Video(subject.name, entry.name, Path(entry.path)))
            else:
                others += 1
    for videos in found.values():
        # 0 and 00 are different names, so the text decides between them.
        videos.sort(key=lambda video: (video.subject, int(video.number), video.number))
    _check_names(found)
    logger.info(
        "%s; %d files or folders that belong to no video were passed over",
        ", ".join(f"{len(videos)} of {name}" for name, videos in found.items()) or "no videos",
        others,
    )
    return found


def default_videos(path: Path) -> list[Video]:
    """The videos that are read from a path unless something else is asked for; see `find_videos`."""
    for part, folder in parts_at(path).items():
        found = find_videos(part, folder)
        for variant in (*VARIANTS, part):
            if variant in found:
                return found[variant]
    return []


def _kind_by_content(path: Path) -> str:
    try:
        for entry in islice(_entries(path), LOOK):
            if entry.name.endswith(BOXES):
                return FRAMES
            for inner in islice(_entries(Path(entry.path)), LOOK) if entry.is_dir() else ():
                if _DESCRIPTOR_FILE.fullmatch(inner.name):
                    return DESCRIPTORS
                if _VIDEO_FOLDER.fullmatch(inner.name) and inner.is_dir():
                    frames = islice(_entries(Path(inner.path)), LOOK)
                    if any(frame.name.startswith("aligned_detect_") for frame in frames):
                        return ALIGNED
    # What cannot be looked at is for other readers to complain of.
    except (LookalikeError, OSError, ValueError):
        pass
    return ""


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _folders(path: Path) -> list[os.DirEntry[str]]:
    return [entry for entry in _entries(path) if _is_folder(Path(entry.path))]


def _entries(path: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.name.lower() not in SYSTEM_NAMES:
                    yield entry
    except OSError as reason:
        raise unreadable(path, reason) from None


def _check_names(found: dict[str, list[Video]]) -> None:
    for video in (video for videos in found.values() for video in videos):
        if readable(video.subject) != video.subject:
            raise BadInput(f"the name of {readable(video.place.parent)!r} is not valid UTF-8: rename it")
        try:
            check_id(video.id)
        except BadInput as reason:
            raise BadInput(
                f"the folder {readable(video.place.parent)!r} cannot name sets: {reason}"
            ) from None
