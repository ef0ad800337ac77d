"""Pictures of YouTube Faces: faces that were cut out, or whole frames with a list of boxes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from logging import getLogger
from pathlib import Path
from typing import Final, NamedTuple

from lookalike.errors import BadInput
from lookalike.intake.paths import is_there, readable, unreadable
from lookalike.intake.pictures import SUFFIXES, Picture, read_picture
from lookalike.intake.readers.folders import SYSTEM_NAMES
from lookalike.intake.readers.youtube_layout import BOXES, Video
from lookalike.intake.sampling import evenly
from lookalike.intake.sourceset import SourceSet
from lookalike.ordering import natural_order

logger = getLogger(__name__)

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

    Parameters
    ----------
    videos : sequence of Video
        With their folders.
    most : int, optional
        Most faces of a set, evenly spread over its frames; others are not opened.

    Raises
    ------
    BadInput
        When a video is reached that has no picture, or one that cannot be read.
    """
    for video in videos:
        names = _frames(video)
        names = [names[index] for index in evenly(len(names), most)]
        yield _set_of(video, names, [read_picture(video.place / name) for name in names])


def read_frames(videos: Sequence[Video], most: int | None) -> Iterator[SourceSet]:
    """Read the frames of video after video, cut to the box of the face.

    A frame without a box, or whose box lies outside, is left out, which the log says.

    Parameters
    ----------
    videos : sequence of Video
        With their folders; ``<subject>.labeled_faces.txt`` lies beside that of the subject.
    most : int, optional
        Most faces of a set, evenly spread over the frames with a box; others are not opened.

    Raises
    ------
    BadInput
        If a subject has no list of boxes. Later, if the list is damaged or a video has no usable frame.
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

    A row is ``Subject\3\3.618.jpg,0,x,y,width,height,0.0,1``, with the centre of the face in x, y.
    Of several rows for a frame the first is taken.

    Raises
    ------
    NotFound, BadInput
        If there is no such file, or a row is something else.
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
    names = [
        name
        for name in entries
        if Path(name).suffix.lower() in SUFFIXES
        and not name.startswith(".")
        and name.lower() not in SYSTEM_NAMES
    ]
    if not names:
        raise BadInput(
            f"{readable(video.place)!r} has no picture in it: copy the video again or take it away"
        )
    for name in names:
        if readable(name) != name:
            raise BadInput(f"the name of {readable(video.place / name)!r} is not valid UTF-8: rename it")
    return sorted(names, key=natural_order)


def _set_of(video: Video, names: Sequence[str], pictures: Sequence[Picture]) -> SourceSet:
    return SourceSet(
        id=video.id,
        origin=readable(video.place),
        sources=tuple(f"{video.id}/{name}" for name in names),
        pictures=tuple(pictures),
    )
