"""Reader of IJB-B and IJB-C: a template is a set, with the features of its faces in a second file."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from lookalike.errors import BadInput
from lookalike.faceset import check_id
from lookalike.intake.paths import readable, unreadable
from lookalike.intake.readers.features import join_features
from lookalike.intake.readers.lines import short_lines
from lookalike.intake.sourceset import SourceSet

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
    line = start.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    return "TEMPLATE_ID" in _columns(line.split(",")) or _META.fullmatch(line) is not None


def read_ijb(
    path: Path, features: Path, array: str | None = None, most: int | None = None
) -> Iterator[SourceSet]:
    """Find the sets of a list of templates.

    The list is a csv file with the columns TEMPLATE_ID and FILENAME among others, in any case and
    order, or InsightFace's ``*_face_tid_mid.txt``. A template is a set, called by its number;
    its faces may be scattered, their order is kept. The people are not read.

    Parameters
    ----------
    path : Path
        The list.
    features : Path
        An .npy or .npz file; row i describes the i-th face of the list, see `join_features`.
    array : str, optional
        Which array of an .npz file.
    most : int, optional
        Keep at most so many faces of a template, evenly spread.

    Returns
    -------
    iterator of SourceSet
        In the order in which the templates first appear.

    Raises
    ------
    NotFound, BadInput
        Naming the file and line, or what is wrong with the features.
    """
    groups: dict[str, list[int]] = {}
    names: list[str] = []
    for row in _rows(path):
        if row.template not in groups:
            try:
                check_id(row.template)
            except BadInput as reason:
                raise _refusal(path, f"has a template in line {row.line} without a name: {reason}") from None
        groups.setdefault(row.template, []).append(len(names))
        names.append(row.name)
    if not names:
        raise _refusal(path, "lists no faces: give one line for each face")
    return join_features(path, groups, names, features, array, most)


def _rows(path: Path) -> Iterator[_Row]:
    try:
        # The mark that some programs write in front (a BOM) is left out, whatever the ends of lines are.
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = next(short_lines(path, file), "")
            file.seek(0)
            lines = short_lines(path, file)
            yield from _meta(path, lines) if _META.fullmatch(first) else _table(path, lines)
    except (UnicodeDecodeError, csv.Error) as reason:
        raise _refusal(path, f"is not a csv file in UTF-8 ({reason}): save it as one") from None
    except OSError as reason:
        raise unreadable(path, reason) from None


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


def _refusal(path: Path, text: str) -> BadInput:
    return BadInput(f"{readable(path)!r} {text}")
