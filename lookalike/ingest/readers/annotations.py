"""Reader of what other tools list: rows of a csv file, boxes (COCO), turns of speakers (RTTM).

What is listed is described by a second file, a row for each, as `lists` joins them: an .npy or .npz file.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from lookalike.errors import BadInput, readable
from lookalike.faceset import check_id
from lookalike.ingest.readers.lists import CSV, JSON, TEXT, join_features, opened, short_lines
from lookalike.ingest.sourceset import SourceSet

# Who is seen is not read here, by design, whatever a file says of it (person, category, individual).
SET, SOURCE = "set_id", "source"
# A COCO file is read whole: no real one is larger.
MOST_BYTES: Final = 2**30
SPEAKER: Final = "SPEAKER"
VALUES: Final = 8


def is_rows(start: bytes) -> bool:
    """Tell from the start of a file whether it is a csv file with a column set_id."""
    line = start.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    return SET in [name.strip(' \t\r"') for name in line.split(",")]


def is_rttm(start: bytes) -> bool:
    """Tell from the start of a file whether it lists turns of speakers."""
    line = start.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0].split()
    return len(line) >= VALUES and line[0].decode("utf-8", "replace") == SPEAKER


def is_coco(start: bytes) -> bool:
    """Tell from the start of a file whether it may be in the COCO format: an object in JSON."""
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


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
            raise found.refusal(f"must have one column {SET!r}, and no two {SOURCE!r}")
        for row in rows:
            if None in row or None in row.values():
                raise found.refusal(
                    f"has too many or too few values in line {rows.line_num}: quote what holds a comma"
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
            if len(values) < VALUES:
                raise found.refusal(
                    f"has {len(values)} values in line {number}: a turn has {VALUES} or more, as in "
                    f"`SPEAKER talk 1 3.20 1.75 <NA> <NA> spk0 <NA> <NA>`"
                )
            recording, start, speaker = values[1], values[3], values[7]
            found.add(
                f"{recording}/{speaker}",
                f"{recording} at {_seconds(found, start, number)} s",
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
            raise found.refusal(f"has more than {MOST_BYTES >> 30} GiB: split it")
        told = json.load(file)
    images = _objects(found, told, "images")
    by_id = {one.get("id"): one for one in images if isinstance(one.get("id"), int | str)}
    for number, one in enumerate(_objects(found, told, "annotations")):
        where = f"annotation {number}"
        image = by_id.get(one["image_id"]) if isinstance(one.get("image_id"), int | str) else None
        if image is None:
            raise found.refusal(f"has no image of {where}: each needs the image_id of one of images")
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
            try:
                check_id(set_id)
            except BadInput as reason:
                raise self.refusal(f"has a set in {where} that cannot be used: {reason}") from None
        self._groups.setdefault(set_id, []).append(len(self._sources))
        self._sources.append(source or f"{readable(self._path.name)}#{len(self._sources)}")

    def sets(self, features: Path, array: str | None, most: int | None) -> Iterator[SourceSet]:
        """Join it with the features."""
        if not self._sources:
            raise self.refusal("lists nothing: give one entry for each row of the features")
        return join_features(self._path, self._groups, self._sources, features, array, most)

    def refusal(self, text: str) -> BadInput:
        """An error whose sentence begins with the name of the file."""
        return BadInput(f"{readable(self._path)!r} {text}")


def _seconds(found: _Listed, text: str, line: int) -> str:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise found.refusal(f"has {text[:40]!r} in line {line}, where the start of a turn in seconds must be")
    return f"{value:.10g}"


def _objects(found: _Listed, told: Any, name: str) -> list[Mapping[str, Any]]:
    held = told.get(name) if isinstance(told, dict) else None
    if not isinstance(held, list) or not all(isinstance(one, dict) for one in held):
        raise found.refusal(f"has no list {name!r} of objects: give a file in the COCO format")
    return held
