"""Reader of tracks in the MOT format: a track is a set, with the features of its faces in a second file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from logging import getLogger
from pathlib import Path
from typing import Final, NamedTuple

from lookalike.errors import BadInput
from lookalike.faceset import check_id
from lookalike.intake.paths import readable, unreadable
from lookalike.intake.readers.features import join_features
from lookalike.intake.readers.lines import short_lines
from lookalike.intake.sourceset import SourceSet

logger = getLogger(__name__)

VALUES: Final = ("frame", "id", "bb_left", "bb_top", "bb_width", "bb_height", "conf")
# Behind those of `VALUES`: x, y, z, or class and visibility, which are not read.
MOST_VALUES: Final = 10


class _Box(NamedTuple):
    """One line: a face in a frame."""

    line: int
    frame: int
    track: int
    source: str
    counts: bool


def is_mot(start: bytes) -> bool:
    """Tell from the start of a file whether it is in the MOT format: six or more values, numbers first."""
    line = start.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    values = line.decode("utf-8", "replace").split(",")
    return len(values) >= len(VALUES) - 1 and all(_number(text) is not None for text in values[:2])


def read_mot(
    path: Path, features: Path, array: str | None = None, most: int | None = None
) -> Iterator[SourceSet]:
    """Find the sets of a file of tracks.

    A line has 7 to 10 values, `VALUES` first; frames count from 1. A track is a set, called
    ``<name of the file>/<id>`` without the suffix, with its faces in the order of their frames.
    Lines whose `conf` is 0, which ground truth is full of, are left out, with their number in the log.

    Parameters
    ----------
    path : Path
        A text file.
    features : Path
        An .npy or .npz file; row i describes line i (lines with nothing in them do not count), see
        `join_features`.
    array : str, optional
        Which array of an .npz file.
    most : int, optional
        Keep at most so many faces of a track, evenly spread.

    Returns
    -------
    iterator of SourceSet
        In the order of the ids.

    Raises
    ------
    NotFound, BadInput
        Naming the file and line, or what is wrong with the features.
    """
    boxes = list(_boxes(path))
    groups: dict[int, dict[int, int]] = {}
    for row, box in enumerate(boxes):
        if not box.counts:
            continue
        frames = groups.setdefault(box.track, {})
        if box.frame in frames:
            raise _refusal(
                path,
                f"has track {box.track} twice in frame {box.frame}, in lines {boxes[frames[box.frame]].line} "
                f"and {box.line}: take one out, and its row of the features",
            )
        frames[box.frame] = row
    left_out = sum(not box.counts for box in boxes)
    logger.info("a list of %d tracks; %d lines with conf 0 were left out", len(groups), left_out)
    if not groups:
        raise _refusal(path, f"has no track: all its {left_out} lines have conf 0")
    stem = readable(path.stem)
    check_id(f"{stem}/0")
    named = {
        f"{stem}/{track}": [row for _, row in sorted(frames.items())]
        for track, frames in sorted(groups.items())
    }
    return join_features(path, named, [box.source for box in boxes], features, array, most)


def _boxes(path: Path) -> Iterator[_Box]:
    try:
        # The mark that some programs write in front (a BOM) is left out, whatever the ends of lines are.
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(short_lines(path, file), start=1):
                if line.strip():
                    yield _box(path, number, line)
    except UnicodeDecodeError as reason:
        raise _refusal(path, f"is not text in UTF-8 ({reason}): save it as text") from None
    except OSError as reason:
        raise unreadable(path, reason) from None


def _box(path: Path, line: int, text: str) -> _Box:
    given = text.split(",")
    if not len(VALUES) <= len(given) <= MOST_VALUES:
        raise _refusal(
            path,
            f"has {len(given)} values in line {line}: write {len(VALUES)} to {MOST_VALUES}, "
            f"{','.join(VALUES)} first",
        )
    values = []
    for name, written in zip(VALUES, given, strict=False):
        value = _number(written)
        if value is None or (name in ("frame", "id") and not value.is_integer()):
            kind = "a whole number" if name in ("frame", "id") else "a finite number"
            raise _refusal(path, f"has {written.strip()[:40]!r} for {name} in line {line}: write {kind}")
        values.append(value)
    frame, track, conf = int(values[0]), int(values[1]), values[6]
    if frame < 1:
        raise _refusal(path, f"has frame {frame} in line {line}: frames count from 1, add 1 to each")
    if track < 0:
        raise _refusal(
            path,
            f"has id {track} in line {line}, which stands for a detection that belongs to no track: "
            f"run a tracker first, and give what it wrote",
        )
    box = ",".join(f"{value:.10g}" for value in values[2:6])
    return _Box(line, frame, track, f"frame {frame} [{box}]", conf != 0)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    # Python reads 1_000 as a number; no other program writes that.
    return value if math.isfinite(value) and "_" not in text else None


def _refusal(path: Path, text: str) -> BadInput:
    return BadInput(f"{readable(path)!r} {text}")
