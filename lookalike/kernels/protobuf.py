"""The wire format of Protocol Buffers, as far as ONNX files need it: messages as lists of fields.

A message that is read and written again has the same fields in the same order, so what is not understood
stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

Pieces = list[bytes | memoryview]

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED = {FIXED64: 8, FIXED32: 4}


class Field(NamedTuple):
    """One field of a message: its number, how it is written, and what it holds.

    `value` is a number for `VARINT` and bytes for everything else; a message in a message is bytes too. What
    is to be written may be in pieces.
    """

    number: int
    kind: int
    value: int | bytes | memoryview | Pieces


def read(data: bytes | memoryview) -> Iterator[Field]:
    """Yield the fields of a message; bytes are views of what is given.

    Raises
    ------
    ValueError
        If this is no message.
    """
    view, place = memoryview(data), 0
    while place < len(view):
        tag, place = _varint(view, place)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, place = _varint(view, place)
            yield Field(number, kind, value)
            continue
        if kind == BYTES:
            length, place = _varint(view, place)
        elif kind in _FIXED:
            length = _FIXED[kind]
        else:
            raise ValueError(f"there is no kind {kind} of fields")
        if place + length > len(view):
            raise ValueError("the message ends in the middle of a field")
        yield Field(number, kind, view[place : place + length])
        place += length


def write(fields: Iterable[Field]) -> bytes:
    """Write a message."""
    return b"".join(pieces_of(fields))


def pieces_of(fields: Iterable[Field]) -> Pieces:
    """Write a message in pieces, which are not copied before all of them are put together."""
    pieces: Pieces = []
    for number, kind, value in fields:
        pieces.append(_as_varint(number << 3 | kind))
        if isinstance(value, int):
            pieces.append(_as_varint(value))
            continue
        own = value if isinstance(value, list) else [value]
        if kind == BYTES:
            pieces.append(_as_varint(sum(map(len, own))))
        pieces += own
    return pieces


def whole(number: int, value: int) -> Field:
    """Make a field that holds a whole number."""
    return Field(number, VARINT, value)


def content(number: int, value: bytes | memoryview | str | Pieces) -> Field:
    """Make a field that holds bytes, a text or a message."""
    return Field(number, BYTES, value.encode() if isinstance(value, str) else value)


def varints(data: bytes | memoryview) -> list[int]:
    """Read whole numbers that are packed into one field."""
    view, place, found = memoryview(data), 0, []
    while place < len(view):
        value, place = _varint(view, place)
        found.append(value)
    return found


def _varint(view: memoryview, place: int) -> tuple[int, int]:
    """Read a number in pieces of seven bits, the lowest first; return it and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(view):
            raise ValueError("the message ends in the middle of a number")
        byte = view[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 2**64 - 1, place
    raise ValueError("a number of a message has more than 64 bits")


def _as_varint(value: int) -> bytes:
    written = bytearray()
    value &= 2**64 - 1
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
