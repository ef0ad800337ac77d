"""Reader of Parquet files: one row for each face, with the set it belongs to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from logging import getLogger
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_folder, readable, unreadable
from lookalike.faceset import check_id, checked_faces, evenly
from lookalike.ingest.sourceset import MOST_NUMBERS, SourceSet, refused_of


class Rows:
    """A batch of rows of a table: Arrow arrays by name, all of one length, with the ids among them.

    `start` is the number of the first row in the file.
    """

    def __init__(self, table: Table, start: int, columns: dict[str, Any]) -> None:
        self.table = table
        self.start = start
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[SET])

    def ids(self) -> list[str]:
        """The set of each row, as text; BadInput if a row has none, or it is not Unicode."""
        self._refuse_null(SET, "the name of a set")
        return self.table.texts(self.columns[SET])

    def faces(self, name: str, width: int) -> NDArray[np.float32]:
        """The vectors of a column; what is not finite is left to whoever knows the sets.

        Raises BadInput if a vector or a number is missing, or a vector has not `width` numbers.
        """
        self._refuse_null(name, "a vector")
        column = self.columns[name]
        lengths = self._lengths(column)
        wrong = np.flatnonzero(lengths != width)
        if len(wrong):
            raise self.table.refusal(
                f"has {lengths[wrong[0]]} numbers in row {self.start + wrong[0]} of {name!r}, but {width} "
                f"in row 0: describe every face by as many"
            )
        values = column.flatten()
        if values.null_count:
            row = self.start + _first_null(values) // width
            raise self.table.refusal(
                f"has a number missing in row {row} of {name!r}: describe that face again or leave it out"
            )
        # What overflows in single precision becomes infinite, and is refused as such with its set.
        with np.errstate(over="ignore"):
            numbers = values.to_numpy(zero_copy_only=False).astype(np.float32)
        return numbers.reshape(len(self), width)

    def sources(self) -> list[str]:
        """Say where each face came from, as far as the file does; a value that is missing is not said."""
        found = [f"{readable(self.table.path.name)}#{self.start + row}" for row in range(len(self))]
        if "source" in self.columns:
            told = self.table.texts(self.columns["source"])
            found = [text or instead for text, instead in zip(told, found, strict=True)]
        seconds = "time" if "time" in self.columns else "t"
        for columns, form in (
            (("frame",), " frame {:.15g}"),
            ((seconds,), " {:.10g} s"),
            (("x", "y", "w", "h"), " [{:.10g},{:.10g},{:.10g},{:.10g}]"),
        ):
            if set(columns) <= self.columns.keys():
                values = zip(*(self.columns[column].to_pylist() for column in columns), strict=True)
                found = [
                    # What is not a number is not equal to itself.
                    text if any(one is None or one != one for one in given) else text + form.format(*given)
                    for text, given in zip(found, values, strict=True)
                ]
        return found

    def _lengths(self, column: Any) -> NDArray[np.int64]:
        if self.table.arrow.types.is_fixed_size_list(column.type):
            return np.full(len(column), column.type.list_size)
        return np.diff(column.offsets.to_numpy()).astype(np.int64)

    def _refuse_null(self, name: str, what: str) -> None:
        if self.columns[name].null_count:
            row = self.start + _first_null(self.columns[name])
            raise self.table.refusal(f"has nothing in row {row} of {name!r}, where {what} must be: fill it")


def _first_null(column: Any) -> int:
    return int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])


# A damaged file can end the library that reads it, and with it the process: `reading_apart` has it read by a
# child with limits on memory and time.

logger = getLogger(__name__)

SET: Final = "set_id"
# Where a face came from, each with what it must be made of; the first of `time` and `t` is taken.
PLACES: Final = {
    "source": "text",
    "frame": "number",
    "time": "number",
    "t": "number",
    "x": "number",
    "y": "number",
    "w": "number",
    "h": "number",
}
COLUMNS: Final = (SET, *PLACES)
# Who is seen is not read here, by design: people have names only where results are scored.
LABELS: Final = frozenset({"person", "set_person", "person_names", "subject_id", "label"})
# Nor has a collection more faces.
MOST_ROWS: Final = 10**9
# What a file says of its columns and row groups, which is read at once: no real one says so much.
MOST_BYTES_ABOUT: Final = 2**28
# Column chunks are read in pieces of this size, not at once.
PIECE: Final = 2**20


class Table:
    """An opened Parquet file; use it in a ``with`` statement.

    `columns` says what columns are called there that we call otherwise. Raises NotFound or BadInput if
    there is no such file, it is damaged, or the library that reads it is missing.
    """

    def __init__(self, path: Path, columns: Mapping[str, str] | None = None) -> None:
        self.path = path
        self._called = columns or {}
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise self.refusal(
                "is a Parquet file, for which a library is missing: pip install 'lookalike[parquet]'"
            ) from None
        self.arrow = pyarrow
        if is_folder(path):
            raise self.refusal("is a folder: give a Parquet file")
        try:
            stream = pyarrow.OSFile(os.fsencode(path))
        except OSError as reason:
            raise unreadable(path, reason) from None
        with ExitStack() as opened, self._reading():
            opened.enter_context(stream)
            self._check_footer(stream)
            self._file = opened.enter_context(
                pyarrow.parquet.ParquetFile(
                    stream, buffer_size=PIECE, pre_buffer=False, page_checksum_verification=True
                )
            )
            self._schema = self._file.schema_arrow
            self._check_names()
            self._open = opened.pop_all()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def vectors(self) -> list[str]:
        """Names of the columns that could be the faces."""
        names = self._schema.names
        return [name for name in names if name not in LABELS and self._is_vectors(self._type(name))]

    def places(self) -> list[str]:
        """Names of the columns that say where a face came from; one of another type is no such column."""
        types, found = self.arrow.types, []
        for name, kind in PLACES.items():
            if self._called.get(name, name) not in self._schema.names:
                continue
            held = self._type(self._called.get(name, name))
            fits = (
                self._is_text(held) if kind == "text" else types.is_integer(held) or types.is_floating(held)
            )
            if fits:
                found.append(name)
            else:
                logger.info("column %r was passed over, it holds %s", name, held)
        return found

    def choice(self, name: str | None) -> str:
        """The column of faces: the one that is asked for, or the only one.

        Raises BadInput, saying which there are, or what is wrong with its type or its size.
        """
        found = self.vectors()
        if name is None and len(found) == 1:
            name = found[0]
        if name not in found:
            asked = f"no faces in {name!r}" if name else "several columns" if found else "no column"
            there = f"choose the array: {', '.join(found)}" if found else f"it has {self._words()}"
            raise self.refusal(f"has {asked}, lists of floats of one length: {there}")
        rows = self._file.metadata.num_rows
        if rows > MOST_ROWS:
            raise self.refusal(f"claims {rows:,} rows, more than {MOST_ROWS:,}: split it")
        return name

    def width(self, name: str) -> int:
        """How many numbers describe a face, as the first row has it; BadInput if none, or more than any."""
        held = self._type(name)
        if self.arrow.types.is_fixed_size_list(held):
            width = held.list_size
        else:
            first: Any = next(self.batches([name], 1), {name: []})[name]
            width = len(first[0]) if len(first) and first[0].is_valid else 0
        if not 0 < width <= MOST_NUMBERS:
            raise self.refusal(
                f"has {width} numbers in row 0 of {name!r}: a face is described by 2 to {MOST_NUMBERS:,}"
            )
        return int(width)

    def batches(self, columns: list[str], rows: int) -> Iterator[dict[str, Any]]:
        """Yield the columns as Arrow arrays, at most so many rows at a time."""
        with self._reading():
            there = {name: self._called.get(name, name) for name in columns}
            found = self._file.iter_batches(rows, columns=[*dict.fromkeys(there.values())], use_threads=False)
        while True:
            with self._reading():
                batch = next(found, None)
            if batch is None:
                return
            yield {name: batch.column(called) for name, called in there.items()}

    def texts(self, column: Any) -> list[Any]:
        """Return the texts of an Arrow array, None where it has none."""
        with self._reading():
            if self.arrow.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            texts: list[Any] = column.cast(self.arrow.large_string()).to_pylist()
        return texts

    def refusal(self, text: str) -> BadInput:
        """Return an error whose sentence begins with the name of this file."""
        return BadInput(f"{readable(self.path)!r} {text}")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Say in a sentence what the library found wrong."""
        try:
            yield
        except MemoryError:
            raise self.refusal("does not fit in memory: write it in smaller row groups") from None
        except (self.arrow.ArrowException, OSError, ValueError, OverflowError) as reason:
            text = " ".join(str(reason).split())[:200]
            raise self.refusal(f"is damaged ({text}): copy or write it again") from None

    def _check_footer(self, stream: Any) -> None:
        """Refuse a file that claims to say very much of itself: the library would make room for it."""
        if (size := stream.size()) < 8:
            return
        stream.seek(size - 8)
        claimed = int.from_bytes(stream.read(4), "little")
        stream.seek(0)
        if claimed > MOST_BYTES_ABOUT:
            raise self.refusal(
                f"is damaged (its footer claims {claimed} bytes, at most {MOST_BYTES_ABOUT} are read): "
                "copy or write it again"
            )

    def _check_names(self) -> None:
        names, called = self._schema.names, self._called.get(SET, SET)
        for column in {SET: SET, **self._called}.values():
            if column not in names:
                choose = "" if called != SET else " (`--columns set_id=NAME` chooses another)"
                raise self.refusal(f"has no column {column!r}: it has {self._words()}{choose}")
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise self.refusal(f"has two columns called {twice[0]!r}: rename one")
        held = self._type(called)
        if not (self._is_text(held) or self.arrow.types.is_integer(held)):
            raise self.refusal(f"has {held} in {called!r}: names of sets must be text or whole numbers")

    def _type(self, name: str) -> Any:
        return self._schema.field(name).type

    def _is_text(self, held: Any) -> bool:
        types = self.arrow.types
        if types.is_dictionary(held):
            held = held.value_type
        return bool(types.is_string(held) or types.is_large_string(held) or types.is_string_view(held))

    def _is_vectors(self, held: Any) -> bool:
        types = self.arrow.types
        lists = types.is_list(held) or types.is_large_list(held) or types.is_fixed_size_list(held)
        return bool(lists and types.is_floating(held.value_type))

    def _words(self) -> str:
        return ", ".join(self._schema.names)[:200] or "no columns at all"


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
    """Names of the columns that hold vectors."""
    with Table(path) as table:
        return table.vectors()


def read_parquet(
    path: Path, array: str | None = None, most: int | None = None, columns: Mapping[str, str] | None = None
) -> Iterator[SourceSet]:
    """Find the sets of a Parquet file with one row for each face; parameters as of `read_source`.

    The columns are `set_id`, text or whole numbers; the faces, the only list of floats of one length
    unless an array is chosen; and, if they are there, `source` (text), `frame`, `time` or `t` (in
    seconds) and a box `x`, `y`, `w`, `h`, which together say where a face came from. Without `source`,
    that is ``file.parquet#row``. No other column is read, so nobody's name is. The ids are read first,
    and checked here; then every set is handed out as soon as its last row was seen. Rows of a set may be
    scattered, but only those of sets that are not complete are in memory: little if the rows are sorted
    by set.

    Raises NotFound or BadInput, naming the file, the column, and the row (from 0) that is wrong.
    """
    with Table(path, columns) as table:
        column = table.choice(array)
        totals = _totals(table)
    return _sets(path, column, totals, most, columns)


def _totals(table: Table) -> Counter[str]:
    """How many rows each set has."""
    totals: Counter[str] = Counter()
    for rows in _rows(table, [SET], ID_ROWS):
        totals.update(rows.ids())
    if not totals:
        raise table.refusal("has no rows: give one for each face")
    for id in totals:
        with refused_of(table.path, f"has a name in {SET!r} that cannot be used"):
            check_id(id)
    return totals


def _sets(
    path: Path, column: str, totals: Counter[str], most: int | None, columns: Mapping[str, str] | None
) -> Iterator[SourceSet]:
    waiting: dict[str, _Waiting] = {}
    held = 0
    with Table(path, columns) as table:
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
    with refused_of(table.path, "cannot be used"):
        checked_faces(faces, f"set {id!r} in {column!r}")
    return SourceSet(
        id=id, origin=readable(table.path), sources=tuple(one.sources), faces=faces, array=column
    )
