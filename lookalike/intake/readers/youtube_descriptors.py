"""Descriptors of YouTube Faces: one .mat file a video, one column a frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from logging import getLogger
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.faceset import LONGEST_ID
from lookalike.intake.paths import readable
from lookalike.intake.readers.mat import MatFiles
from lookalike.intake.readers.youtube_layout import Video
from lookalike.intake.sampling import evenly
from lookalike.intake.sourceset import SourceSet
from lookalike.ordering import natural_order

logger = getLogger(__name__)

FRAME_NAMES: Final = "VID_DESCS_FILENAMES"
# How many numbers describe a face: 30 blocks of 59 bins, 30 of 16 and 35 of 16.
DIMENSIONS: Final = {"VID_DESCS_LBP": 1770, "VID_DESCS_CSLBP": 480, "VID_DESCS_FPLBP": 560}


def described_by(videos: Sequence[Video]) -> list[list[str]]:
    """Names of the descriptors that the file of each video has."""
    with MatFiles() as mats:
        return [[key for key in mats.names(video.place) if key in DIMENSIONS] for video in videos]


def read_descriptors(videos: Sequence[Video], key: str, array: str, most: int | None) -> Iterator[SourceSet]:
    """Read the descriptors of video after video, with one of them in memory at a time.

    Frames come in the order of their numbers. A frame whose descriptor is not finite or has all
    numbers equal describes nothing: it is left out, which the log says.

    Parameters
    ----------
    videos : sequence of Video
        With their .mat files.
    key : str
        The array of descriptors, (numbers per face, frames).
    array : str
        What the sets say their faces were taken from.
    most : int, optional
        Most faces of a set, evenly spread over its frames.

    Raises
    ------
    NotFound, BadInput
        When a file is reached that cannot be read, has no such array, or no frame that can be used.
    """
    with MatFiles() as mats:
        for video in videos:
            yield _set_of(mats, video, key, array, most)


def _set_of(mats: MatFiles, video: Video, key: str, array: str, most: int | None) -> SourceSet:
    read = mats.read(video.place, [key], [FRAME_NAMES])
    columns = _checked(video.place, key, read[key])
    sources = _sources(video.place, columns.shape[1], read.get(FRAME_NAMES))
    order = np.array(sorted(range(len(sources)), key=lambda frame: natural_order(sources[frame])))
    kept = order[_usable(columns)[order]]
    if not len(kept):
        raise BadInput(
            f"{readable(video.place)!r} has no frame that can be used among its {len(sources)}, each has a "
            f"NaN or all numbers equal in {key!r}: copy the file again or take it away"
        )
    if len(kept) < len(sources):
        left_out = len(sources) - len(kept)
        # Not of which: ids of these videos are names of people.
        logger.warning("%d frames of a video describe nothing and were left out", left_out)
    # Chosen before they are converted, so that only a few are in memory a second time.
    kept = kept[evenly(len(kept), most)]
    return SourceSet(
        id=video.id,
        origin=readable(video.place),
        sources=tuple(sources[frame] for frame in kept),
        faces=columns.T[kept].astype(np.float32),
        array=array,
    )


def _checked(file: Path, key: str, given: NDArray[Any] | list[str]) -> NDArray[Any]:
    if isinstance(given, list):
        raise BadInput(f"{readable(file)!r} has text in {key!r}, not descriptors: choose another array")
    wanted = DIMENSIONS.get(key, given.shape[0])
    if given.ndim == 2 and given.shape[0] != wanted == given.shape[1]:
        raise BadInput(
            f"{readable(file)!r} has {key!r} transposed, shape {given.shape}: save it as ({wanted}, frames), "
            f"one column for each frame"
        )
    if given.ndim != 2 or given.shape[0] != wanted or given.shape[0] < 2:
        allowed = DIMENSIONS.get(key, "numbers per face")
        raise BadInput(
            f"{readable(file)!r} has shape {given.shape} in {key!r}, which must be ({allowed}, frames): "
            f"copy the file again, or choose another array"
        )
    if given.shape[1] == 0:
        raise BadInput(f"{readable(file)!r} has no frames in {key!r}, shape {given.shape}: take it away")
    return given


def _sources(file: Path, frames: int, names: NDArray[Any] | list[str] | None) -> list[str]:
    if names is None:
        return [f"{readable(file.name)}#{column}" for column in range(frames)]
    if not isinstance(names, list) or len(names) != frames:
        given = f"{len(names)} names" if isinstance(names, list) else "numbers"
        raise BadInput(
            f"{readable(file)!r} has {given} in {FRAME_NAMES!r} for {frames} frames: there must be one name "
            f"for each, copy the file again"
        )
    # Written on Windows; other copies have slashes.
    texts = [name.strip().replace("\\", "/") for name in names]
    if any(len(text) > LONGEST_ID for text in texts):
        raise BadInput(
            f"{readable(file)!r} has a name of {max(map(len, texts)):,} characters in {FRAME_NAMES!r}, "
            f"where {LONGEST_ID} are allowed: copy the file again"
        )
    return texts


def _usable(columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Which columns are finite and not constant, in the single precision they are kept in."""
    # Rounding keeps the order, so the smallest and largest of a column tell all of it.
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = columns.min(axis=0).astype(np.float32), columns.max(axis=0).astype(np.float32)
    return np.isfinite(low) & np.isfinite(high) & (low != high)
