"""Rows: some rows of a Parquet file, turned into ids, vectors and places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.intake.paths import readable
from lookalike.intake.readers.parquet_table import SET, Table


class Rows:
    """A batch of rows.

    Parameters
    ----------
    table : Table
        Where they come from.
    start : int
        Number of the first row in the file.
    columns : dict
        Arrow arrays by name, all of one length, with the ids among them.
    """

    def __init__(self, table: Table, start: int, columns: dict[str, Any]) -> None:
        self.table = table
        self.start = start
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[SET])

    def ids(self) -> list[str]:
        """Return the set of each row, as text.

        Raises
        ------
        BadInput
            If a row has none, or it is not Unicode.
        """
        self._refuse_null(SET, "the name of a set")
        return self.table.texts(self.columns[SET])

    def faces(self, name: str, width: int) -> NDArray[np.float32]:
        """Return the vectors of a column; what is not finite is left to whoever knows the sets.

        Raises
        ------
        BadInput
            If a vector or a number is missing, or a vector has not `width` numbers.
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
