"""Reader of Parquet files: one row for each face, with the set it belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.faceset import check_id, checked_faces
from lookalike.intake.paths import readable
from lookalike.intake.readers.parquet_rows import Rows
from lookalike.intake.readers.parquet_table import SET, Table
from lookalike.intake.sampling import evenly
from lookalike.intake.sourceset import SourceSet

MAGIC: Final = b"PAR1"
# Faces that wait for the rest of their set take at most this much memory.
MOST_WAITING: Final = 2 * 2**30
# Rows of the ids, of which one batch is in memory.
ID_ROWS: Final = 65_536
# Vectors that are unpacked at a time take about this much memory.
BATCH_BYTES: Final = 16 * 2**20


@dataclass
class _Waiting:
    """A set of which some rows were seen."""

    kept: NDArray[np.intp]
    seen: int = 0
    faces: list[NDArray[np.float32]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)


def is_parquet(start: bytes) -> bool:
    """Tell from the start of a file whether it is a Parquet file."""
    return start.startswith(MAGIC)


def column_names(path: Path) -> list[str]:
    """Names of the columns that hold vectors.

    Raises
    ------
    NotFound, BadInput
        If the file cannot be read, or the library for it is missing.
    """
    with Table(path) as table:
        return table.vectors()


def read_parquet(path: Path, array: str | None = None, most: int | None = None) -> Iterator[SourceSet]:
    """Find the sets of a Parquet file with one row for each face.

    The columns are `set_id`, text or whole numbers; the faces, a list of floats of one length;
    and, if they are there, `source` (text), `frame`, `time` or `t` (in seconds) and a box `x`, `y`,
    `w`, `h`, which together say where a face came from. Without `source`, that is
    ``file.parquet#row``. No other column is read, so nobody's name is. The ids are read first,
    and checked here; then every set is handed out as soon as its last row was seen.

    Parameters
    ----------
    path : Path
        A Parquet file.
    array : str, optional
        The column of faces; the only one of lists of floats unless given.
    most : int, optional
        Keep at most so many faces of a set, evenly spread.

    Returns
    -------
    iterator of SourceSet
        In the order of their last rows. Rows of a set may be scattered, but only those of sets that
        are not complete are in memory: little if the rows are sorted by set.

    Raises
    ------
    NotFound, BadInput
        Naming the file, the column, and the row (from 0) that is wrong.
    """
    with Table(path) as table:
        column = table.choice(array)
        totals = _totals(table)
    return _sets(path, column, totals, most)


def _totals(table: Table) -> Counter[str]:
    """How many rows each set has."""
    totals: Counter[str] = Counter()
    for rows in _rows(table, [SET], ID_ROWS):
        totals.update(rows.ids())
    if not totals:
        raise table.refusal("has no rows: give one for each face")
    for id in totals:
        try:
            check_id(id)
        except BadInput as reason:
            raise table.refusal(f"has a name in {SET!r} that cannot be used: {reason}") from None
    return totals


def _sets(path: Path, column: str, totals: Counter[str], most: int | None) -> Iterator[SourceSet]:
    waiting: dict[str, _Waiting] = {}
    held = 0
    with Table(path) as table:
        # Asked again, since this is another look at the file, which may be another file by now.
        width = table.width(table.choice(column))
        count = max(1, BATCH_BYTES // (8 * width))
        for rows in _rows(table, [SET, column, *table.places()], count):
            faces, sources = rows.faces(column, width), rows.sources()
            for id, own in _by_set(rows.ids()):
                one = waiting.setdefault(id, _Waiting(evenly(totals[id], most)))
                kept = _next_kept(one, own)
                one.faces.append(faces[kept])
                one.sources += [sources[row] for row in kept]
                held += one.faces[-1].nbytes
                if one.seen == totals[id]:
                    del waiting[id]
                    held -= sum(part.nbytes for part in one.faces)
                    yield _finished(table, id, one, column)
            if held > MOST_WAITING:
                raise table.refusal(
                    f"has {len(waiting)} sets that are not complete by row {rows.start + len(rows)}, with "
                    f"more than {MOST_WAITING >> 20:,} MiB of faces: sort the rows by {SET!r}, or keep fewer "
                    f"faces of a set (--most)"
                )
    if waiting:
        raise table.refusal("changed while it was read: try again when nobody writes to it")


def _rows(table: Table, columns: list[str], count: int) -> Iterator[Rows]:
    start = 0
    for batch in table.batches(columns, count):
        yield (rows := Rows(table, start, batch))
        start += len(rows)


def _by_set(ids: list[str]) -> list[tuple[str, list[int]]]:
    """Rows of each set; the set whose last row comes first is first, however the file is cut into batches."""
    rows: dict[str, list[int]] = {}
    for row, id in enumerate(ids):
        rows.setdefault(id, []).append(row)
    return sorted(rows.items(), key=lambda one: one[1][-1])


def _next_kept(one: _Waiting, rows: list[int]) -> list[int]:
    """Those of the next rows of a set that are kept."""
    start, one.seen = one.seen, one.seen + len(rows)
    first, last = np.searchsorted(one.kept, [start, one.seen])
    return [rows[place - start] for place in one.kept[first:last]]


def _finished(table: Table, id: str, one: _Waiting, column: str) -> SourceSet:
    faces = np.concatenate(one.faces)
    try:
        checked_faces(faces, f"set {id!r} in {column!r}")
    except BadInput as reason:
        raise table.refusal(f"cannot be used: {reason}") from None
    return SourceSet(
        id=id, origin=readable(table.path), sources=tuple(one.sources), faces=faces, array=column
    )
