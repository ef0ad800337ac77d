"""Table: the columns of a Parquet file, read batch by batch.

A damaged file can end the library that reads it, and with it the process: `reading_apart` has it read by a
child with limits on memory and time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from logging import getLogger
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from lookalike.errors import BadInput
from lookalike.intake.paths import is_folder, readable, unreadable

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
# Who is seen is not read here, by design: people have names only where results are scored.
LABELS: Final = frozenset({"person", "set_person", "person_names", "subject_id", "label"})
# No face is described by more; a few bytes of a Parquet file can claim any number of numbers.
MOST_NUMBERS: Final = 65_536
# Nor has a collection more faces.
MOST_ROWS: Final = 10**9
# Column chunks are read in pieces of this size, not at once.
PIECE: Final = 2**20


class Table:
    """An opened Parquet file; use it in a ``with`` statement.

    Parameters
    ----------
    path : Path
        A file that starts like a Parquet file.

    Raises
    ------
    NotFound, BadInput
        If there is no such file, it is damaged, or the library that reads it is missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def vectors(self) -> list[str]:
        """Names of the columns that could be the faces."""
        names = self._schema.names
        return [name for name in names if name not in LABELS and self._is_vectors(self._type(name))]

    def places(self) -> list[str]:
        """Names of the columns that say where a face came from; one of another type is no such column."""
        types, found = self.arrow.types, []
        for name, kind in PLACES.items():
            if name not in self._schema.names:
                continue
            held = self._type(name)
            fits = (
                self._is_text(held) if kind == "text" else types.is_integer(held) or types.is_floating(held)
            )
            if fits:
                found.append(name)
            else:
                logger.info("column %r was passed over, it holds %s", name, held)
        return found

    def choice(self, name: str | None) -> str:
        """Return the column of faces: the one that is asked for, or the only one.

        Raises
        ------
        BadInput
            Saying which there are, or what is wrong with its type or its size.
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
        """Return how many numbers describe a face, as the first row has it.

        Raises
        ------
        BadInput
            If it has none, or more than any face has.
        """
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
            found = self._file.iter_batches(rows, columns=columns, use_threads=False)
        while True:
            with self._reading():
                batch = next(found, None)
            if batch is None:
                return
            yield {name: batch.column(name) for name in columns}

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

    def _check_names(self) -> None:
        names = self._schema.names
        if SET not in names:
            raise self.refusal(f"has no column {SET!r}: it has {self._words()}")
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise self.refusal(f"has two columns called {twice[0]!r}: rename one")
        held = self._type(SET)
        if not (self._is_text(held) or self.arrow.types.is_integer(held)):
            raise self.refusal(f"has {held} in {SET!r}: names of sets must be text or whole numbers")

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
