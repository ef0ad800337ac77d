"""Reader of lists: templates (IJB), tracks (MOT), csv, boxes (COCO), turns of speakers (RTTM).

A second file, of arrays, describes what is listed, a row for each.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from logging import getLogger
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_folder, readable, unreadable
from lookalike.faceset import check_id, checked_faces, evenly
from lookalike.ingest.readers.npz import Archive, Header, npy_header
from lookalike.ingest.sourceset import SourceSet, refused_of

# No list of faces has a line as long as this, names and all.
MOST_CHARACTERS: Final = 100_000
# What some programs write in front of a text (a BOM).
MARK: Final = b"\xef\xbb\xbf"
# Kinds of lists.
TEXT, CSV, JSON = "text", "a csv file", "JSON"


@contextmanager
def opened(path: Path, kind: str) -> Iterator[TextIO]:
    """A list, open to be read; what shows that it is none of its kind is told in a sentence (BadInput).

    The mark that some programs write in front (a BOM) is left out, whatever the ends of lines are.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="" if kind == CSV else None) as file:
            yield file
    except (ValueError, csv.Error, RecursionError) as reason:
        raise _refusal(path, f"is not {kind} in UTF-8 ({str(reason)[:100]}): save it as such") from None
    except OSError as reason:
        raise unreadable(path, reason) from None


def short_lines(path: Path, file: TextIO) -> Iterator[str]:
    """The lines of a file, each with its end; BadInput if one is too long to be one of a list."""
    number = 0
    while line := file.readline(MOST_CHARACTERS + 1):
        number += 1
        if len(line) > MOST_CHARACTERS:
            raise BadInput(
                f"{readable(path)!r} has more than {MOST_CHARACTERS:,} characters in line {number}: "
                f"write one line for each face"
            )
        yield line


# The array of an .npy file has no name. The file's own name will not do: two sequences with a file
# each were then described by two different things.
NAME: Final = "features"
NPY_MAGIC: Final = b"\x93NUMPY"
ZIP_MAGIC: Final = b"PK\x03\x04"


def feature_names(path: Path) -> list[str]:
    """Names of the arrays of a features file; that of an .npy file is always ``features``.

    Raises NotFound or BadInput if it cannot be read, or is neither an .npy nor an .npz file.
    """
    if _is_npy(path):
        return [NAME]
    with Archive(path) as archive:
        return archive.names()


def join_features(
    path: Path,
    groups: Mapping[str, Sequence[int]],
    sources: Sequence[str],
    features: Path,
    array: str | None = None,
    most: int | None = None,
) -> Iterator[SourceSet]:
    """Make sets of a list of faces and the file that describes them; array and most as of `read_source`.

    The path is that of the list, for people to read; the groups are the faces of each set, as places in
    the list; the sources (N,) say where each face came from. The features are an .npy file, which is
    never read whole, or an .npz file, with an array of floats (N, d): row i describes face i of the list.
    """
    if _is_npy(features):
        name, rows = NAME, _mapped(features, array, path, len(sources))
    else:
        name, rows = _unpacked(features, array, path, len(sources))
    return _sets(path, groups, sources, features, name, rows, most)


def _sets(
    path: Path,
    groups: Mapping[str, Sequence[int]],
    sources: Sequence[str],
    features: Path,
    name: str,
    rows: NDArray[Any],
    most: int | None,
) -> Iterator[SourceSet]:
    for id, places in groups.items():
        kept = [places[place] for place in evenly(len(places), most)]
        with refused_of(features, "cannot be used"):
            faces = checked_faces(rows[kept], f"set {id!r}")
        yield SourceSet(
            id=id,
            origin=readable(path),
            sources=tuple(sources[place] for place in kept),
            faces=faces.astype(np.float32),
            array=name,
        )


def _is_npy(path: Path) -> bool:
    if is_folder(path):
        raise _refusal(path, "is a folder: give the features as an .npy or .npz file")
    try:
        with path.open("rb") as stream:
            start = stream.read(len(NPY_MAGIC))
    except OSError as reason:
        raise unreadable(path, reason) from None
    if start != NPY_MAGIC and not start.startswith(ZIP_MAGIC):
        raise _refusal(path, "holds no features: give an .npy or .npz file with floats (N, d)")
    return start == NPY_MAGIC


def _mapped(features: Path, array: str | None, path: Path, count: int) -> NDArray[Any]:
    if array not in (None, NAME):
        raise _refusal(features, f"has no array {array!r}, but one without a name: leave the array out")
    try:
        with features.open("rb") as stream:
            size = features.stat().st_size
            header = npy_header(stream, size, "its array", lambda text: _refusal(features, text))
            _check_shape(features, "its array", header, path, count)
        mapped: NDArray[Any] = np.load(features, mmap_mode="r", allow_pickle=False)
    except OSError as reason:
        raise unreadable(features, reason) from None
    return mapped


def _unpacked(features: Path, array: str | None, path: Path, count: int) -> tuple[str, NDArray[Any]]:
    with Archive(features) as archive:
        if array is None:
            headers = {name: archive.header(name) for name in archive.names()}
            tables = [name for name, header in headers.items() if _is_table(header)]
            if len(tables) != 1:
                there = ", ".join(tables or headers) or "no arrays at all"
                advice = "choose the array" if tables else "it has"
                number = "several arrays" if tables else "no array"
                raise archive.refusal(f"has {number} of floats (N, d): {advice}: {there}")
            array = tables[0]
        _check_shape(features, repr(array), archive.header(array), path, count)
        return array, archive.read(array)


def _check_shape(features: Path, what: str, header: Header, path: Path, count: int) -> None:
    if not _is_table(header):
        raise _refusal(
            features, f"has shape {header.shape} of type {header.dtype} in {what}: it must be floats (N, d)"
        )
    if header.shape[0] != count:
        raise _refusal(
            features,
            f"has {header.shape[0]} rows in {what}, but {readable(path)!r} lists {count} faces: "
            f"row i must describe face i of the list",
        )


def _is_table(header: Header) -> bool:
    return header.dtype.kind == "f" and len(header.shape) == 2


def _refusal(path: Path, text: str) -> BadInput:
    return BadInput(f"{readable(path)!r} {text}")


def _first_line(start: bytes) -> str:
    return start.removeprefix(MARK).split(b"\n", 1)[0].decode("utf-8", "replace")


# Who is seen (SUBJECT_ID) is not read here, by design, nor what the file says of age, sex or skin.
COLUMNS: Final = ("TEMPLATE_ID", "FILENAME")
# A line of InsightFace's `*_face_tid_mid.txt`: picture, template, medium. A list of pairs of templates
# has three numbers a line too, but no file names.
_META: Final = re.compile(r"\S+\.\w+[ \t]+\d+[ \t]+\d+\s*")


class _Row(NamedTuple):
    """One face of a list."""

    line: int
    template: str
    name: str


def is_ijb(start: bytes) -> bool:
    """Tell from the start of a file whether it lists templates."""
    line = _first_line(start)
    return "TEMPLATE_ID" in _columns(line.split(",")) or _META.fullmatch(line) is not None


def read_ijb(
    path: Path, features: Path, array: str | None = None, most: int | None = None
) -> Iterator[SourceSet]:
    """Find the sets of a list of templates, in the order in which these first appear.

    The list is a csv file with the columns TEMPLATE_ID and FILENAME among others, in any case and order,
    or InsightFace's ``*_face_tid_mid.txt``. A template is a set, called by its number; its faces may be
    scattered, their order is kept. The people are not read. Row i of the features describes the i-th
    face, see `join_features`, which has the other parameters too.

    Raises NotFound or BadInput, naming the file and line, or what is wrong with the features.
    """
    groups: dict[str, list[int]] = {}
    names: list[str] = []
    for row in _rows(path):
        if row.template not in groups:
            with refused_of(path, f"has a template in line {row.line} without a name"):
                check_id(row.template)
        groups.setdefault(row.template, []).append(len(names))
        names.append(row.name)
    if not names:
        raise _refusal(path, "lists no faces: give one line for each face")
    return join_features(path, groups, names, features, array, most)


def _rows(path: Path) -> Iterator[_Row]:
    with opened(path, CSV) as file:
        first = next(short_lines(path, file), "")
        file.seek(0)
        lines = short_lines(path, file)
        yield from _meta(path, lines) if _META.fullmatch(first) else _table(path, lines)


def _table(path: Path, file: Iterator[str]) -> Iterator[_Row]:
    # Strict: a quotation mark that is never closed would swallow all lines after it.
    rows = csv.reader(file, strict=True, skipinitialspace=True)
    columns = _columns(next(rows, []))
    if any(columns.count(name) != 1 for name in COLUMNS):
        shown = ", ".join(columns)[:200]
        raise _refusal(path, f"must have the columns {' and '.join(COLUMNS)} once each, it has {shown}")
    template, name = map(columns.index, COLUMNS)
    for row in rows:
        if not row:
            continue
        if len(row) != len(columns):
            raise _refusal(
                path,
                f"has {len(row)} values in line {rows.line_num} but {len(columns)} columns: "
                f"quote what holds a comma",
            )
        yield _Row(rows.line_num, row[template].strip(), row[name].strip())


def _meta(path: Path, file: Iterator[str]) -> Iterator[_Row]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        if _META.fullmatch(line) is None:
            raise _refusal(
                path, f"has {line.strip()[:60]!r} in line {number}: write a picture and two whole numbers"
            )
        name, template, _ = line.split()
        yield _Row(number, template, name)


def _columns(names: list[str]) -> list[str]:
    return [name.strip(' \t\r"').upper() for name in names]


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
    values = _first_line(start).split(",")
    return len(values) >= len(VALUES) - 1 and all(_number(text) is not None for text in values[:2])


def read_mot(
    path: Path, features: Path, array: str | None = None, most: int | None = None
) -> Iterator[SourceSet]:
    """Find the sets of a file of tracks, in the order of their ids; parameters and errors as of `read_ijb`.

    A line has 7 to 10 values, `VALUES` first; frames count from 1. A track is a set, called ``<name of
    the file>/<id>`` without the suffix, with its faces in the order of their frames. Lines whose `conf`
    is 0, which ground truth is full of, are left out, with their number in the log. Row i of the features
    describes line i; lines with nothing in them do not count.
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
    with opened(path, TEXT) as file:
        for number, line in enumerate(short_lines(path, file), start=1):
            if line.strip():
                yield _box(path, number, line)


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


# Rows of a csv file, boxes and turns.

# Who is seen is not read here, by design, whatever a file says of it (person, category, individual).
SET, SOURCE = "set_id", "source"
# A COCO file is read whole: no real one is larger.
MOST_BYTES: Final = 2**30
SPEAKER: Final = "SPEAKER"
TURN_VALUES: Final = 8


def is_rows(start: bytes) -> bool:
    """Tell from the start of a file whether it is a csv file with a column set_id."""
    line = _first_line(start)
    return SET in [name.strip(' \t\r"') for name in line.split(",")]


def is_rttm(start: bytes) -> bool:
    """Tell from the start of a file whether it lists turns of speakers."""
    values = _first_line(start.removeprefix(MARK).lstrip()).split()
    return len(values) >= TURN_VALUES and values[0] == SPEAKER


def is_coco(start: bytes) -> bool:
    """Tell from the start of a file whether it may be in the COCO format: an object in JSON."""
    return start.removeprefix(MARK).lstrip().startswith(b"{")


def read_rows(
    path: Path, features: Path, array: str | None = None, most: int | None = None
) -> Iterator[SourceSet]:
    """Find the sets of a csv file: row i of the features belongs to the set in column set_id of its row i.

    A column ``source`` says where each came from. Other columns are not read. Parameters and errors are
    those of `read_ijb`.
    """
    found = _Listed(path)
    with opened(path, CSV) as file:
        rows = csv.DictReader(short_lines(path, file), strict=True, skipinitialspace=True)
        names = [name.strip() for name in rows.fieldnames or ()]
        rows.fieldnames = names
        if names.count(SET) != 1 or names.count(SOURCE) > 1:
            raise _refusal(path, f"must have one column {SET!r}, and no two {SOURCE!r}")
        for row in rows:
            if None in row or None in row.values():
                raise _refusal(
                    path, f"has too many or too few values in line {rows.line_num}: quote what holds a comma"
                )
            found.add(row[SET], row.get(SOURCE) or "", f"line {rows.line_num}")
    return found.sets(features, array, most)


def read_rttm(
    path: Path, features: Path, array: str | None = None, most: int | None = None
) -> Iterator[SourceSet]:
    """Find the sets of an RTTM file: what one speaker of one recording says is a set, ``recording/speaker``.

    Row i of the features describes turn i, that is the i-th line that begins with SPEAKER; others say
    nothing here. Names of speakers are those of the tool that told them apart, not of people. Parameters
    and errors are those of `read_ijb`.
    """
    found = _Listed(path)
    with opened(path, TEXT) as file:
        for number, line in enumerate(short_lines(path, file), start=1):
            values = line.split()
            if not values or values[0] != SPEAKER:
                continue
            if len(values) < TURN_VALUES:
                raise _refusal(
                    path,
                    f"has {len(values)} values in line {number}: a turn has {TURN_VALUES} or more, as in "
                    f"`SPEAKER talk 1 3.20 1.75 <NA> <NA> spk0 <NA> <NA>`",
                )
            recording, start, speaker = values[1], values[3], values[7]
            found.add(
                f"{recording}/{speaker}",
                f"{recording} at {_seconds(path, start, number)} s",
                f"line {number}",
            )
    return found.sets(features, array, most)


def read_coco(
    path: Path, features: Path, array: str | None = None, most: int | None = None
) -> Iterator[SourceSet]:
    """Find the sets of a COCO file: annotations of one track are a set, others are sets of one.

    Row i of the features describes the i-th of ``annotations``. A track goes by ``track_id``, and by the
    ``video_id`` of its image or itself if there is one: ``video/track``. An annotation without a track is
    called ``file_name#id``. Categories and individuals are not read. Parameters and errors are those of
    `read_ijb`.
    """
    found = _Listed(path)
    with opened(path, JSON) as file:
        if os.fstat(file.fileno()).st_size > MOST_BYTES:
            raise _refusal(path, f"has more than {MOST_BYTES >> 30} GiB: split it")
        told = json.load(file)
    images = _objects(path, told, "images")
    by_id = {one.get("id"): one for one in images if isinstance(one.get("id"), int | str)}
    for number, one in enumerate(_objects(path, told, "annotations")):
        where = f"annotation {number}"
        image = by_id.get(one["image_id"]) if isinstance(one.get("image_id"), int | str) else None
        if image is None:
            raise _refusal(path, f"has no image of {where}: each needs the image_id of one of images")
        name = str(image.get("file_name") or image["id"])
        video = one.get("video_id", image.get("video_id"))
        if one.get("track_id") is None:
            set_id = f"{name}#{one.get('id', number)}"
        else:
            set_id = str(one["track_id"]) if video is None else f"{video}/{one['track_id']}"
        box = one.get("bbox")
        is_box = (
            isinstance(box, list) and len(box) == 4 and all(isinstance(side, int | float) for side in box)
        )
        found.add(
            set_id,
            name + (" [{:.10g},{:.10g},{:.10g},{:.10g}]".format(*box) if is_box and box else ""),
            where,
        )
    return found.sets(features, array, most)


class _Listed:
    """What a file lists: the set of each thing and where it is from, in order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._groups: dict[str, list[int]] = {}
        self._sources: list[str] = []

    def add(self, set_id: str, source: str, where: str) -> None:
        """Take in one more."""
        if set_id not in self._groups:
            with refused_of(self._path, f"has a set in {where} that cannot be used"):
                check_id(set_id)
        self._groups.setdefault(set_id, []).append(len(self._sources))
        self._sources.append(source or f"{readable(self._path.name)}#{len(self._sources)}")

    def sets(self, features: Path, array: str | None, most: int | None) -> Iterator[SourceSet]:
        """Join it with the features."""
        if not self._sources:
            raise _refusal(self._path, "lists nothing: give one entry for each row of the features")
        return join_features(self._path, self._groups, self._sources, features, array, most)


def _seconds(path: Path, text: str, line: int) -> str:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise _refusal(
            path, f"has {text[:40]!r} in line {line}, where the start of a turn in seconds must be"
        )
    return f"{value:.10g}"


def _objects(path: Path, told: Any, name: str) -> list[Mapping[str, Any]]:
    held = told.get(name) if isinstance(told, dict) else None
    if not isinstance(held, list) or not all(isinstance(one, dict) for one in held):
        raise _refusal(path, f"has no list {name!r} of objects: give a file in the COCO format")
    return held
