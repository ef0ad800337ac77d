"""Reader of the YouTube Faces data set: descriptors, aligned faces or frames; one video is one set."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from logging import getLogger
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, LookalikeError, is_there, readable, unreadable
from lookalike.faceset import LONGEST_ID, check_id, check_most, evenly, natural_order
from lookalike.ingest.pictures import SUFFIXES, Picture, read_picture
from lookalike.ingest.readers.folders import check_name, is_hidden
from lookalike.ingest.readers.mat import mat_names, read_mat
from lookalike.ingest.sourceset import SourceSet

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

    The path is the root of the data set, or one of its three folders, known by its name or content; there
    is none if this is no folder, or something else.
    """
    below = {name: path / name for name in PARTS if _is_folder(path / name)}
    if below:
        return below
    name = Path(os.path.abspath(path)).name
    kind = name if name in PARTS and _is_folder(path) else _kind_by_content(path)
    return {kind: path} if kind else {}


def find_videos(part: str, folder: Path) -> dict[str, list[Video]]:
    """List the videos of a part in its folder, by subject, then by number: 9 before 10.

    They come by variant of the descriptors, only those that are there; pictures have one, called by the
    name of the part. Raises BadInput if a folder cannot be read, or a name cannot be that of a set.
    """
    found: dict[str, list[Video]] = {}
    others = 0
    subjects = (entry for entry in _entries(folder) if _is_folder(Path(entry.path)))
    for subject in sorted(subjects, key=lambda entry: entry.name):
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


def _entries(path: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if not is_hidden(entry.name):
                    yield entry
    except OSError as reason:
        raise unreadable(path, reason) from None


def _check_names(found: dict[str, list[Video]]) -> None:
    for video in (video for videos in found.values() for video in videos):
        check_name(video.place.parent)
        try:
            check_id(video.id)
        except BadInput as reason:
            raise BadInput(
                f"the folder {readable(video.place.parent)!r} cannot name sets: {reason}"
            ) from None


# A subject has six videos of some thousand frames at most, and a row takes 60 bytes.
MOST_BYTES: Final = 64 * 2**20


class Box(NamedTuple):
    """Where a face is in its frame: centre and size, in pixels."""

    x: float
    y: float
    width: float
    height: float

    def cut(self, frame: Picture) -> Picture:
        """Cut the face out, as far as it lies within the frame; nothing is left of a box outside."""
        height, width = frame.shape[:2]
        left, right = self.x - self.width / 2, self.x + self.width / 2
        top, bottom = self.y - self.height / 2, self.y + self.height / 2
        rows = slice(max(0, min(height, round(top))), max(0, min(height, round(bottom))))
        columns = slice(max(0, min(width, round(left))), max(0, min(width, round(right))))
        # A copy, or the whole frame would stay in memory.
        return frame[rows, columns].copy()


def read_aligned(videos: Sequence[Video], most: int | None) -> Iterator[SourceSet]:
    """Read the pictures of video after video; each picture is a face.

    Of a set at most so many are read, evenly spread over its frames; others are not opened. Raises
    BadInput when a video is reached that has no picture, or one that cannot be read.
    """
    for video in videos:
        names = _frames(video)
        names = [names[index] for index in evenly(len(names), most)]
        yield _set_of(video, names, [read_picture(video.place / name) for name in names])


def read_frames(videos: Sequence[Video], most: int | None) -> Iterator[SourceSet]:
    """Read the frames of video after video, cut to the box of the face, as `read_aligned`.

    A frame without a box, or whose box lies outside, is left out, which the log says. The boxes of a
    subject are in ``<subject>.labeled_faces.txt`` beside its folder; a subject without that is refused
    here.
    """
    lists = {video.subject: video.place.parent.with_name(video.subject + BOXES) for video in videos}
    for path in lists.values():
        if not is_there(path):
            raise BadInput(
                f"there is no {readable(path)!r}, which says where the faces are in the frames: copy it "
                f"there, or read aligned_images_DB"
            )
    return _cut_frames(videos, lists, most)


def _cut_frames(videos: Sequence[Video], lists: dict[str, Path], most: int | None) -> Iterator[SourceSet]:
    for subject, group in groupby(videos, key=lambda video: video.subject):
        boxes = read_boxes(lists[subject])
        for video in group:
            frames = _frames(video)
            own = {name: boxes.pop(f"{video.number}/{name}", None) for name in frames}
            listed = [(name, box) for name, box in own.items() if box]
            chosen = [listed[index] for index in evenly(len(listed), most)]
            faces = {name: box.cut(read_picture(video.place / name)) for name, box in chosen}
            inside = {name: face for name, face in faces.items() if face.size}
            left_out = len(frames) - len(listed) + len(faces) - len(inside)
            if left_out:
                # Not of which: ids are names of people.
                logger.warning("%d frames of a video have no box in them and were left out", left_out)
            if not inside:
                raise BadInput(
                    f"{readable(video.place)!r} has {len(frames)} frames, and none with a box in "
                    f"{readable(lists[subject])!r}: copy that file again or take the video away"
                )
            yield _set_of(video, list(inside), list(inside.values()))
        if boxes:
            logger.info("%d rows are for frames that are not there", len(boxes))


def read_boxes(path: Path) -> dict[str, Box]:
    r"""Read the boxes of a subject's faces, by ``video/frame.jpg``.

    A row is ``Subject\3\3.618.jpg,0,x,y,width,height,0.0,1``, with the centre of the face in x, y. Of
    several rows for a frame the first is taken. Raises NotFound or BadInput if there is no such file, or
    a row is something else.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as reason:
        raise unreadable(path, reason) from None
    if len(content) > MOST_BYTES:
        raise BadInput(f"{readable(path)!r} has more than {MOST_BYTES >> 20} MiB: copy it again")
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as reason:
        raise BadInput(f"{readable(path)!r} is not text in UTF-8 ({reason}): copy it again") from None
    boxes: dict[str, Box] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            name, box = _row(line, f"{readable(path)!r}, line {number}")
            boxes.setdefault(name, box)
    return boxes


def _row(line: str, where: str) -> tuple[str, Box]:
    fields = [field.strip() for field in line.split(",")]
    try:
        box = Box(*map(float, fields[2:6]))
    except (TypeError, ValueError):
        box = Box(math.nan, 0, 0, 0)
    # The name is that of a file below the folders: subject, video, frame.
    pieces = fields[0].replace("\\", "/").split("/")
    if not all(map(math.isfinite, box)) or min(box.width, box.height) <= 0 or len(pieces) < 2:
        raise BadInput(
            f"{where}: {line[:80]!r} is no box of a face: it must be subject\\video\\frame.jpg,0,x,y,width,"
            f"height with a width and height above 0, copy the file again"
        )
    return "/".join(pieces[-2:]), box


def _frames(video: Video) -> list[str]:
    try:
        entries = [entry.name for entry in video.place.iterdir()]
    except OSError as reason:
        raise unreadable(video.place, reason) from None
    names = [name for name in entries if Path(name).suffix.lower() in SUFFIXES and not is_hidden(name)]
    if not names:
        raise BadInput(
            f"{readable(video.place)!r} has no picture in it: copy the video again or take it away"
        )
    for name in names:
        check_name(video.place / name)
    return sorted(names, key=natural_order)


def _set_of(video: Video, names: Sequence[str], pictures: Sequence[Picture]) -> SourceSet:
    return SourceSet(
        id=video.id,
        origin=readable(video.place),
        sources=tuple(f"{video.id}/{name}" for name in names),
        pictures=tuple(pictures),
    )


FRAME_NAMES: Final = "VID_DESCS_FILENAMES"
# How many numbers describe a face: 30 blocks of 59 bins, 30 of 16 and 35 of 16.
DIMENSIONS: Final = {"VID_DESCS_LBP": 1770, "VID_DESCS_CSLBP": 480, "VID_DESCS_FPLBP": 560}


def read_descriptors(videos: Sequence[Video], key: str, array: str, most: int | None) -> Iterator[SourceSet]:
    """Read the descriptors of video after video, with one of them in memory at a time.

    Frames come in the order of their numbers. A frame whose descriptor is not finite or has all numbers
    equal describes nothing: it is left out, which the log says. `key` is the array of descriptors,
    (numbers per face, frames), `array` what the sets say their faces were taken from; of a set at most
    `most` faces are kept, evenly spread over its frames.

    Raises NotFound or BadInput when a file is reached that cannot be read, has no such array, or no frame
    that can be used.
    """
    return (_described_set(video, key, array, most) for video in videos)


def _described_set(video: Video, key: str, array: str, most: int | None) -> SourceSet:
    read = read_mat(video.place, [key], [FRAME_NAMES])
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


# Uniform local binary patterns: the descriptor that results on this data set are usually given for.
DEFAULT_KEY: Final = "VID_DESCS_LBP"


def is_youtube_faces(path: Path) -> bool:
    """Whether a path is the root of the data set, or its folder of descriptors, faces or frames."""
    return bool(parts_at(path))


def array_names(path: Path) -> list[str]:
    """Name what `read_youtube_faces` can be asked for.

    That is ``aligned_video/VID_DESCS_LBP`` and the like for descriptors, judged by the first video of
    each variant; for the root of the data set the folders of pictures too. Nothing for a folder of
    pictures, and for what cannot be read.
    """
    parts = parts_at(path)
    names: list[str] = []
    try:
        if DESCRIPTORS in parts:
            found = find_videos(DESCRIPTORS, parts[DESCRIPTORS])
            there = [variant for variant in VARIANTS if variant in found]
            names = [
                f"{variant}/{key}"
                for variant in there
                for key in mat_names(found[variant][0].place)
                if key in DIMENSIONS
            ]
    except LookalikeError:
        return []
    is_root = any(folder != path for folder in parts.values())
    return names + [part for part in parts if is_root and part != DESCRIPTORS]


def read_youtube_faces(path: Path, array: str | None = None, most: int | None = None) -> Iterator[SourceSet]:
    """Find the sets of the YouTube Faces data set, with one video at a time in memory.

    A set is a video, called ``<Subject_Name>/<video>`` whichever part it is read from; sets come by
    subject, then by the number of the video. All names are checked here, files when their set is reached.
    The path is the root of the data set, or its ``descriptors_DB``, ``aligned_images_DB`` or
    ``frame_images_DB``. The array is ``aligned_video/VID_DESCS_LBP`` or another descriptor, by default of
    aligned faces; or ``aligned_images_DB``, ``frame_images_DB`` for the pictures in the root. By default
    it is the first of these that is there. At most so many faces are kept of a set, evenly spread over
    its frames with the first and the last.

    Raises BadInput if there is no such data or array, or `most` is not a whole number from 1 up; later,
    if a file is damaged or has no face that can be used.
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
