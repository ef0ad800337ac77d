"""Reader of the YouTube Faces data set: descriptors, aligned faces or frames; one video is one set."""

from __future__ import annotations

from collections.abc import Iterator
from logging import getLogger
from pathlib import Path
from typing import Final

from lookalike.errors import BadInput, LookalikeError
from lookalike.intake.paths import readable
from lookalike.intake.readers.youtube_descriptors import described_by, read_descriptors
from lookalike.intake.readers.youtube_layout import (
    DESCRIPTORS,
    FRAMES,
    PARTS,
    VARIANTS,
    Video,
    find_videos,
    parts_at,
)
from lookalike.intake.readers.youtube_pictures import read_aligned, read_frames
from lookalike.intake.sampling import check_most
from lookalike.intake.sourceset import SourceSet

logger = getLogger(__name__)

# Uniform local binary patterns: the descriptor that results on this data set are usually given for.
DEFAULT_KEY: Final = "VID_DESCS_LBP"


def is_youtube_faces(path: Path) -> bool:
    """Whether a path is the root of the data set, or its folder of descriptors, faces or frames."""
    return bool(parts_at(path))


def array_names(path: Path) -> list[str]:
    """Name what `read_youtube_faces` can be asked for.

    Returns
    -------
    list of str
        ``aligned_video/VID_DESCS_LBP`` and the like for descriptors, judged by the first video of
        each variant; for the root of the data set the folders of pictures too. Empty for a folder
        of pictures, and for what cannot be read.
    """
    parts = parts_at(path)
    names: list[str] = []
    try:
        if DESCRIPTORS in parts:
            found = find_videos(DESCRIPTORS, parts[DESCRIPTORS])
            there = [variant for variant in VARIANTS if variant in found]
            keys = described_by([found[variant][0] for variant in there])
            names = [f"{variant}/{key}" for variant, own in zip(there, keys, strict=True) for key in own]
    except LookalikeError:
        return []
    is_root = any(folder != path for folder in parts.values())
    return names + [part for part in parts if is_root and part != DESCRIPTORS]


def read_youtube_faces(path: Path, array: str | None = None, most: int | None = None) -> Iterator[SourceSet]:
    """Find the sets of the YouTube Faces data set.

    A set is a video, called ``<Subject_Name>/<video>`` whichever part it is read from; sets come
    by subject, then by the number of the video. All names are checked here, files when their set is
    reached.

    Parameters
    ----------
    path : Path
        The root of the data set, or its ``descriptors_DB``, ``aligned_images_DB`` or ``frame_images_DB``.
    array : str, optional
        ``aligned_video/VID_DESCS_LBP`` or another descriptor, by default of aligned faces; or
        ``aligned_images_DB``, ``frame_images_DB`` for the pictures in the root. By default the first
        of these that is there.
    most : int, optional
        Most faces of a set, evenly spread over its frames with the first and the last; by default all.

    Returns
    -------
    iterator of SourceSet
        With one video at a time in memory: descriptors as float32, or pictures.

    Raises
    ------
    BadInput
        If there is no such data or array, or `most` is not a whole number from 1 up. Later, if a
        file is damaged or has no face that can be used.
    """
    check_most(most)
    parts = parts_at(path)
    if array in parts:
        parts, array = {array: parts[array]}, None
    elif array is not None and DESCRIPTORS not in parts:
        there = f"only pictures in {' and '.join(parts)}" if parts else "nor any other"
        raise BadInput(f"{readable(path)!r} has no array {array!r}, {there}: leave the array out")
    for part, folder in parts.items():
        found = find_videos(part, folder)
        if part == DESCRIPTORS and (found or array is not None):
            return _descriptors(path, found, array, most)
        if found:
            return (read_frames if part == FRAMES else read_aligned)(found[part], most)
    raise BadInput(
        f"{readable(path)!r} holds no video of YouTube Faces in {', '.join(parts or PARTS)}: unpack the data "
        f"set there, with a folder for each subject"
    )


def _descriptors(
    path: Path, found: dict[str, list[Video]], array: str | None, most: int | None
) -> Iterator[SourceSet]:
    there = [variant for variant in VARIANTS if variant in found]
    if array is None:
        array = f"{there[0]}/{DEFAULT_KEY}"
    variant, key = array.split("/", 1) if "/" in array else (VARIANTS[0], array)
    if variant not in found or not key:
        choices = " or ".join(f"{name}/{DEFAULT_KEY}" for name in there)
        advice = f"choose {choices} or the like" if there else "it has no descriptors, leave the array out"
        raise BadInput(f"{readable(path)!r} has no array {array!r}: {advice}")
    lost = {video.id for videos in found.values() for video in videos} - {
        video.id for video in found[variant]
    }
    if lost:
        # Not which: ids are names of people.
        logger.warning("%d videos have no %s file and are left out", len(lost), variant)
    return read_descriptors(found[variant], key, f"{variant}/{key}", most)
