"""Footer: what a Parquet file says of its size, known before any of it is unpacked.

The library cannot be asked: on a damaged footer its questions about row groups end the whole
process. So the few numbers that matter are read here, from Thrift's compact protocol.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from lookalike.intake.paths import unreadable

MAGIC: Final = b"PAR1"
# The footer of ten thousand row groups of a dozen columns has 12 MiB.
MOST_FOOTER: Final = 64 * 2**20
# A footer has structures within structures, but only so many.
DEEPEST: Final = 24
# The length of the footer and the magic number stand behind it.
TAIL: Final = 4 + len(MAGIC)

# Numbers of the fields, from the definition of the format (parquet.thrift).
ROW_GROUPS = 4
GROUP_COLUMNS, GROUP_ROWS = 1, 3
CHUNK_FACTS, FACTS_PATH, FACTS_VALUES = 3, 3, 5


class RowGroup(NamedTuple):
    """How many rows are stored together, and how many values each column has in them."""

    rows: int
    values: Mapping[str, int]


def read_footer(path: Path) -> list[RowGroup]:
    """Return what a Parquet file claims to hold.

    Raises
    ------
    NotFound, BadInput
        If the file may not be read.
    ValueError
        If it is not a whole Parquet file, in words that can stand in a sentence.
    """
    try:
        with path.open("rb") as stream:
            start = stream.read(len(MAGIC))
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - TAIL))
            tail = stream.read()
            length = int.from_bytes(tail[:4], "little")
            if start != MAGIC or tail[4:] != MAGIC or length > size - TAIL - len(MAGIC):
                raise ValueError("its end is missing")
            if length > MOST_FOOTER:
                raise ValueError(f"its footer has {length:,} bytes")
            stream.seek(size - TAIL - length)
            footer = stream.read(length)
    except OSError as reason:
        raise unreadable(path, reason) from None
    try:
        return [_row_group(group) for group in _Compact(footer).struct()[ROW_GROUPS]]
    except (LookupError, TypeError, AttributeError, UnicodeDecodeError):
        raise ValueError("its footer is damaged") from None


def _row_group(group: Any) -> RowGroup:
    facts = [column[CHUNK_FACTS] for column in group[GROUP_COLUMNS]]
    # The first step of a path is the column; a list has steps below it.
    values = {one[FACTS_PATH][0].decode("utf-8"): one[FACTS_VALUES] for one in facts}
    return RowGroup(group[GROUP_ROWS], values)


class _Compact:
    """Values of Thrift's compact protocol; what is missing at the end is a LookupError."""

    def __init__(self, given: bytes) -> None:
        self.given = given
        self.place = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of a structure by their numbers."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._whole()
            # Truth values of fields are their kind.
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise LookupError("too deep")
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._whole()
        if kind in (7, 8):
            return self._bytes(8 if kind == 7 else self._varint())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            # Every element has a byte at least, so that a false count ends at the end of the footer.
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(depth + 1)
        # Footers hold no maps.
        raise LookupError(f"kind {kind}")

    def _whole(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise LookupError("a number without an end")

    def _byte(self) -> int:
        byte = self.given[self.place]
        self.place += 1
        return byte

    def _bytes(self, count: int) -> bytes:
        if count > len(self.given) - self.place:
            raise LookupError("a text without an end")
        self.place += count
        return self.given[self.place - count : self.place]
